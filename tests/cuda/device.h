#pragma once

#include <cstddef>
#include <string>

#include "dynet-like/graph/computation_graph.h"
#include "tests/support/all_values.h"

#ifdef DYNET_TEST_GPU
#include "kernels/cuda/memory_pool.h"
#else
#include "tests/cuda/emulation/emulation.h"
#endif

namespace dynet::test {

inline Device* gpu(int number = 0) {
  return get_device_manager()->get_global_device("GPU:" + std::to_string(number));
}

/// A graph on a device; null: on the CPU.
struct DeviceGraph : ComputationGraph {
  explicit DeviceGraph(Device* device = gpu(), bool batched = true) : ComputationGraph(batched) {
    if (device) set_device(device);
  }
};

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
  explicit HurriedDevice(int number) { emulation::hurried = number; }
  ~HurriedDevice() { emulation::hurried = -1; }
#endif
  HurriedDevice(const HurriedDevice&) = delete;
  HurriedDevice& operator=(const HurriedDevice&) = delete;
};

/// As little memory as tests that run out of it have: in the emulation, kernels that are loaded
/// late and cuBLAS take some themselves.
constexpr std::size_t kLittleMemory = std::size_t{1} << 30;

/// While one lives, the device has no more memory than this; on a GPU, for this process.
#ifdef DYNET_TEST_GPU
class SmallDevice {
 public:
  explicit SmallDevice(std::size_t bytes) {
    release_graph_memory();  // what earlier graphs have left there
    before_ = cuda::pool_of(0).set_limit(bytes);
  }
  ~SmallDevice() { cuda::pool_of(0).set_limit(before_); }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;

 private:
  std::size_t before_;
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
