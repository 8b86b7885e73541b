#include "kernels/cuda/copy.h"
#include "kernels/cuda/device.cuh"

namespace dynet::cuda {
namespace {

__global__ void copy_kernel(Targets t, Many<const float> from, std::size_t size) {
  for (std::size_t k = thread_number(); k < t.count * size; k += thread_count()) {
    const std::size_t j = k / size, e = k % size;
    float sum = 0;
    for (std::uint32_t m = t.begin(j); m < t.end(j); ++m) sum += from[t.node(m)][e];
    t.put(j, e, sum);
  }
}

__global__ void fill_kernel(float* to, std::size_t n, float value, bool add) {
  for (std::size_t k = thread_number(); k < n; k += thread_count())
    to[k] = add ? to[k] + value : value;
}

}  // namespace

void copy_tensors(Queue& q, std::size_t n, std::size_t size, const float* const* from,
                  float* const* to, const Write* writes) {
  const Targets t = q.targets(to, writes, n, size);
  q.launch_for(t.count * size, copy_kernel, t, q.many(from, n, size), size);
}

void fill_numbers(Queue& q, float* to, std::size_t n, float value, bool add) {
  q.launch_for(n, fill_kernel, to, n, value, add);
}

}  // namespace dynet::cuda
