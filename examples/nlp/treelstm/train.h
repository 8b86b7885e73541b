#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/training.h"
#include "examples/nlp/treelstm/model.h"
#include "examples/nlp/treelstm/trees.h"

namespace treelstm {

/// How to train: what a resumed run must keep.
struct TrainSettings {
  unsigned batch = 16;  ///< trees per update
  float learning_rate = 0.001f;
  float decay = 1.0f;          ///< the learning rate is multiplied by this over each epoch
  float clip = 5.0f;           ///< largest gradient norm of an update, 0 for no clipping
  float weight_decay = 1e-5f;  ///< see Model::set_weight_decay
  float unknown = 0.25f;       ///< a: a word seen n times is hidden with probability a / (a + n)
  std::uint64_t seed = 1;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& batch& learning_rate& decay& clip& weight_decay& unknown& seed;
  }
};

/// What to train, and how.
struct TrainRequest : nlp::RunOptions {
  ModelSettings model_settings;
  TrainSettings settings;
};

/// Trains a new model, or goes on with the run that the checkpoint holds (`resume`; all settings
/// but the limits then come from there, and must agree with those that the user gave), as
/// nlp::run_epochs does. The root's accuracy on the dev
/// trees decides which model is best. The result of a run depends on the data, the settings and the
/// seed alone, however often it was interrupted.
void train(const TrainRequest& request, const Treebank& train_trees, const Treebank& dev_trees,
           std::ostream& out);

}  // namespace treelstm
