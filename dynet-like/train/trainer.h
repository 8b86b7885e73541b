#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "dynet-like/param/parameters.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

class Workers;

/// Everything that a trainer remembers besides the parameters, with parameters named relative to
/// the trainer's collection. What a file holds of a trainer.
struct TrainerSnapshot {
  struct Entry {
    std::string name;
    Dim dim;                         ///< of the values; a table has its number of rows as last size
    std::vector<StateArray> arrays;  ///< each as large as the parameter
  };
  std::string kind;
  std::map<std::string, double> numbers;  ///< settings and counters by name
  std::vector<Entry> entries;
};

/// Turns gradients into new parameter values. The base of all trainers.
///
/// `update` is deterministic and makes one pass over the memory of each parameter:
///  1. The gradient counts times clip_threshold / |g| if the norm |g| of all gradients together is
///     larger than clip_threshold. A parameter without a gradient has the gradient zero.
///  2. The trainer's rule makes the step.
///  3. w <- (1 - lambda) w, with the weight decay lambda of the parameter's collection. This holds
///     for every parameter and every row of a table, used or not, whatever the trainer.
///
/// Of a table only the rows that were used take step 2, unless `sparse_updates_enabled` is off or
/// the table was used as a whole. Frozen parameters stay as they are, and so does their state.
///
/// A trainer updates the parameters of its collection and everything below it, also those added
/// later. It neither updates other parameters of the same tree nor drops their gradients. Not to be
/// used while a backward pass runs.
class Trainer {
 public:
  virtual ~Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// One step with the gradients summed up so far, which are dropped.
  ///
  /// Throws NumericError, naming a parameter, if clipping is enabled and the norm of the gradients
  /// is not finite; without clipping nothing is checked. After any error parameters and state are
  /// what they were; after NumericError the bad gradients are dropped, so that training can go on.
  void update();
  /// Lets `workers` share in every update; the results are the same. They must outlive the last
  /// one. Null: no help.
  void set_workers(Workers* workers) { workers_ = workers; }
  /// Forgets all state, as if the trainer were new. Settings and the counters stay.
  void restart();
  void restart(real new_learning_rate);
  /// The factor that clipping asks for; 1 if it is disabled. Counts a clip. Throws NumericError.
  float clip_gradients();
  /// `[lr=0.1 clips=0 updates=12]`, counted since the last call.
  [[nodiscard]] std::string status();

  real learning_rate;
  bool clipping_enabled = true;
  real clip_threshold = 5;
  bool sparse_updates_enabled = true;

  std::uint64_t clips = 0;
  std::uint64_t updates = 0;
  std::uint64_t clips_since_status = 0;
  std::uint64_t updates_since_status = 0;

  /// The name of the class.
  virtual const char* kind() const = 0;
  const ParameterCollection& collection() const { return collection_; }

  /// Where the state of one parameter lies. Lives until the next update or restart.
  struct StateView {
    std::string name;
    Dim dim;
    std::vector<const float*> arrays;
  };
  std::vector<StateView> state_views() const;
  std::map<std::string, double> numbers() const;
  /// Why `s` is not of a trainer like this one on parameters like these; empty if it is.
  std::vector<std::string> differences(const TrainerSnapshot& s) const;
  /// Takes over a snapshot that has no `differences`. Throws OutOfMemoryError, changing nothing.
  void restore(TrainerSnapshot&& s);

 protected:
  static constexpr std::size_t kMaxArrays = 4;

  /// A stretch of one parameter in an update. No array overlaps another.
  struct Slice {
    std::size_t n;
    float* w;
    const float* g;  ///< null: zero; never null for a trainer without state
    float* state[kMaxArrays];
    float scale;  ///< the gradient counts times this
    float keep;   ///< 1 - weight decay, multiplied into the new value
  };
  struct Field {
    const char* name;
    std::variant<real*, bool*, std::uint64_t*> value;
  };

  /// `arrays` is the number of state arrays, at most kMaxArrays. State starts as zero, and a rule
  /// must not move a value with zero gradient and zero state.
  Trainer(const ParameterCollection& pc, real lr, std::size_t arrays);

  /// Called once an update, before the slices. `step` counts from 1 since the start or restart.
  virtual void begin_update(std::uint64_t step) { static_cast<void>(step); }
  /// The rule.
  virtual void apply(const Slice& s) = 0;
  /// Settings and counters to be saved; a trainer with settings of its own adds them.
  virtual std::vector<Field> fields();

 private:
  using State = std::vector<StateArray>;

  bool trains(const ParameterStorage& p) const;
  State* find_state(const ParameterStorage& p);
  std::string relative_name(const ParameterStorage& p) const;
  void prepare_state(const GradientLane& lane);
  void update_slice(ParameterStorage& p, std::size_t at, std::size_t n, const float* g, float scale,
                    float keep);
  void update_table(ParameterStorage& p, const RowGradients* r, float scale);
  struct Piece {
    ParameterStorage* p;
    std::size_t at, n;
  };
  const std::vector<Piece>& dense_pieces();
  void update_dense(const std::vector<Piece>& pieces, const GradientLane* lane, float scale);
  [[noreturn]] void throw_bad_gradient() const;

  ParameterCollection collection_;
  const std::size_t arrays_;
  std::uint64_t step_ = 0;
  std::vector<State> dense_, tables_;  // by index in the bank; empty until there is a gradient
  Workers* workers_ = nullptr;
  std::vector<Piece> pieces_;  // of an update
};

}  // namespace dynet
