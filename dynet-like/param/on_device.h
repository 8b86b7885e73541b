#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dynet-like/base/device_allocator.h"
#include "dynet-like/param/storage.h"

namespace dynet {

/// Copies of a parameter's values on devices. Either the host or some devices have the newest
/// values; the other copies are updated on access, from a device if one is up to date.
class ValuesOnDevices {
 public:
  explicit ValuesOnDevices(ParameterStorageBase& parameter) : parameter_(parameter) {}
  ~ValuesOnDevices();
  ValuesOnDevices(const ValuesOnDevices&) = delete;
  ValuesOnDevices& operator=(const ValuesOnDevices&) = delete;

  /// Copies the newest values to the host, waiting for the device that has them. The bank's
  /// `on_device` mutex must be held.
  void copy_to_host();
  /// Marks the host's values as the newest. The bank's `on_device` mutex must be held.
  void changed_on_host();

 private:
  friend float* values_on(ParameterStorageBase&, const std::shared_ptr<DeviceAllocator>&);
  friend void changed_on(ParameterStorageBase&, const DeviceAllocator&);
  struct Copy {
    std::shared_ptr<DeviceAllocator> memory;
    float* values;
    bool newest;
  };
  Copy* find_newest();

  ParameterStorageBase& parameter_;
  std::vector<Copy> copies_;
};

/// The newest values of a parameter in the memory of a device, for work that is started there
/// afterwards. The address is constant. Thread-safe unless the values are changed concurrently.
/// Throws OutOfMemoryError.
float* values_on(ParameterStorageBase& parameter, const std::shared_ptr<DeviceAllocator>& memory);

/// Must be called after starting work that changes the values returned by `values_on`.
void changed_on(ParameterStorageBase& parameter, const DeviceAllocator& changed);

}  // namespace dynet
