#pragma once

#include <cstddef>

#include "tests/support/all_values.h"

#ifdef DYNET_TEST_GPU
#include <memory>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/machine.h"
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

/// While one lives, the device has no more memory than this.
#ifdef DYNET_TEST_GPU
class SmallDevice {
 public:
  explicit SmallDevice(std::size_t bytes) : memory_(cuda::kDevices.make_machine(0)->memory()) {
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
  }
  ~SmallDevice() {
    for (void* p : taken_) memory_->free(p);
  }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;

 private:
  std::shared_ptr<MemorySource> memory_;
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
