#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "corpus.h"
#include "model.h"

namespace tagger {

/// How to train. What a resumed run must keep is saved; the limits may be changed.
struct TrainSettings {
  unsigned batch = 1;  ///< sentences per update
  float learning_rate = 0.002f;
  float decay = 0.8f;     ///< the learning rate is multiplied by this over each epoch
  float clip = 5.0f;      ///< largest gradient norm, 0 for no clipping
  float unknown = 0.25f;  ///< a: a word seen n times is hidden with probability a / (a + n)
  std::uint64_t seed = 1;
  // Limits, not saved.
  unsigned epochs = 10;
  unsigned patience = 3;   ///< epochs without a better dev score before training ends; 0: no end
  double max_seconds = 0;  ///< 0: no limit

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& batch& learning_rate& decay& clip& unknown& seed;
  }
};

/// Where training has come to.
struct TrainState {
  std::uint64_t data_mark = 0;  ///< tells training data apart
  unsigned epoch = 0;           ///< finished epochs
  std::uint64_t position = 0;   ///< sentences of the running epoch that are done
  double loss = 0;              ///< summed over those sentences
  double best_score = -1;
  unsigned best_epoch = 0;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& data_mark& epoch& position& loss& best_score& best_epoch;
  }
};

/// The files of one training run.
struct TrainFiles {
  std::string model;       ///< the best model so far
  std::string checkpoint;  ///< everything needed to go on
};
TrainFiles train_files(const std::string& model);

/// What to train, and how.
struct TrainRequest {
  DataSettings data;
  ModelSettings model;
  TrainSettings settings;
  bool resume = false;
  /// The options that the user gave, by name. A resumed run goes on as it began, so these must
  /// agree with what it began with.
  std::vector<std::string> given;
  TrainFiles files;
};

/// Trains a new model, or goes on with the run that the checkpoint holds (`resume`; all settings
/// but the limits then come from there). Without dev data every epoch counts as better. Results go
/// to `out`, one line an epoch. A finished epoch is never lost: its checkpoint is written before
/// the next one begins. The result of a run depends on the data, the settings and the seed alone,
/// however often it was interrupted, unless `max_seconds` ends it.
void train(const TrainRequest& request, const Corpus& train_corpus, const Corpus& dev_corpus,
           std::ostream& out);

}  // namespace tagger
