#pragma once

#include <cstddef>

namespace dynet {

/// Memory that is not the processor's: a device's. Safe to call from several threads.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// Uninitialized, aligned to 256 bytes. Throws OutOfMemoryError.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Waits for whatever may still use it.
  virtual void free(void* p) noexcept = 0;
  /// Both wait for all work on the device.
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
};

}  // namespace dynet
