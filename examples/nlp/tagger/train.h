#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "corpus.h"
#include "examples/nlp/common/training.h"
#include "model.h"

namespace tagger {

/// How to train: what a resumed run must keep.
struct TrainSettings {
  unsigned batch = 1;  ///< sentences per update
  float learning_rate = 0.002f;
  float decay = 0.8f;     ///< the learning rate is multiplied by this over each epoch
  float clip = 5.0f;      ///< largest gradient norm, 0 for no clipping
  float unknown = 0.25f;  ///< a: a word seen n times is hidden with probability a / (a + n)
  std::uint64_t seed = 1;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& batch& learning_rate& decay& clip& unknown& seed;
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

}  // namespace tagger
