#pragma once

#include <ostream>

#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"
#include "examples/nlp/translate/model.h"

namespace translate {

/// Training settings, which must be equal in a resumed run.
struct TrainSettings : nlp::TrainSettings {
  unsigned tokens = 2000;  ///< maximum number of target tokens per update
  float smoothing = 0.1f;  ///< total probability of label smoothing
  unsigned warmup = 0;     ///< updates of learning rate warm-up; 0: decay by epochs
  float average = 0;       ///< see nlp::ModelTraining::average
  float own_tokens = 0;    ///< probability of reading the model's own token (scheduled sampling)

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
  /// Selects the units that the user left open, and prints the reasons on standard error.
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

/// Trains a new model or resumes a run, see nlp::run_epochs.
void train(const TrainCommand& command, const nlp::Parts<Corpus>& data, std::ostream& out);

}  // namespace translate
