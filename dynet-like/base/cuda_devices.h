#pragma once

#include <memory>

// Marks functions that only a library with CUDA defines: with CUDA a missing definition is a link
// error, without CUDA the address is null.
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

/// Entry points of the CUDA part of the library, real or emulated; null in a library without CUDA.
struct Devices {
  int (*count)();                                              ///< number of usable devices
  std::unique_ptr<DeviceBackend> (*make_backend)(int number);  ///< throws DeviceError
  /// Updater for the device that owns this memory. Throws DeviceError.
  std::unique_ptr<Updater> (*make_updater)(const std::shared_ptr<DeviceAllocator>& memory);
  /// Frees unused memory on all devices.
  void (*trim_memory)();
};
DYNET_CUDA_PART const Devices kDevices;

}  // namespace cuda
}  // namespace dynet
