#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dynet-like/param/parameters.h"
#include "dynet-like/train/averaging.h"
#include "dynet-like/train/counters.h"
#include "dynet-like/train/rule.h"
#include "dynet-like/train/schedule.h"
#include "dynet-like/train/state_array.h"
#include "dynet-like/train/trainer_state.h"

namespace dynet {

class UpdateBuilder;
class Workers;
struct UpdatePart;

/// Everything that a trainer remembers besides the parameters, with parameters named relative to
/// the trainer's collection. What a file holds of a trainer.
struct TrainerSnapshot {
  /// The state of one parameter.
  struct Entry {
    std::string name;                ///< of the parameter
    Dim dim;                         ///< of the values; a table has its number of rows as last size
    std::vector<StateArray> arrays;  ///< each as large as the parameter; the average comes last
  };
  std::string kind;                       ///< the name of the class
  std::map<std::string, double> numbers;  ///< settings and counters by name
  std::vector<Entry> entries;             ///< of all parameters, then all tables
};

/// Turns gradients into new parameter values. The base of all trainers.
///
/// `update` is deterministic and makes one pass over the memory of each parameter:
///  1. The gradient is multiplied by clip_threshold / |g| if |g|, the norm of all gradients as one
///     vector, exceeds clip_threshold. A parameter without a gradient has the gradient zero.
///  2. The trainer's rule makes the step.
///  3. w <- (1 - lambda) w, with the weight decay lambda of the parameter's collection. This holds
///     for every parameter and every row of a table, used or not, whatever the trainer.
///
/// Rows of a table that were not used (`sparse_updates_enabled`):
///  - sparse, the default: they take no step 2. State then decays only in updates that use the
///    row, so momentum, Adam and others differ from what they are for dense parameters.
///  - dense: they take step 2 with the gradient zero, as any parameter does, in one pass over the
///    whole table. So does a table that was used as a whole. Before a table's first gradient there
///    is nothing to do.
///
/// Frozen parameters stay as they are, and so does their state.
///
/// If all gradients are in one buffer on a device, as after graphs there of one thread or of one
/// number, the update runs on that device. Values and state stay there until they are read; calls
/// are asynchronous. What came of such an update is known in the next one, or when it is asked for
/// by `status`, saving, `restart` or another member: only then are `clips`, `updates` and `skipped`
/// what the rest of this text says, and an update that was left out is not told by `false` but
/// counted then. Any other update runs on the host, which adds the gradients of several buffers:
/// also one whose gradients were read.
///
/// A trainer updates the parameters of its collection and everything below it, also those added
/// later. It neither updates other parameters of the same tree nor drops their gradients. Gradients
/// of several backward passes, of one graph or of many, add up until an update. Not to be used
/// while a backward pass runs.
class Trainer : public UpdateCounters {
 public:
  virtual ~Trainer();
  /// Another one of the same parameters, with the settings and the state that this one has now.
  /// Throws ArgumentError while values are swapped.
  Trainer(const Trainer& other);
  Trainer& operator=(const Trainer&) = delete;

  /// One step with the gradients summed up so far, times `scale`, which are dropped: with
  /// scale 1 / n the mean of n graphs' gradients. True if it was made: see `skip_non_finite`.
  ///
  /// Throws NumericError, naming a parameter, if clipping is enabled and the norm of the gradients
  /// is not finite; without clipping nothing is checked. After any error parameters and state are
  /// what they were; after NumericError the bad gradients are dropped, so that training can go on.
  /// On a device the NumericError is about the update before, which has changed nothing; this one
  /// is made before it is thrown. `status` throws it too, whichever comes first.
  bool update(real scale = 1);
  /// A step of these alone, or of a part of the collection: of the other parameters neither values,
  /// state nor gradients change. For state it counts as an update of all. Throws ArgumentError for
  /// a parameter outside the trainer's collection.
  bool update(const std::vector<Parameter>& parameters,
              const std::vector<LookupParameter>& tables = {});
  bool update(const ParameterCollection& part);
  /// Does nothing: an old way to lower the rate, which DyNet gave up as well.
  void update_epoch(real = 1) {}
  /// Does nothing: weight decay is not delayed.
  void rescale_and_reset_weight_decay() {}
  /// Lets `workers` share in every update; the results are the same. They must outlive the last
  /// one. Null: no help.
  void set_workers(Workers* workers) { workers_ = workers; }
  /// Forgets all state, averages too, as if the trainer were new. Settings and the counters stay.
  void restart();
  /// Throws ArgumentError, changing nothing, unless the rate is finite.
  void restart(real new_learning_rate);
  /// The factor that clipping asks for; 1 if it is disabled. Counts a clip. Throws NumericError.
  float clip_gradients();
  /// `[lr=0.1 clips=0 updates=12]`, counted since the last call; ` skipped=1` if batches were.
  /// Printed as well in programs that call `initialize` of dynet-like::compat. Waits for the last
  /// update if that runs on a device, and may throw its NumericError.
  std::string status();

