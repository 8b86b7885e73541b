#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/training.h"
#include "model.h"

namespace rnnlm {

enum class Optimizer { kAdam, kSgd };
const char* optimizer_name(Optimizer optimizer);
/// Throws UserError listing the names.
Optimizer optimizer_from_name(const std::string& name);

/// How to train: what a resumed run must keep.
struct TrainSettings {
  Optimizer optimizer = Optimizer::kAdam;
  float learning_rate = 0.005f;
  float decay = 0.6f;       ///< the learning rate is multiplied by this over each epoch
  float clip = 5.0f;        ///< largest gradient norm, 0 for no clipping
  unsigned batch = 16;      ///< sentences per update
  unsigned tokens = 1500;   ///< most tokens per update, with padding
  unsigned truncate = 200;  ///< steps that a gradient goes back at most
  std::uint64_t seed = 1;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& optimizer& learning_rate& decay& clip& batch& tokens& truncate& seed;
  }
};

/// What to train, and how.
struct TrainRequest : nlp::RunOptions {
  DataSettings data;
  ModelSettings model_settings;
  TrainSettings settings;
};

/// Trains a new model, or goes on with the run that the checkpoint holds (`resume`; all settings
/// but the limits then come from there, and must agree with those that the user gave), as
/// nlp::run_epochs does. The result of a run depends on
/// the data, the settings and the seed alone, however often it was interrupted.
void train(const TrainRequest& request, const Corpus& train_corpus, const Corpus& dev_corpus,
           std::ostream& out);

}  // namespace rnnlm
