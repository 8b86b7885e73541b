#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/param/gradients.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/param/updater.h"
#include "dynet-like/train/rule.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

class Workers;

/// Runs updates on the CPU, synchronously.
class HostUpdater final : public Updater {
 public:
  /// `rule` must outlive the updater.
  explicit HostUpdater(const TrainerRule& rule) : rule_(rule) {}

  /// Threads for large parameters, or null. Results do not depend on the threads.
  void set_workers(Workers* workers) { workers_ = workers; }

  const std::shared_ptr<DeviceAllocator>& memory() override { return none_; }
  /// Throws std::bad_alloc before changing anything.
  void update(const Update& update) override;
  UpdateOutcome outcome() override { return outcome_; }

 private:
  /// Contiguous values of a part.
  struct Piece {
    const UpdatePart* part;
    std::size_t at, n;
  };

  void check_norm(const Update& update);
  void step(const UpdatePart& part, std::size_t at, std::size_t n, const float* g) const;
  void step_rows(const UpdatePart& part) const;
  std::size_t size_of_pieces(const UpdatePart& part, bool whole) const;
  std::size_t count_pieces(const std::vector<UpdatePart>& parts, bool whole) const;
  template <class F>
  void for_each_piece(const std::vector<UpdatePart>& parts, bool whole, F f);

  const TrainerRule& rule_;
  Workers* workers_ = nullptr;
  std::shared_ptr<DeviceAllocator> none_;
  UpdateOutcome outcome_{};
  TrainerConstants constants_{};  // of the running update
  float scale_ = 1;
  std::vector<Piece> pieces_;
};

/// Builds an update, parameter by parameter, and runs it on the CPU or on a device. The same parts
/// make the same step on both.
class UpdateBuilder {
 public:
  explicit UpdateBuilder(const TrainerRule& rule) : host_(rule) {}

  /// Begins an update of values in this memory; null: on the CPU. Throws DeviceError.
  void begin(const std::shared_ptr<DeviceAllocator>& memory, Workers* workers);
  bool on_host() const { return updater_ == &host_; }
  /// Address of a parameter's values where the update runs, and of a state array.
  float* values(ParameterStorageBase& p);
  float* state(StateArray& a) { return on_host() ? a.data() : a.on(updater_->memory()); }
  /// Adds values of a parameter: a step if they have a gradient or state, otherwise the weight
  /// decay alone.
  void add(ParameterStorageBase& p, const UpdatePart& part);
  /// Adds an empty step of all values of a parameter on the CPU, to be filled in place, which
  /// avoids a store-to-load stall of a copy.
  UpdatePart& add_step(ParameterStorageBase& p) {
    steps.push_back(&p);
    return next.steps.emplace_back();
  }
  /// Adds a step for rows of a table with the gradients of `r`, or with zero gradients if it is
  /// null.
  void add_rows(ParameterStorageBase& p, UpdatePart part, std::span<const std::uint32_t> rows,
                const RowGradients* r);
  /// Add steps for the rows with and without gradients in `r`.
  void add_used_rows(ParameterStorageBase& p, const UpdatePart& part, const RowGradients& r) {
    add_rows(p, part, {r.rows().data(), r.rows().size()}, &r);
  }
  void add_other_rows(ParameterStorageBase& p, const UpdatePart& part, const RowGradients& r);
  /// Schedules RowGradients::unify on a device; on the CPU it is done already.
  void unify(const RowGradients& r);
  /// Runs the update, or starts it on a device. Throws DeviceError, OutOfMemoryError before
  /// changing anything.
  void run();
  UpdateOutcome outcome() { return updater_->outcome(); }

  Update next;
  std::vector<ParameterStorageBase*> steps;  ///< parameter of each step
  /// Parameters with new state arrays in this update, and their previous number of arrays.
  struct Fresh {
    ParameterStorageBase* p;
    std::size_t arrays;
  };
  std::vector<Fresh> fresh;

 private:
  HostUpdater host_;
  std::unique_ptr<Updater> device_;
  Updater* updater_ = &host_;
  std::vector<ParameterStorageBase*> changed_;  // parameters changed on a device
  Arena lists_;                                 // lists of rows and addresses
};

}  // namespace dynet
