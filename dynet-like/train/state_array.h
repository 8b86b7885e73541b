#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "dynet-like/base/device_allocator.h"

namespace dynet {

/// Aligned floats that a trainer keeps for a parameter, zero at the start; on the host, and on a
/// device once they have been asked for there.
class StateArray {
 public:
  StateArray() = default;
  /// Throws OutOfMemoryError.
  explicit StateArray(std::size_t n);
  StateArray(StateArray&& other) noexcept { swap(other); }
  StateArray& operator=(StateArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~StateArray();

  /// On the host, to be changed there. Waits for the device if that has the newest.
  float* data() {
    if (!device_is_old_) {  // several threads may ask, once this is done
      copy_to_host();
      device_is_old_ = true;
    }
    return data_;
  }
  /// On the host. Waits likewise.
  const float* data() const {
    copy_to_host();
    return data_;
  }
  /// In the memory of a device, to be changed there; the same address as long as it is asked for
  /// with the same memory. Throws OutOfMemoryError.
  float* on(const std::shared_ptr<DeviceAllocator>& memory);
  std::size_t size() const { return size_; }

 private:
  void copy_to_host() const;
  void swap(StateArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(memory_, other.memory_);
    std::swap(device_data_, other.device_data_);
    std::swap(host_is_old_, other.host_is_old_);
    std::swap(device_is_old_, other.device_is_old_);
  }

  float* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<DeviceAllocator> memory_;
  float* device_data_ = nullptr;  // null: on the host only
  mutable bool host_is_old_ = false;
  bool device_is_old_ = true;  // or there is none
};

}  // namespace dynet
