#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "dynet-like/base/memory_source.h"
#include "dynet-like/param/storage.h"

namespace dynet {

/// Values in the memory of a device.
struct DeviceValues {
  MemorySource* memory;
  float* values;
};

/// The copies that devices have of a parameter's values. The newest values are the host's or those
/// of devices; the others get them when they are asked for, from a device if one has them.
class ValuesOnDevices final : public LaggingRows {
 public:
  explicit ValuesOnDevices(ParameterStorageBase& parameter) : parameter_(parameter) {}
  ~ValuesOnDevices() override;
  ValuesOnDevices(const ValuesOnDevices&) = delete;
  ValuesOnDevices& operator=(const ValuesOnDevices&) = delete;

  void settle(std::size_t) override { settle_all(); }
  /// Brings the newest values to the host. Waits for the device if that has them.
  void settle_all() override;
  /// Those of the host are the newest. The bank's mutex must be held.
  void changed_on_host();

 private:
  friend float* values_on(ParameterStorageBase&, const std::shared_ptr<MemorySource>&);
  friend std::vector<DeviceValues> in_use_beside(ParameterStorageBase&, const MemorySource&);
  friend void changed_on(ParameterStorageBase&, const MemorySource&);
  struct Copy {
    std::shared_ptr<MemorySource> memory;
    float* values;
    bool newest;
    bool used;  // since the last change

    bool follows(const MemorySource& changed) const {
      return memory.get() != &changed && newest && used;
    }
  };
  Copy* find_newest();
  void bring_home();

  ParameterStorageBase& parameter_;
  std::vector<Copy> copies_;
  std::atomic<bool> host_is_old_ = false;
};

/// The values of a parameter in the memory of a device, the newest that there are, for work that
/// is started there from now on. The address stays the same. Safe to call from several threads at
/// once, as long as nobody changes the values. Throws OutOfMemoryError.
float* values_on(ParameterStorageBase& parameter, const std::shared_ptr<MemorySource>& memory);

/// The copies on other devices that are to follow a change on this one: those that were asked for
/// since the last change.
std::vector<DeviceValues> in_use_beside(ParameterStorageBase& parameter,
                                        const MemorySource& changed);

/// To be called when work has been started that changes what `values_on` has returned, and brings
/// the new values to those of `in_use_beside`.
void changed_on(ParameterStorageBase& parameter, const MemorySource& changed);

}  // namespace dynet
