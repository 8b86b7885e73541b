#pragma once

#include <ostream>
#include <string>

#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"
#include "examples/vision/digits/model.h"

namespace digits {

using TrainSettings = nlp::TrainSettings;

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_options(CLI::App& app) override;
  void add_settings(nlp::Options& options) override;
  void run() override;
  /// Stores the data settings of this run in the description of the model of --init.
  void describe_data(Description& saved) const { saved.split = description.split; }

  std::string split;
  unsigned folds = 0;  ///< number of folds of a cross-validation; 0: none
  Format format = Format::kAuto;
  Description description;  ///< height and width 0: those of the first picture
  TrainSettings settings;

 private:
  void train_folds(const Corpus& all) const;
};

/// Trains a new model or resumes a run, see nlp::run_epochs. Report::decisive of the dev pictures
/// selects the best model. All pictures have one size.
void train(const TrainCommand& command, const nlp::Parts<Corpus>& data, std::ostream& out);

/// Parses "28x28"; throws nlp::UserError for an invalid size.
void parse_size(const std::string& text, unsigned& height, unsigned& width);

}  // namespace digits
