#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// How the samples of an epoch become updates.
struct UpdateSettings {
  unsigned batch = 1;  ///< samples an update
  float learning_rate = 0;
  float decay = 1;  ///< of the rate, over each epoch
  std::uint64_t seed = 1;
  bool average = false;  ///< gradients of the mean loss of an update; else of the sum
};

template <class TrainSettings>
UpdateSettings update_settings(const TrainSettings& s, bool average = false) {
  return {s.batch, s.learning_rate, s.decay, s.seed, average};
}

/// Training on samples that have a loss of their own each, in an order that is drawn for each
/// epoch.
class SampleTraining : public Training {
 public:
  std::vector<std::size_t> begin_epoch(unsigned epoch) override;
  double update(unsigned epoch, std::size_t number, double epochs_done) override;

 protected:
  SampleTraining(dynet::Trainer& trainer, const UpdateSettings& settings)
      : trainer_(trainer), settings_(settings) {}

  /// One more sample, of so many units.
  void add_sample(std::size_t units) { sizes_.push_back(units); }
  /// What the losses that follow share.
  virtual void begin_graph(dynet::ComputationGraph& graph) = 0;
  /// The loss of a sample by its number; `random` is for this sample in this epoch.
  virtual dynet::Expression loss(dynet::ComputationGraph& graph, std::size_t sample,
                                 Random& random) = 0;

 private:
  dynet::Trainer& trainer_;
  const UpdateSettings settings_;
  std::vector<std::size_t> sizes_;  ///< of the samples
  std::vector<std::size_t> order_;  ///< of the samples in this epoch
  // Kept from update to update for their memory.
  dynet::ComputationGraph graph_;
  std::vector<dynet::Expression> losses_;
};

}  // namespace nlp
