#pragma once

#include <cstddef>

namespace dynet {

/// Memory allocator of a device other than the CPU. Thread-safe.
class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  /// The number of the device.
  virtual int number() const = 0;
  /// Allocates uninitialized memory, aligned to 256 bytes. Throws OutOfMemoryError.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Frees memory in stream order: work already started on the device may still use it, and the
  /// next owner's work runs afterwards.
  virtual void free(void* p) noexcept = 0;
  /// Returns cached free memory to the device. Waits for all work on the device.
  virtual void trim() noexcept {}
  /// Blocking copies to and from the host; `read` and `write` wait for all work on the device.
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  /// Copies from the memory of any device. Asynchronous: runs after all work started earlier on
  /// either device, and before all work started afterwards.
  virtual void receive(void* to, DeviceAllocator& source, const void* from, std::size_t bytes) = 0;
};

}  // namespace dynet
