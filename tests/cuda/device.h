#pragma once

#include <cstddef>

#include "tests/support/all_values.h"

#ifdef DYNET_TEST_GPU
#include <memory>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/device_backend.h"
#else
#include "tests/cuda/emulation/emulation.h"
#endif

namespace dynet::test {

/// Begins another of the orders in which streams that do not wait for each other may be done.
#ifdef DYNET_TEST_GPU
inline void set_order(unsigned) {}
#else
using emulation::set_order;
#endif

/// While one lives, the work of a device is done as soon as it may, that of others late.
struct HurriedDevice {
#ifdef DYNET_TEST_GPU
  explicit HurriedDevice(int) {}
#else
  explicit HurriedDevice(int number) { emulation::hurried() = number; }
  ~HurriedDevice() { emulation::hurried() = -1; }
#endif
  HurriedDevice(const HurriedDevice&) = delete;
  HurriedDevice& operator=(const HurriedDevice&) = delete;
};

/// As little memory as CUDA is left with in tests that run out of it: kernels that are loaded late
/// and cuBLAS take some themselves.
constexpr std::size_t kLittleMemory = std::size_t{1} << 30;

/// While one lives, the device has no more memory than this. What earlier graphs have left there is
/// given back first.
#ifdef DYNET_TEST_GPU
class SmallDevice {
 public:
  explicit SmallDevice(std::size_t bytes) : memory_(cuda::kDevices.make_backend(0)->memory()) {
    release_graph_memory();
    void* const left = memory_->allocate(bytes);
    for (std::size_t size = std::size_t{1} << 38; size >= bytes / 8;) {
      taken_.reserve(taken_.size() + 1);
      try {
        taken_.push_back(memory_->allocate(size));
      } catch (const OutOfMemoryError&) {
        size /= 2;
      }
    }
    memory_->free(left);
    memory_->trim();
  }
  ~SmallDevice() {
    for (void* p : taken_) memory_->free(p);
    memory_->trim();
  }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;

 private:
  std::shared_ptr<DeviceAllocator> memory_;
  std::vector<void*> taken_;
};
#else
class SmallDevice {
 public:
  explicit SmallDevice(std::size_t bytes, int number = 0)
      : number_(number), before_(emulation::limit(number)) {
    emulation::limit(number) = bytes;
  }
  ~SmallDevice() { emulation::limit(number_) = before_; }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;

 private:
  int number_;
  std::size_t before_;
};
#endif

}  // namespace dynet::test
