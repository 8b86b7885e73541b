#pragma once

#include <ostream>
#include <string>

#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"
#include "examples/nlp/common/vectors.h"
#include "model.h"

namespace tagger {

using TrainSettings = nlp::TrainSettings;

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand() : nlp::TrainCommand("Training data", "Data") {}
  void add_options(CLI::App& app) override;
  void add_settings(nlp::Options& options) override;
  void run() override;
  /// Stores the data settings of this run in the description of the model of --init.
  void describe_data(Description& saved) const { saved.data = description.data; }

  std::string format = "auto", column, split;
  std::string vectors_file;  ///< path of pretrained word vectors; may be empty
  nlp::WordVectors vectors;  ///< contents of that file
  Description description;
  TrainSettings settings;
};

/// Trains a new model or resumes a run, see nlp::run_epochs.
void train(const TrainCommand& command, const nlp::Parts<Corpus>& data, std::ostream& out);

}  // namespace tagger
