#pragma once

#include <ostream>

#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"

namespace annotate {

using TrainSettings = nlp::TrainSettings;

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_settings(nlp::Options& options) override;
  void run() override;

  Description description;
  TrainSettings settings;
};

/// Trains a new model or resumes a run, see nlp::run_epochs. The LAS of the dev text selects the
/// best model.
void train(const TrainCommand& command, const nlp::Parts<Treebank>& data, std::ostream& out);

}  // namespace annotate
