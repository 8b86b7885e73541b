// Errors that the emulation finds in the kernels of this file.

#include "kernels/cuda/copy.h"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/queue.h"
#include "tests/support/prelude.h"

using namespace dynet;
using namespace dynet::cuda;

namespace {

constexpr unsigned kLanes = 64, kBlocks = 3;

/// Error text of a kernel run on some zeros; empty if there is no error.
std::string refused(void (*kernel)(float*)) {
  Queue q(make_driver(0));
  try {
    q.begin_operation();
    float* const p = q.temporary(kLanes * kBlocks * 2);
    fill_numbers(q, p, kLanes * kBlocks * 2, 0, false);
    q.launch(Grid{kBlocks, kLanes}, kernel, p);
    q.flush();
    q.wait();
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return "";
}

bool is_race(const std::string& what) { return what.find("a race between") == 0; }

__global__ void write_own(float* p) {
  begin_kernel();
  p[thread_number()] += 1;
}
__global__ void add_to_one_place(float* p) {
  begin_kernel();
  p[threadIdx.x] += 1;
}
__global__ void read_another_block(float* p) {
  begin_kernel();
  if (blockIdx.x == 0)
    p[threadIdx.x] = 1;
  else
    p[thread_number()] = p[threadIdx.x];
}
template <bool kMeets>
__global__ void read_neighbour(float* p) {
  begin_kernel();
  float* const own = p + blockIdx.x * kLanes;
  own[threadIdx.x] = 1;
  if (kMeets) __syncthreads();
  p[kBlocks * kLanes + thread_number()] = own[(threadIdx.x + 1) % kLanes];
}
template <bool kMeets>
__global__ void write_after_neighbour(float* p) {
  begin_kernel();
  float* const own = p + blockIdx.x * kLanes;
  const float v = own[(threadIdx.x + 1) % kLanes];
  if (kMeets) __syncthreads();
  own[threadIdx.x] = v + 1;
}
template <bool kMeets>
__global__ void share(float* p) {
  begin_kernel();
  DYNET_SHARED(float, part, kLanes);
  for (int round = 0; round < 2; ++round) {
    part[threadIdx.x] = static_cast<float>(round);
    __syncthreads();
    p[thread_number()] += part[kLanes - 1 - threadIdx.x];
    if (kMeets) __syncthreads();
  }
}
__global__ void read_all(float* p) {
  begin_kernel();
  float sum = 0;
  for (unsigned i = 0; i < kLanes; ++i) sum += p[i];
  p[kLanes * kBlocks + thread_number()] = sum;
}
__global__ void overrun(float* p) {
  begin_kernel();
  DYNET_SHARED(float, part, kLanes);
  part[threadIdx.x * 2] = 1;
  p[thread_number()] = part[threadIdx.x * 2];
}
__global__ void hurry(float* p) {
  if (threadIdx.x == 1) p[thread_number()] = 1;
  begin_kernel();
}
__global__ void meet_apart(float* p) {
  begin_kernel();
  if (threadIdx.x < 5)
    __syncthreads();
  else
    __syncthreads();
  p[thread_number()] = 1;
}
__global__ void misalign(float* p) {
  begin_kernel();
  if (thread_number() == 0) *reinterpret_cast<double*>(p + 1) = 1;
}

}  // namespace

TEST_CASE("the emulation finds races in the memory of a device", "[cuda]") {
  CHECK(refused(write_own) == "");
  CHECK(refused(read_all) == "");
  CHECK(is_race(refused(add_to_one_place)));
  CHECK(is_race(refused(read_another_block)));
  CHECK(refused(read_neighbour<true>) == "");
  CHECK(is_race(refused(read_neighbour<false>)));
  CHECK(refused(write_after_neighbour<true>) == "");
  CHECK(is_race(refused(write_after_neighbour<false>)));
}

TEST_CASE("the emulation finds races in what a block shares", "[cuda]") {
  CHECK(refused(share<true>) == "");
  CHECK(is_race(refused(share<false>)));
  CHECK(refused(overrun).find("shared memory") != std::string::npos);
}

TEST_CASE("the emulation wants kernels to wait before they touch memory", "[cuda]") {
  CHECK(refused(hurry).find("before it has waited") != std::string::npos);
}

TEST_CASE("the emulation wants the threads of a block to meet at one barrier", "[cuda]") {
  CHECK(refused(meet_apart).find("two barriers") != std::string::npos);
}

TEST_CASE("the emulation wants doubles where doubles may lie", "[cuda]") {
  CHECK(refused(misalign).find("not aligned") != std::string::npos);
}
