#pragma once

#include <memory>

// Functions that only a library with CUDA defines. With CUDA, a name without a definition is an
// error of the linker; without CUDA, its address is null.
#ifdef DYNET_CUDA
#define DYNET_CUDA_PART extern
#else
#define DYNET_CUDA_PART [[gnu::weak]] extern
#endif

namespace dynet {

class DeviceBackend;
class DeviceAllocator;
class Updater;

namespace cuda {

/// CUDA's part of the library, or what stands in for it. Null in a library without.
struct Devices {
  int (*count)();                                              ///< of devices that can be used
  std::unique_ptr<DeviceBackend> (*make_backend)(int number);  ///< throws DeviceError
  /// For the device with this memory. Throws DeviceError.
  std::unique_ptr<Updater> (*make_updater)(const std::shared_ptr<DeviceAllocator>& memory);
  /// Gives back memory that is unused, of all devices.
  void (*trim_memory)();
};
DYNET_CUDA_PART const Devices kDevices;

}  // namespace cuda
}  // namespace dynet
