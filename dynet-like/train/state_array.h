#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/base/device_allocator.h"

namespace dynet {

struct ParameterStorageBase;

/// Aligned floats of a trainer's state for one parameter, initially zero; on the host, and on a
/// device after the first `on`.
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

  /// Host copy for writing. Waits for the device if it has the newest values.
  float* data() {
    if (!device_is_old_) {  // afterwards several threads may call
      copy_to_host();
      device_is_old_ = true;
    }
    return data_;
  }
  /// Host copy for reading. Waits for the device if it has the newest values.
  const float* data() const {
    copy_to_host();
    return data_;
  }
  /// Device copy for writing, at a constant address for the same memory. Throws OutOfMemoryError.
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
  float* device_data_ = nullptr;  // null: host only
  mutable bool host_is_old_ = false;
  bool device_is_old_ = true;  // true also without a device copy
};

/// State arrays of all parameters: those of the rule, then an average, each of the parameter's
/// size. A parameter has none before its first step.
class TrainerState {
 public:
  using Arrays = std::vector<StateArray>;

  /// Arrays of a parameter, or null.
  Arrays* find(const ParameterStorageBase& p);
  const Arrays* find(const ParameterStorageBase& p) const {
    return const_cast<TrainerState*>(this)->find(p);
  }
  /// Arrays of a parameter; creates an empty list.
  Arrays& operator[](const ParameterStorageBase& p);
  /// Truncates the lists to this number of arrays.
  void keep(std::size_t arrays) {
    for (auto* all : {&dense_, &tables_})
      for (Arrays& a : *all)
        if (!a.empty()) a.resize(arrays);
  }
  void swap(TrainerState& other) noexcept {
    dense_.swap(other.dense_);
    tables_.swap(other.tables_);
  }

 private:
  std::vector<Arrays> dense_, tables_;  // by index in the bank
};

}  // namespace dynet
