#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/common/training.h"
#include "examples/nlp/parser/conllu.h"
#include "examples/nlp/parser/model.h"

namespace parser {

/// How to train: what a resumed run must keep.
struct TrainSettings {
  unsigned batch = 8;  ///< sentences per update
  float learning_rate = 0.002f;
  float decay = 0.8f;     ///< the learning rate is multiplied by this over each epoch
  float clip = 5.0f;      ///< largest gradient norm of an update, 0 for no clipping
  float unknown = 0.25f;  ///< a: a word seen n times is hidden with probability a / (a + n)
  std::uint64_t seed = 1;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& batch& learning_rate& decay& clip& unknown& seed;
  }
};

/// What to train, and how.
struct TrainRequest : nlp::RunOptions {
  ModelSettings model_settings;
  TrainSettings settings;
};

/// Trains a new model, or goes on with the run that the checkpoint holds (`resume`; all settings
/// but the limits then come from there, and must agree with those that the user gave), as
/// nlp::run_epochs does. The LAS on the dev sentences
/// decides which model is best. The result of a run depends on the data, the settings and the seed
/// alone, however often it was interrupted.
void train(const TrainRequest& request, const Treebank& train_sentences,
           const Treebank& dev_sentences, std::ostream& out);

/// How many sentences are parsed together where nobody says otherwise.
inline constexpr std::size_t kTogether = 32;

}  // namespace parser
