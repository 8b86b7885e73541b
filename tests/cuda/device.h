#pragma once

#include <cstddef>
#include <vector>

#include "dynet-like/param/parameters.h"

#ifdef DYNET_TEST_GPU
#include <memory>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/machine.h"
#else
#include "tests/cuda/emulation/emulation.h"
#endif

namespace dynet::test {

/// The values of all parameters and tables of a collection.
inline std::vector<float> all_values(const ParameterCollection& pc) {
  std::vector<float> all;
  const auto add = [&](const Tensor& t) { all.insert(all.end(), t.v, t.v + t.d.size()); };
  for (const Parameter& p : pc.parameters_list()) add(p.values());
  for (const LookupParameter& p : pc.lookup_parameters_list())
    for (const Tensor& row : p.values()) add(row);
  return all;
}

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