  /// From now on the learning rate is set to the schedule's before each update; a default one ends
  /// that. It starts with its first rate, and counts the updates that are made.
  void set_schedule(const LearningRateSchedule& schedule);
  const LearningRateSchedule& schedule() const { return schedule_; }

  /// Keeps, beside each value w, a mean over the updates from now on, every `every`-th of them:
  ///   exponential  a <- beta a + (1 - beta) w, zero at the start
  ///   cumulative   the mean of all
  /// A parameter that joins later counts as if it had been there. Another call starts over.
  /// Throws ArgumentError unless 0 <= beta < 1 and every > 0, or while values are swapped.
  void exponential_moving_average(real beta, std::uint64_t every = 1);
  void cumulative_moving_average(std::uint64_t every = 1);
  MovingAverage moving_average() const { return averaging_.kind(); }
  /// Replaces the values by the averages. With `bias_correction` an exponential average
  /// is divided by 1 - beta^n after n of them, which takes out its start at zero. Values are kept
  /// for `swap_params_to_weights`, unless `save_weights` is false: then training may go on from the
  /// averages. Until they are swapped back `update`, `restart` and saving throw ArgumentError, and
  /// so does this before the first average.
  void swap_params_to_moving_average(bool save_weights = true, bool bias_correction = false);
  /// Puts the values back. Throws ArgumentError if they are not away.
  void swap_params_to_weights();

  /// Must be finite; `update` throws ArgumentError otherwise, changing nothing.
  real learning_rate;
  bool clipping_enabled = true;
  /// Must not be negative, nor NaN; likewise.
  real clip_threshold = 5;
  /// False: rows that were not used follow the rule as well; see above.
  bool sparse_updates_enabled = true;
  /// An update with gradients whose norm is not finite is left out and counted: it drops them,
  /// changes nothing else and returns false where it would throw. Looks also without clipping.
  bool skip_non_finite = false;

  /// The name of the class.
  virtual const char* kind() const = 0;
  const ParameterCollection& collection() const { return collection_; }

  /// View of the state of one parameter. Lives until the next update or restart.
  struct StateView {
    std::string name;                  ///< of the parameter
    Dim dim;                           ///< of its values
    std::vector<const float*> arrays;  ///< those of the rule, then the average if there is one
  };
  /// Throws ArgumentError while values are swapped.
  std::vector<StateView> state_views() const;
  std::map<std::string, double> numbers() const;
  /// Why `s` is not of a trainer like this one on parameters like these; empty if it is. A setting
  /// that is unknown here is such a reason, for training would go on otherwise.
  std::vector<std::string> differences(const TrainerSnapshot& s) const;
  /// Takes over a snapshot that has no `differences`. Throws OutOfMemoryError, changing nothing.
  void restore(TrainerSnapshot&& s);
  /// All of it as text, and back; see also `dynet::save`. Throws FileError, changing nothing, for
  /// text that is not of a trainer like this one; ArgumentError while values are swapped, and for a
  /// rate that is not finite.
  void save(std::ostream& out) const;
  void populate(std::istream& in);
  void populate(std::istream& in, real new_learning_rate);

