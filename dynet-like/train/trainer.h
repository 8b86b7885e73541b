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

namespace dynet {

class GradientBuffer;
class RowGradients;
class UpdateBuilder;
class Workers;
struct ParameterFilter;

/// Complete state of a trainer apart from the values of parameters, for saving. Parameter names are
/// relative to the trainer's collection.
struct TrainerSnapshot {
  /// The state of one parameter.
  struct Entry {
    std::string name;                ///< name of the parameter
    Dim dim;                         ///< shape of all values, see ParameterStorageBase::full_dim
    std::vector<StateArray> arrays;  ///< each of the parameter's size; an average comes last
  };
  std::string kind;                       ///< the name of the class
  std::map<std::string, double> numbers;  ///< settings and counters by name
  std::vector<Entry> entries;             ///< all parameters with state, then all tables with state
};

/// Optimizer: the base of all trainers.
///
/// `update` is deterministic and makes one pass over the memory of each parameter:
///  1. The gradient is multiplied by clip_threshold / |g| if |g|, the norm of all gradients as one
///     vector, exceeds clip_threshold. A parameter without a gradient has a zero gradient.
///  2. Step of the trainer's rule.
///  3. w <- (1 - lambda) w, with the weight decay lambda of the parameter's collection, for every
///     parameter and every table row, used or unused, in all trainers.
///
/// Unused rows of a table, by `sparse_updates_enabled`:
///  - sparse, the default: no step 2. State decays only in updates that use the row, so momentum,
///    Adam and other rules with state differ from their dense versions.
///  - dense: step 2 with a zero gradient, as for any parameter, in one pass over the table. A table
///    that was used as a whole is always updated densely. Before its first gradient a table has no
///    step 2.
///
/// Frozen parameters and their state do not change.
///
/// If a single buffer on a device holds all gradients (graphs there, on one thread or with one
/// number), the update runs on that device, asynchronously. Values and state remain there until
/// they are read. The outcome is collected by the next update, or by `status`, saving, `restart` or
/// another member: only then `clips`, `updates` and `skipped` are up to date, and a skipped update
/// is counted there instead of returning `false`. All other updates run on the host and add up the
/// gradients of all buffers; reading a gradient also moves the update to the host.
///
/// A trainer updates the parameters of its collection and everything below it, including those
/// added later. Other parameters of the tree keep their values and gradients. Gradients of several
/// backward passes, of one graph or several, accumulate until an update. Not to be used during a
/// backward pass.
class Trainer : public UpdateCounters {
 public:
  virtual ~Trainer();
  /// Copies the settings and state of a trainer of the same parameters. Throws ArgumentError while
  /// values are swapped.
  Trainer(const Trainer& other);
  Trainer& operator=(const Trainer&) = delete;

  /// One step with `scale` times the accumulated gradients, which are then dropped; scale 1 / n
  /// averages over n graphs. Returns true unless the update was skipped, see `skip_non_finite`.
  ///
  /// Throws NumericError, naming a parameter, if clipping is enabled and the norm of the gradients
  /// is not finite; without clipping nothing is checked. After any error parameters and state are
  /// unchanged; after NumericError the gradients are dropped, so that training can continue. On a
  /// device the NumericError concerns the previous update, which changed nothing; the current one
  /// is made before the throw. `status` throws it as well if it is called first.
  bool update(real scale = 1);
  /// Updates only these parameters, or a part of the collection: values, state and gradients of all
  /// other parameters are unchanged. The update counts as a full one for t and for schedules.
  /// Throws ArgumentError for a parameter outside the trainer's collection.
  bool update(const std::vector<Parameter>& parameters,
              const std::vector<LookupParameter>& tables = {});
  bool update(const ParameterCollection& part);
  /// No effect; deprecated in DyNet.
  void update_epoch(real = 1) {}
  /// No effect: weight decay is applied immediately.
  void rescale_and_reset_weight_decay() {}
  /// Runs parts of every update on `workers`, with identical results; they must outlive the last
  /// update. Null: no threads.
  void set_workers(Workers* workers) { workers_ = workers; }
  /// Drops all state, including averages, as in a new trainer. Settings and counters remain.
  void restart();
  /// Restarts with a new rate. Throws ArgumentError, changing nothing, unless the rate is finite.
  void restart(real new_learning_rate);
  /// Returns the factor by which clipping would scale the gradients (1 if it is disabled), and
  /// counts a clip. Throws NumericError.
  float clip_gradients();
  /// Returns `[lr=0.1 clips=0 updates=12]`, counted since the last call, with ` skipped=1` if
  /// updates were skipped. Also prints it in programs that call `initialize` of dynet-like::compat.
  /// Waits for the last update on a device, and may throw its NumericError.
  std::string status();

  /// Sets `learning_rate` to that of the schedule before each update; a default schedule ends this.
  /// The schedule starts with its first rate and counts the updates made.
  void set_schedule(const LearningRateSchedule& schedule);
  const LearningRateSchedule& schedule() const { return schedule_; }

