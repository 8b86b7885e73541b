#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/param/gradients.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/param/updater.h"
#include "dynet-like/train/host_updater.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

/// Puts an update together, parameter by parameter, for the CPU or for a device, and runs it there.
/// The same parts make the same step on both.
class UpdateBuilder {
 public:
  explicit UpdateBuilder(const TrainerRule& rule) : host_(rule) {}

  /// A new update of values in this memory; null: on the CPU. Throws DeviceError.
  void begin(const std::shared_ptr<DeviceAllocator>& memory, Workers* workers);
  bool on_host() const { return updater_ == &host_; }
  /// The values of a parameter where the update runs, and an array of its state.
  float* values(ParameterStorageBase& p);
  float* state(StateArray& a) { return on_host() ? a.data() : a.on(updater_->memory()); }
  /// Adds values of a parameter: a step if they have a gradient or state, else what is left of one,
  /// the weight decay.
  void add(ParameterStorageBase& p, const UpdatePart& part);
  /// A step of all values of a parameter, on the CPU, to be filled in: to copy what was just
  /// written would have to wait.
  UpdatePart& add_step(ParameterStorageBase& p) {
    steps.push_back(&p);
    return next.steps.emplace_back();
  }
  /// The same for rows of a table; their gradients are those of `r`, or zero if that is null.
  void add_rows(ParameterStorageBase& p, UpdatePart part, std::span<const std::uint32_t> rows,
                const RowGradients* r);
  /// The same for those that `r` has gradients for, and for those that it has none for.
  void add_used_rows(ParameterStorageBase& p, const UpdatePart& part, const RowGradients& r) {
    add_rows(p, part, {r.rows().data(), r.rows().size()}, &r);
  }
  void add_other_rows(ParameterStorageBase& p, const UpdatePart& part, const RowGradients& r);
  /// Moves rows of a gradient into that of the whole table, if a device has to.
  void unify(const RowGradients& r);
  /// Runs it, or starts it on a device. Throws DeviceError, OutOfMemoryError, having changed
  /// nothing.
  void run();
  UpdateOutcome outcome() { return updater_->outcome(); }

  Update next;
  std::vector<ParameterStorageBase*> steps;  ///< by step: whose it is
  /// Parameters that got arrays of state for this update, and how many they had.
  struct Fresh {
    ParameterStorageBase* p;
    std::size_t arrays;
  };
  std::vector<Fresh> fresh;

 private:
  HostUpdater host_;
  std::unique_ptr<Updater> device_;
  Updater* updater_ = &host_;
  std::vector<ParameterStorageBase*> changed_;  // on a device
  Arena lists_;                                 // of rows and of addresses
};

}  // namespace dynet
