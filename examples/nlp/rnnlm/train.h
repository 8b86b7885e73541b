#pragma once

#include <boost/serialization/version.hpp>
#include <ostream>
#include <string>

#include "examples/nlp/common/train_command.h"
#include "model.h"

namespace rnnlm {

using nlp::Optimizer;

/// Training settings, which must be equal in a resumed run.
struct TrainSettings : nlp::TrainSettings {
  unsigned tokens = 1500;   ///< maximum number of tokens per update, with padding
  unsigned truncate = 200;  ///< maximum number of steps of truncated backpropagation
  unsigned warmup = 0;      ///< updates with growing learning rate

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& optimizer& learning_rate& decay& clip& batch& tokens& truncate& seed;
    serialize_mean_loss(archive, version);  // version 0: mean per sentence
    if (version > 0) archive& parts;
    if (version > 1) archive& warmup;
  }
  void check() const;  ///< see nlp::Checked
};

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_options(CLI::App& app) override;
  void add_settings(nlp::Options& options) override;
  void run() override;
  /// Stores the data settings of this run in the description of the model of --init.
  void describe_data(Description& saved) const;

  std::string format = "auto", split;
  Description description;
  TrainSettings settings;
};

/// Trains a new model or resumes a run, see nlp::run_epochs.
void train(const TrainCommand& command, const nlp::Parts<Corpus>& data, std::ostream& out);

}  // namespace rnnlm

BOOST_CLASS_VERSION(rnnlm::TrainSettings, 2)
