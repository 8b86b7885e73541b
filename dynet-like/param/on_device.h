#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dynet-like/base/device_allocator.h"
#include "dynet-like/param/storage.h"

namespace dynet {

/// The copies that devices have of a parameter's values. The newest values are the host's or those
/// of devices; the others get them when they are asked for, from a device if one has them.
class ValuesOnDevices {
 public:
  explicit ValuesOnDevices(ParameterStorageBase& parameter) : parameter_(parameter) {}
  ~ValuesOnDevices();
  ValuesOnDevices(const ValuesOnDevices&) = delete;
  ValuesOnDevices& operator=(const ValuesOnDevices&) = delete;

  /// Brings the newest values to the host, waiting for the device if that has them. The bank's
  /// mutex must be held.
  void copy_to_host();
  /// Those of the host are the newest. The bank's mutex must be held.
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

/// The values of a parameter in the memory of a device, the newest that there are, for work that
/// is started there from now on. The address stays the same. Safe to call from several threads at
/// once, as long as nobody changes the values. Throws OutOfMemoryError.
float* values_on(ParameterStorageBase& parameter, const std::shared_ptr<DeviceAllocator>& memory);

/// To be called when work has been started that changes what `values_on` has returned.
void changed_on(ParameterStorageBase& parameter, const DeviceAllocator& changed);

}  // namespace dynet