 protected:
  struct Field {
    const char* name;
    std::variant<real*, bool*, std::uint64_t*> value;
    /// Value for an older file without the field: for settings that came after version 1 of the
    /// format, the value with the behaviour of earlier trainers. All other fields must be there.
    std::optional<double> if_missing = {};
  };

  /// The rule must outlive the trainer. Throws ArgumentError unless `lr` is finite.
  Trainer(const ParameterCollection& pc, real lr, const TrainerRule& rule);

  /// The numbers that the rule needs in this update; `step` counts from 1 since the start or
  /// restart.
  virtual void begin_update(std::uint64_t step, TrainerConstants& c) {
    static_cast<void>(step);
    c = {learning_rate};
  }
  /// Called before a parameter's first step; may throw.
  virtual void begin_parameter(const ParameterStorageBase& p) const { static_cast<void>(p); }
  /// Settings and counters to be saved; a trainer with settings of its own adds them.
  virtual std::vector<Field> fields();
  static std::vector<Field> with(std::vector<Field> fields, std::initializer_list<Field> more);
  /// Throw ArgumentError unless 0 <= value < 1, unless it is finite and above zero, unless it is
  /// finite.
  static void need_fraction(const char* who, const char* name, real value);
  static void need_positive(const char* who, const char* name, real value);
  static void need_finite(const char* who, const char* name, real value);

 private:
  /// Counters of an update on a device, kept until its outcome is known.
  struct Pending {
    bool waits = false;                 // it is not known yet
    bool clips = false, skips = false;  // what is to be counted then
    Averaging before;                   // what counts averages
  };

  bool contains(const ParameterStorageBase& p) const;
  bool trains(const ParameterStorageBase& p) const { return p.updated && contains(p); }
  std::size_t arrays() const { return rule_.arrays + averaging_.enabled(); }
  std::string relative_name(const ParameterStorageBase& p) const;
  static float decay_factor(const ParameterStorageBase& p) {
    return 1.0f - p.collection->effective_weight_decay();
  }

  /// Gradients of `dropped` parameters go; null: of all in the collection.
  bool update_chosen(const ParameterFilter& chosen, const ParameterFilter& dropped, real scale);
  bool make_update(const ParameterFilter& chosen, const ParameterFilter& dropped, real scale);
  void build(const ParameterFilter& chosen, const GradientBuffer* buffer);
  bool stays(const ParameterStorageBase& p, bool has_gradient) const;
  void describe(ParameterStorageBase& p, bool has_gradient, UpdatePart& part);
  void build_table(ParameterStorageBase& p, const RowGradients* r);
  void build_averages();
  void prepare_state(ParameterStorageBase& p);
  void drop_fresh_state();
  bool finish_on_host(const ParameterFilter& chosen, const ParameterFilter& dropped);
  void drop_gradients(const ParameterFilter& dropped);
  bool checks_norm() const { return clipping_enabled || skip_non_finite; }
  void check_threshold() const;
  [[noreturn]] void throw_bad_gradient(const ParameterFilter& chosen) const;
  void collect_outcome();
  void collect_outcome() const { const_cast<Trainer*>(this)->collect_outcome(); }
  void throw_pending_error();
  void start_average(MovingAverage kind, real beta, std::uint64_t every);
  std::vector<ParameterStorageBase*> averaged();
  void need_weights(const char* who) const;
  void forget_state();

  ParameterCollection collection_;
  const TrainerRule& rule_;
  TrainerConstants constants_{};  // of the update that runs
  std::uint64_t step_ = 0;
  LearningRateSchedule schedule_;
  std::uint64_t scheduled_ = 0;  // updates since the schedule was set
  Averaging averaging_;
  Workers* workers_ = nullptr;
  TrainerState state_;
  std::vector<std::pair<ParameterStorageBase*, StateArray>>
      weights_;  // while averages are swapped in
  bool swapped_ = false;
  std::unique_ptr<UpdateBuilder> builder_;  // with the last update
  Pending pending_;
  std::string pending_error_;  // of an update on a device, not told yet
};

}  // namespace dynet
