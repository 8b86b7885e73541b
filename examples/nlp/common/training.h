#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/distributed/communicator.h"
#include "dynet-like/io/files.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text_input.h"

namespace nlp {

class RunReport;

/// Trainer of a run: dynet::AdamTrainer or dynet::SimpleSGDTrainer.
enum class Optimizer { kAdam, kSgd };
inline const Names<Optimizer> kOptimizers = {{Optimizer::kAdam, "adam"}, {Optimizer::kSgd, "sgd"}};

/// Training settings of most programs, which a resumed run must keep.
struct TrainSettings {
  Optimizer optimizer = Optimizer::kAdam;
  unsigned batch = 1;  ///< samples per update
  float learning_rate = 0.002f;
  float decay = 0.8f;     ///< the learning rate is multiplied by this over each epoch
  float clip = 5.0f;      ///< largest gradient norm of an update, 0 for no clipping
  float unknown = 0.25f;  ///< a: a word seen n times is hidden with probability a / (a + n)
  std::uint64_t seed = 1;
  /// Updates follow the mean loss of a unit, a word say, so that the gradient is as large whatever
  /// the batch. False of runs that began when they followed a sum.
  bool mean_loss = true;
  unsigned parts = 1;  ///< graphs that the samples of an update are shared out to

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& batch& learning_rate& decay& clip& unknown& seed;
    serialize_mean_loss(archive, version);
    if (version > 0) archive& parts;
  }
  void check() const;  ///< see Checked

 protected:
  /// Checkpoints of version 0 do not say.
  template <typename Archive>
  void serialize_mean_loss(Archive& archive, unsigned int version) {
    mean_loss = version > 0 && mean_loss;
    if (version > 0) archive& mean_loss;
  }
};

/// When a run ends.
struct TrainLimits {
  unsigned epochs = 10;
  unsigned patience = 3;   ///< epochs without a better dev score before training ends; 0: no end
  double max_seconds = 0;  ///< 0: no limit
};

/// Options of a training run that all programs have.
struct RunOptions {
  std::string train, dev, test;  ///< files; the last two may be empty
  TextOptions text;              ///< how they are read
  std::string model;             ///< where the best model goes
  std::string report;            ///< a file of JSON lines, see RunReport; may be empty
  std::string init;              ///< a model to begin with; may be empty
  bool resume = false;           ///< go on with the run that the checkpoint holds
  bool force = false;            ///< replace a model and a checkpoint that are there
  dynet::Device* device = &dynet::kCpu;
  unsigned threads = 1;
  TrainLimits limits;
  std::vector<std::string> given;  ///< names of the options on the command line
  /// The processes that take part; rank 0 alone writes files and lines.
  std::shared_ptr<dynet::Communicator> world = dynet::make_self_communicator();

  bool was_given(const std::string& option) const;
  /// Everything needed to go on with the run is in this file.
  std::string checkpoint() const { return model + ".checkpoint"; }
};

/// Progress of a run; part of its checkpoint.
struct TrainState {
  std::uint64_t data_mark = 0;  ///< tells training data apart
  unsigned epoch = 0;           ///< finished epochs
  std::uint64_t position = 0;   ///< updates of the running epoch that are done
  double loss = 0;              ///< summed over those updates
  std::uint64_t clipped = 0;    ///< of those updates, the ones whose gradient was clipped
  double best_score = 0;
  unsigned best_epoch = 0;  ///< 0: none yet

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& data_mark& epoch& position& loss& best_score& best_epoch;
    if (version > 0) archive& clipped;
  }
  void check() const;  ///< see Checked; the loop knows how many updates an epoch has
};

/// How good a model is on the dev data.
struct DevScore {
  double score = 0;      ///< more is better
  std::string text;      ///< "dev accuracy 93.21 %"
  Figures figures = {};  ///< for the report
};

/// Interface of a program to the training loop. Epochs count from 1, updates in an epoch from 0.
class Training {
 public:
  Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  virtual ~Training() = default;

  /// Unit of progress: "words".
  virtual std::string unit() const = 0;
  /// Puts the samples of an epoch in order: a function of the number alone. Returns the sizes of
  /// its updates, in units.
  virtual std::vector<std::size_t> begin_epoch(unsigned epoch) = 0;
  /// Makes one update; returns its loss, summed over its units. `epochs_done` counts with a
  /// fraction, for the learning rate.
  virtual double update(unsigned epoch, std::size_t number, double epochs_done) = 0;
  /// Updates so far whose gradient was clipped; of a count that begins anywhere.
  virtual std::uint64_t clips() const = 0;
  /// The mean loss of a unit, for a line of output.
  virtual std::string loss_text(double mean) const;
  /// Without dev data every epoch counts as better.
  virtual bool has_dev() const = 0;
  virtual DevScore score_dev() = 0;
  virtual void save_model() = 0;
  virtual void save_checkpoint(const dynet::SaveOptions& how) = 0;
  /// Value of rank 0, for clocks and signals, which may differ between processes.
  virtual int agreed(int mine) { return mine; }
};

/// Trains until a limit of the run is reached and prints one line an epoch to `out` and to the
/// report, progress to standard error. The best model by dev score is kept. A finished epoch is
/// never lost: its checkpoint is written before the next one begins; that there is room for it is
/// tried out before the first one. However often a run is interrupted and resumed, it does the same
/// updates, unless `max_seconds` ends it.
///
/// A signal that asks to stop, see program::StopSignals, is heard after an update, or when a
/// finished epoch is scored and saved: the checkpoint is written, `out` says how to go on, and
/// program::Stopped is thrown.
void run_epochs(Training& training, TrainState& state, const RunOptions& run, std::ostream& out,
                RunReport* report = nullptr);

/// The learning rate after so many epochs, each of which multiplies it by `decay`.
float decayed_rate(float rate, float decay, double epochs);

/// How likely a word that was seen `count` times is hidden in training, so that a model learns what
/// to make of words that it does not know: a / (a + count).
double hiding_probability(float a, std::size_t count);

/// The end of a warning of unknown tokens: what makes them so, and the option that helps.
std::string too_rare(unsigned min_count, const std::string& option);

/// Options of the command line and their values.
using OptionValues = std::vector<std::pair<std::string, std::string>>;
/// A number as a value of OptionValues.
std::string option_text(double value);
inline std::string option_text(float value) { return option_text(static_cast<double>(value)); }
inline std::string option_text(unsigned value) { return std::to_string(value); }
inline std::string option_text(std::uint64_t value) { return std::to_string(value); }

/// A resumed run goes on as it began: throws UserError if one of the options that the user gave
/// differs from what the run began with, or if the fingerprint of its data does. Both lists name
/// the same options in the same order.
void require_same(const RunOptions& run, const OptionValues& begun, const OptionValues& wanted);
/// The same of a run that begins with a model: `had` is what that one has.
void require_fitting(const RunOptions& run, const OptionValues& had, const OptionValues& wanted);
void require_same_data(const RunOptions& run, std::uint64_t begun, std::uint64_t found);

/// A number that tells sequences of texts apart.
class Fingerprint {
 public:
  void add(std::string_view text);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};
/// Throws dynet::NumericError: the loss must stay a number.
void require_finite(double loss);

}  // namespace nlp

BOOST_CLASS_VERSION(nlp::TrainSettings, 1)
BOOST_CLASS_VERSION(nlp::TrainState, 1)
