#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dynet-like/graph/device_backend.h"
#include "dynet-like/param/gradients.h"

namespace dynet {

/// Adds gradients up, element by element, in the CPU's memory or a device's. What only one of two
/// has comes from that one: what is missing counts as nothing, and not as a zero. Safe to call from
/// several threads, for different buffers.
class GradientAdder {
 public:
  /// `to` += `from`, both in one memory.
  void add(GradientBuffer& to, GradientBuffer& from);
  /// Copies all to another memory, in whose buffer nothing is. Of the two one is the CPU's.
  void copy(GradientBuffer& to, GradientBuffer& from);
  /// The order of rows decides the last bits of the norm of all gradients: that of numbers.
  void sort_rows(RowGradients& rows, GradientBuffer& of);

 private:
  template <class F>
  void on_device(GradientBuffer& to, GradientBuffer* from, F f);
  DeviceBackend& backend(const std::shared_ptr<DeviceAllocator>& memory);

  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<DeviceBackend>> backends_;
};

}  // namespace dynet
