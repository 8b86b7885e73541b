#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dynet-like/graph/device_backend.h"
#include "dynet-like/param/gradients.h"

namespace dynet {

/// Adds gradients elementwise, in the CPU's memory or a device's. A gradient that only one operand
/// has is copied; a missing gradient is not added as zero. Thread-safe for different buffers.
class GradientAdder {
 public:
  /// `to` += `from`, both in the same memory.
  void add(GradientBuffer& to, GradientBuffer& from);
  /// Copies all gradients to an empty buffer in another memory; one of the two is the CPU's.
  void copy(GradientBuffer& to, GradientBuffer& from);
  /// Sorts the rows by number: their order determines the last bits of the norm of all gradients.
  void sort_rows(RowGradients& rows, GradientBuffer& of);

 private:
  template <class F>
  void on_device(GradientBuffer& to, GradientBuffer* from, F f);
  DeviceBackend& backend(const std::shared_ptr<DeviceAllocator>& memory);

  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<DeviceBackend>> backends_;
};

}  // namespace dynet
