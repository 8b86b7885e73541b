#pragma once

#include <ostream>
#include <string>

#include "examples/mixed/emoji/model.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"

namespace emoji {

using TrainSettings = nlp::TrainSettings;

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_settings(nlp::Options& options) override;
  void run() override;
  /// Stores the data settings of this run in the description of the model of --init.
  void describe_data(Description& saved) const {
    saved.split = description.split;
    saved.split_seed = description.split_seed;
  }

  std::string split, split_seed = "1";
  Description description;
  TrainSettings settings;
};

}  // namespace emoji
