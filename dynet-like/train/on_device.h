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
  void begin(const std::shared_ptr<MemorySource>& memory);
  /// Adds values of a parameter to it: a step if they have a gradient or state, else what is left
  /// of one, the weight decay.
  void add(ParameterStorage& p, const UpdatePart& part);
  /// The same for rows of a table; their gradients are those of `r`, or zero if that is null.
  void add_rows(ParameterStorage& p, UpdatePart part, std::vector<std::uint32_t> rows,
                const RowGradients* r);
  /// Moves the gradients of rows into that of the whole table.
  void unify(const RowGradients& r);
  /// Starts it. Throws DeviceError, OutOfMemoryError.
  void start();
  UpdateOutcome outcome() { return updater_->outcome(); }

  DeviceUpdate next;
  std::vector<ParameterStorage*> steps;  ///< by step: whose it is
  std::vector<ParameterStorage*> fresh;  ///< those that got their state for this update
  bool waits = false;                    ///< the outcome of the last one is not known yet
  bool clips = false, skips = false;     ///< what is to be counted then

 private:
  std::unique_ptr<Updater> updater_;
  std::vector<ParameterStorage*> decays_;
  std::vector<std::vector<std::uint32_t>> rows_;
  std::vector<std::vector<float*>> addresses_;
};

}  // namespace dynet
