#pragma once

#include <vector>

#include "dynet-like/param/parameters.h"
#include "dynet-like/param/updater.h"

namespace dynet {

/// The gradients of some parameters, in one lane in the memory of a device.
///
/// If they lie in several lanes, it is one more: on the device with the lowest number among theirs.
/// It holds the gradients when an update has done what `meeting` says; the others stay as they are.
///
/// Sums do not depend on which lane was finished first. Lanes that all have numbers are added in
/// the order of these, others element by element in the order of their bits: on whichever devices
/// they lie, these are the bits that the processor computes. Only if each device has one lane and
/// there are no numbers, NCCL may add the gradients of whole parameters in an order of its own.
class LanesOnDevice {
 public:
  /// Of the parameters that `which` names. Not while a backward pass runs. Throws OutOfMemoryError,
  /// changing nothing.
  LanesOnDevice(ParameterBank& bank, const ParameterFilter& which);
  /// Drops the lane if it was made here.
  ~LanesOnDevice();
  LanesOnDevice(const LanesOnDevice&) = delete;
  LanesOnDevice& operator=(const LanesOnDevice&) = delete;

  /// Null if there are no gradients, or if some lie in the processor's memory.
  GradientLane* lane = nullptr;
  Meeting meeting;

 private:
  DeviceSums sums(std::size_t n) const;
  template <class Find>
  bool collect(Find find);
  void meet(const ParameterStorageBase& p);
  void meet_in_table(const ParameterStorageBase& p);

  GradientLanes& all_;
  std::vector<GradientLane*> lanes_;
  std::vector<const float*> parts_;  // of one sum, by lane
  bool made_ = false;
};

/// What moves the rows of a table's gradient on a device into that of the whole table.
DeviceSums rows_into_whole(const RowGradients& r);

}  // namespace dynet
