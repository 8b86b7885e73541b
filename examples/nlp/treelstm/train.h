#pragma once

#include <ostream>

#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"
#include "examples/nlp/treelstm/model.h"

namespace treelstm {

/// How to train: what a resumed run must keep.
struct TrainSettings : nlp::TrainSettings {
  float weight_decay = 1e-5f;  ///< see Model::set_weight_decay

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& batch& learning_rate& decay& clip& weight_decay& unknown& seed;
  }
};

/// What to train, and how.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_settings(nlp::Options& options) override;
  void run() override;

  Description description;
  TrainSettings settings;
};

/// Trains a new model or goes on with a run, see nlp::run_epochs. The root's accuracy on the dev
/// trees decides which model is best.
void train(const TrainCommand& command, const nlp::Parts<Treebank>& data, std::ostream& out);

}  // namespace treelstm
