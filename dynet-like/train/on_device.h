#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dynet-like/param/gradients.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/param/updater.h"

namespace dynet {

/// A trainer's updates on a device: what the next one consists of, and what has to be remembered
/// until it is known what came of the last one.
class TrainerOnDevice {
 public:
  /// An update on the device with this memory. Throws DeviceError.
  void begin(const std::shared_ptr<DeviceAllocator>& memory);
  /// Adds values of a parameter to it: a step if they have a gradient or state, else what is left
  /// of one, the weight decay.
  void add(ParameterStorageBase& p, const UpdatePart& part);
  /// The same for rows of a table; their gradients are those of `r`, or zero if that is null.
  void add_rows(ParameterStorageBase& p, UpdatePart part, std::vector<std::uint32_t> rows,
                const RowGradients* r);
  /// Starts it. Throws DeviceError, OutOfMemoryError.
  void start();
  UpdateOutcome outcome() { return updater_->outcome(); }

  DeviceUpdate next;
  std::vector<ParameterStorageBase*> steps;  ///< by step: whose it is
  std::vector<ParameterStorageBase*> fresh;  ///< those that got their state for this update
  bool waits = false;                        ///< the outcome of the last one is not known yet
  bool clips = false, skips = false;         ///< what is to be counted then
  /// What counts averages, as it was before.
  std::uint64_t average_waited = 0, averages = 0;

 private:
  /// What the update changes of a parameter: some rows or all values.
  struct Change {
    ParameterStorageBase* p;
    const float* w;
    bool whole = false;
    std::size_t count = 0;  // of rows
    std::vector<UpdatePart> rows = {};
  };
  void copy_to_others(const Change& change);

  std::unique_ptr<Updater> updater_;
  std::vector<Change> changes_;
  std::vector<std::vector<std::uint32_t>> rows_;
  std::vector<std::vector<float*>> addresses_;
};

}  // namespace dynet