  /// Maintains a mean of each value w over the following updates, every `every`-th of them:
  ///   exponential  a <- beta a + (1 - beta) w, starting at zero
  ///   cumulative   the mean of all
  /// A parameter that is added later counts as constant before. Another call starts over. Throws
  /// ArgumentError unless 0 <= beta < 1 and every > 0, or while values are swapped.
  void exponential_moving_average(real beta, std::uint64_t every = 1);
  void cumulative_moving_average(std::uint64_t every = 1);
  MovingAverage moving_average() const { return averaging_.kind(); }
  /// Replaces the values by the averages. `bias_correction` divides an exponential average by 1 -
  /// beta^n after n updates, to remove its bias towards zero. Values are saved for
  /// `swap_params_to_weights`, unless `save_weights` is false: then training may continue from the
  /// averages. Throws ArgumentError before the first average. Before values are swapped back,
  /// `update`, `restart` and saving throw ArgumentError.
  void swap_params_to_moving_average(bool save_weights = true, bool bias_correction = false);
  /// Restores the values. Throws ArgumentError unless they are swapped.
  void swap_params_to_weights();

  /// Must be finite; otherwise `update` throws ArgumentError and changes nothing.
  real learning_rate;
  bool clipping_enabled = true;
  /// Must be neither negative nor NaN; otherwise `update` throws ArgumentError and changes nothing.
  real clip_threshold = 5;
  /// False: unused rows of tables follow the rule as well, see above.
  bool sparse_updates_enabled = true;
  /// True: an update whose gradients have a norm that is not finite is skipped and counted; it
  /// drops the gradients, changes nothing else and returns false instead of throwing. Checks the
  /// norm also without clipping.
  bool skip_non_finite = false;

  /// Name of the class.
  virtual const char* kind() const = 0;
  const ParameterCollection& collection() const { return collection_; }

  /// View of the state of one parameter, valid until the next update or restart.
  struct StateView {
    std::string name;                  ///< name of the parameter
    Dim dim;                           ///< shape of its values
    std::vector<const float*> arrays;  ///< arrays of the rule, then the average if there is one
  };
  /// Throws ArgumentError while values are swapped.
  std::vector<StateView> state_views() const;
  std::map<std::string, double> numbers() const;
  /// Reasons why `s` does not fit this trainer and its parameters; empty if it fits. An unknown
  /// setting is a reason, since training would differ.
  std::vector<std::string> differences(const TrainerSnapshot& s) const;
  /// Moves in a snapshot without `differences`. Throws OutOfMemoryError, changing nothing.
  void restore(TrainerSnapshot&& s);
  /// Text form of the state, see also `dynet::save`. Throws FileError, changing nothing, for text
  /// of another trainer; ArgumentError while values are swapped, and for a rate that is not finite.
  void save(std::ostream& out) const;
  void populate(std::istream& in);
  void populate(std::istream& in, real new_learning_rate);

 protected:
  struct Field {
    const char* name;
    std::variant<real*, bool*, std::uint64_t*> value;
    /// Default for files of an older format without the field: the value with the behaviour of
    /// trainers of that format. Fields without a default are required.
    std::optional<double> if_missing = {};
  };

  /// `rule` must outlive the trainer. Throws ArgumentError unless `lr` is finite.
  Trainer(const ParameterCollection& pc, real lr, const TrainerRule& rule);

  /// Fills in the constants of the rule for this update; `step` counts updates from 1 since
  /// construction or restart.
  virtual void begin_update(std::uint64_t step, TrainerConstants& c) {
    static_cast<void>(step);
    c = {learning_rate};
  }
  /// Called before the first step of a parameter; may throw.
  virtual void begin_parameter(const ParameterStorageBase& p) const { static_cast<void>(p); }
  /// Settings and counters to save; subclasses append their settings.
  virtual std::vector<Field> fields();
  static std::vector<Field> with(std::vector<Field> fields, std::initializer_list<Field> more);
  /// Throw ArgumentError unless 0 <= value < 1, unless the value is finite and positive, or unless
  /// it is finite.
  static void need_fraction(const char* who, const char* name, real value);
  static void need_positive(const char* who, const char* name, real value);
  static void need_finite(const char* who, const char* name, real value);

 private:
  /// Update on a device whose outcome is unknown.
  struct Pending {
    bool waits = false;                 // there is such an update
    bool clips = false, skips = false;  // settings at its start
    Averaging before;                   // averaging before it
  };

  bool contains(const ParameterStorageBase& p) const;
  bool trains(const ParameterStorageBase& p) const;
  std::size_t arrays() const { return rule_.arrays + averaging_.enabled(); }
  std::string relative_name(const ParameterStorageBase& p) const;
  static float decay_factor(const ParameterStorageBase& p);

  /// Drops the gradients of the `dropped` parameters afterwards; null: of the whole collection.
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
  TrainerConstants constants_{};  // of the running update
  std::uint64_t step_ = 0;
  LearningRateSchedule schedule_;
  std::uint64_t scheduled_ = 0;  // updates since the schedule was set
  Averaging averaging_;
  Workers* workers_ = nullptr;
  TrainerState state_;
  std::vector<std::pair<ParameterStorageBase*, StateArray>>
      weights_;  // saved values while averages are swapped in
  bool swapped_ = false;
  std::unique_ptr<UpdateBuilder> builder_;  // holds the last update
  Pending pending_;
  std::string pending_error_;  // error of an update on a device, not yet thrown
};

}  // namespace dynet
