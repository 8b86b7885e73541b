#pragma once

#include <ostream>
#include <string>

#include "examples/nlp/classifier/model.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"

namespace classifier {

using TrainSettings = nlp::TrainSettings;

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_settings(nlp::Options& options) override;
  void run() override;
  /// Stores the data settings of this run in the description of the model of --init.
  void describe_data(Description& saved) const { saved.split = description.split; }

  std::string split;
  Description description;
  TrainSettings settings;
};

/// Trains a new model or resumes a run, see nlp::run_epochs. Report::decisive of the dev texts
/// selects the best model.
void train(const TrainCommand& command, const nlp::Parts<Corpus>& data, std::ostream& out);

}  // namespace classifier
