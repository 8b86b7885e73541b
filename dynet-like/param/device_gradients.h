#pragma once

#include <vector>

#include "dynet-like/param/parameters.h"
#include "dynet-like/param/updater.h"

namespace dynet {

/// The gradients of some parameters, in one buffer in device memory.
///
/// If they lie in several buffers, it is one more: on the device with the lowest number among
/// theirs. It holds the gradients when an update has done what `reduction` says; the others stay as
/// they are.
///
/// Sums do not depend on which buffer was finished first. Buffers that all have numbers are added
/// in the order of these, others element by element in the order of their bits: on whichever
/// devices they lie, these are the bits that the CPU computes. Only if each device has one buffer
/// and there are no numbers, NCCL may add the gradients of whole parameters in an order of its own.
class DeviceGradients {
 public:
  /// Of the parameters that `which` names. Not while a backward pass runs. Throws OutOfMemoryError,
  /// changing nothing.
  DeviceGradients(ParameterBank& bank, const ParameterFilter& which);
  /// Drops the buffer if it was made here.
  ~DeviceGradients();
  DeviceGradients(const DeviceGradients&) = delete;
  DeviceGradients& operator=(const DeviceGradients&) = delete;

  /// Null if there are no gradients, or if some lie in the CPU's memory.
  GradientBuffer* buffer = nullptr;
  GradientReduction reduction;

 private:
  DeviceSums sums(std::size_t n) const;
  template <class Find>
  bool collect(Find find);
  void reduce(const ParameterStorageBase& p);
  void reduce_table(const ParameterStorageBase& p);

  GradientBuffers& all_;
  std::vector<GradientBuffer*> buffers_;
  std::vector<const float*> parts_;  // of one sum, by buffer
  bool made_ = false;
};

/// What moves the rows of a table's gradient on a device into that of the whole table.
DeviceSums rows_into_whole(const RowGradients& r);

}  // namespace dynet
