#pragma once

#include <ostream>

#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"
#include "examples/nlp/translate/model.h"

namespace translate {

/// How to train: what a resumed run must keep.
struct TrainSettings : nlp::TrainSettings {
  unsigned tokens = 2000;  ///< most tokens of the translations of an update
  float smoothing = 0.1f;  ///< probability that goes to all tokens alike
  unsigned warmup = 0;     ///< updates until the learning rate is full; 0: it decays by epochs
  float average = 0;       ///< see nlp::ModelTraining::average
  float own_tokens = 0;    ///< probability that a token that it would have written is read

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& optimizer& learning_rate& decay& clip& batch& tokens& smoothing& warmup& average&
        own_tokens& seed& mean_loss& parts;
  }
  void check() const;  ///< see nlp::Checked
};

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_settings(nlp::Options& options) override;
  void run() override;
  /// Chooses the units that the user has left open, and says on standard error why.
  void choose_units(const Corpus& pairs);
  /// Stores the data settings of this run in the description of the model of --init.
  void describe_data(Description& saved) const {
    saved.format = description.format;
    saved.split = description.split;
  }

  std::string format = "tab", split;
  Description description;
  TrainSettings settings;
};

/// Trains a new model or goes on with a run, see nlp::run_epochs.
void train(const TrainCommand& command, const nlp::Parts<Corpus>& data, std::ostream& out);

}  // namespace translate
