#pragma once

#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

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
};

/// As little memory as tests that run out of it have: in the emulation, kernels that are loaded
/// late and cuBLAS take some themselves.
constexpr std::size_t kLittleMemory = std::size_t{1} << 30;

/// Limits the memory of the first device, on a GPU for this process; returns the limit before.
#ifdef DYNET_TEST_GPU
inline std::size_t set_memory_limit(std::size_t bytes) {
  release_graph_memory();  // what earlier graphs have left there
  return cuda::pool_of(0).set_limit(bytes);
}
#else
inline std::size_t set_memory_limit(std::size_t bytes) {
  return std::exchange(emulation::limit(), bytes);
}
#endif

/// While one lives, the device has no more memory than this.
class SmallDevice {
 public:
  explicit SmallDevice(std::size_t bytes) : before_(set_memory_limit(bytes)) {}
  ~SmallDevice() { set_memory_limit(before_); }

 private:
  std::size_t before_;
};

}  // namespace dynet::test
