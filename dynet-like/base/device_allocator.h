#pragma once

#include <cstddef>

namespace dynet {

/// Memory that is not the CPU's: a device's. Safe to call from several threads.
class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  /// The number of the device.
  virtual int number() const = 0;
  /// Uninitialized, aligned to 256 bytes. Throws OutOfMemoryError.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Work already started on the device may still use the memory: work that is started there later
  /// for the next owner runs after it.
  virtual void free(void* p) noexcept = 0;
  /// Returns cached memory, freed earlier, to the device. Waits for all work.
  virtual void trim() noexcept {}
  /// `read` and `write` wait for all work on the device.
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  /// Copies from the memory of any device to this. It is done after all work that was started on
  /// both before, and before all that is started on either later; the call is asynchronous.
  virtual void receive(void* to, DeviceAllocator& source, const void* from, std::size_t bytes) = 0;
};

}  // namespace dynet
