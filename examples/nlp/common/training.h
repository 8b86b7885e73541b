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

/// Training settings of most programs, which must be equal in a resumed run.
struct TrainSettings {
  Optimizer optimizer = Optimizer::kAdam;
  unsigned batch = 1;  ///< samples per update
  float learning_rate = 0.002f;
  float decay = 0.8f;     ///< factor of the learning rate per epoch
  float clip = 5.0f;      ///< maximum gradient norm of an update, 0 for no clipping
  float unknown = 0.25f;  ///< a: a word with n occurrences is hidden with probability a / (a + n)
  std::uint64_t seed = 1;
  /// True: the loss is the mean over units, such as words, so that the gradient is independent of
  /// the batch size. False in runs of an older version, with the sum.
  bool mean_loss = true;
  unsigned parts = 1;  ///< graphs that share the samples of an update

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& batch& learning_rate& decay& clip& unknown& seed;
    serialize_mean_loss(archive, version);
    if (version > 0) archive& parts;
  }
  void check() const;  ///< see Checked

 protected:
  /// Checkpoints of version 0 lack `mean_loss`.
  template <typename Archive>
  void serialize_mean_loss(Archive& archive, unsigned int version) {
    mean_loss = version > 0 && mean_loss;
    if (version > 0) archive& mean_loss;
  }
};

/// Limits of a run.
struct TrainLimits {
  unsigned epochs = 10;
  unsigned patience = 3;   ///< epochs without a better dev score before training stops; 0: no limit
  double max_seconds = 0;  ///< 0: no limit
};

/// Common options of training runs.
struct RunOptions {
  std::string train, dev, test;  ///< paths; dev and test may be empty
  TextOptions text;              ///< format of the texts
  std::string model;             ///< path of the best model
  std::string report;            ///< path of JSON lines, see RunReport; may be empty
  std::string tensorboard;       ///< folder for TensorBoard, see RunReport; may be empty
  std::string init;              ///< path of an initial model; may be empty
  bool resume = false;           ///< continue the run of the checkpoint
  bool force = false;            ///< replace an existing model and checkpoint
  dynet::Device* device = &dynet::kCpu;
  unsigned threads = 1;
  TrainLimits limits;
  std::vector<std::string> given;  ///< names of the options on the command line
  /// Processes of the run; only rank 0 writes files and lines.
  std::shared_ptr<dynet::Communicator> world = dynet::make_self_communicator();

  bool was_given(const std::string& option) const;
  /// Path of the checkpoint.
  std::string checkpoint() const { return model + ".checkpoint"; }
};

/// Progress of a run; part of its checkpoint.
struct TrainState {
  std::uint64_t data_mark = 0;  ///< identifies the training data
  unsigned epoch = 0;           ///< finished epochs
  std::uint64_t position = 0;   ///< updates made in the current epoch
  double loss = 0;              ///< summed over those updates
  std::uint64_t clipped = 0;    ///< updates of the current epoch with clipped gradients
  double best_score = 0;
  unsigned best_epoch = 0;  ///< 0: none yet

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& data_mark& epoch& position& loss& best_score& best_epoch;
    if (version > 0) archive& clipped;
  }
  void check() const;  ///< see Checked; `position` is checked by the loop
};

/// Score of a model on the dev data.
struct DevScore {
  double score = 0;      ///< higher is better
  std::string text;      ///< "dev accuracy 93.21 %"
  Figures figures = {};  ///< for the report
};

/// Interface of a program to the training loop. Epochs count from 1, updates of an epoch from 0.
class Training {
 public:
  Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  virtual ~Training() = default;

  /// Unit of progress: "words".
  virtual std::string unit() const = 0;
  /// Determines the order of the samples of an epoch, as a function of its number. Returns the
  /// sizes of its updates, in units.
  virtual std::vector<std::size_t> begin_epoch(unsigned epoch) = 0;
  /// Makes one update; returns its loss, summed over units. `epochs_done` is a fraction, for the
  /// learning rate.
  virtual double update(unsigned epoch, std::size_t number, double epochs_done) = 0;
  /// Number of updates with clipped gradients; only differences matter.
  virtual std::uint64_t clips() const = 0;
  /// Mean loss per unit, as text for a line of output.
  virtual std::string loss_text(double mean) const;
  /// False: every epoch counts as better.
  virtual bool has_dev() const = 0;
  virtual DevScore score_dev() = 0;
  virtual void save_model() = 0;
  virtual void save_checkpoint(const dynet::SaveOptions& how) = 0;
  /// Value of rank 0, for clocks and signals, which differ between processes.
  virtual int agreed(int mine) { return mine; }
};

/// Trains until a limit of the run is reached; prints one line per epoch to `out` and to the
/// report, and progress to standard error. Saves the model with the best dev score. A checkpoint is
/// written after every epoch; a dry run of saving before the first epoch detects a full disk early.
/// An interrupted and resumed run makes the same updates as an uninterrupted one, unless
/// `max_seconds` ends it.
///
/// Stop signals, see program::StopSignals, are handled after an update and after the scoring and
/// saving of an epoch: the checkpoint is written, `out` explains how to resume, and
/// program::Stopped is thrown.
void run_epochs(Training& training, TrainState& state, const RunOptions& run, std::ostream& out,
                RunReport* report = nullptr);

/// Learning rate after `epochs` epochs, each of which multiplies it by `decay`.
float decayed_rate(float rate, float decay, double epochs);

/// Probability of hiding a word with `count` occurrences in training, to train the vector of
/// unknown words: a / (a + count).
double hiding_probability(float a, std::size_t count);

/// End of a warning of unknown tokens: the reason, and the option that helps.
std::string too_rare(unsigned min_count, const std::string& option);

/// Options of the command line and their values.
using OptionValues = std::vector<std::pair<std::string, std::string>>;

/// Checks a resumed run: throws UserError if an option given by the user, or the fingerprint of the
/// data, differs from the original run. Both lists have the same options in the same order.
void require_same(const RunOptions& run, const OptionValues& begun, const OptionValues& wanted);
/// Checks a run with an initial model, whose options are `had`.
void require_fitting(const RunOptions& run, const OptionValues& had, const OptionValues& wanted);
void require_same_data(const RunOptions& run, std::uint64_t begun, std::uint64_t found);

/// Hash of a sequence of texts.
class Fingerprint {
 public:
  void add(std::string_view text);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};
/// Throws dynet::NumericError for a loss that is not finite.
void require_finite(double loss);

}  // namespace nlp

BOOST_CLASS_VERSION(nlp::TrainSettings, 1)
BOOST_CLASS_VERSION(nlp::TrainState, 1)
