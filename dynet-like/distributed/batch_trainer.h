#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/train/trainer.h"

namespace dynet {

/// Settings of a BatchTrainer.
struct BatchTrainerOptions {
  unsigned threads = 1;    ///< any number gives the same bits
  unsigned lanes = 8;      ///< parts of a minibatch, each a graph of its own; they decide the bits
  std::uint64_t seed = 1;  ///< of random nodes
  /// Called for each graph before it has nodes: its device, precision, checks.
  std::function<void(ComputationGraph& graph)> configure = nullptr;
};

/// Trains on minibatches with several threads: an update is one line of the training loop, and has
/// the same bits for any number of threads.
///
///     struct Tagger {
///       LookupParameter words;
///       VanillaLSTMBuilder lstm;
///       Parameter w;
///       void new_graph(ComputationGraph& graph) { lstm.new_graph(graph); }
///       Expression loss(ComputationGraph& graph, const Sentence& sentence);
///     };
///     Tagger tagger = ...;
///     AdamTrainer adam(parameters);
///     BatchTrainer trainer(adam, {.threads = 4});
///     for (const std::vector<Sentence>& minibatch : ...)
///       mean_loss = trainer.update(tagger, minibatch, &Tagger::loss);
///
/// A minibatch of n samples is divided into min(n, lanes) graphs of consecutive samples, whose
/// operations are batched: fewer lanes make wider batches, more lanes serve more threads. Gradients
/// are summed as by DistributedTrainer.
class BatchTrainer {
 public:
  /// The trainer must outlive this object, whose threads also run its updates (Trainer::
  /// set_workers). Throws ArgumentError for a number of lanes that LaneTree rejects.
  explicit BatchTrainer(Trainer& trainer, BatchTrainerOptions options = {});
  /// For a run of several processes, each of which passes the same minibatches and computes its
  /// part of the lanes: see DistributedTrainer. `world` must outlive this object.
  BatchTrainer(Trainer& trainer, Communicator& world, BatchTrainerOptions options = {});
  ~BatchTrainer();
  BatchTrainer(const BatchTrainer&) = delete;
  BatchTrainer& operator=(const BatchTrainer&) = delete;

  /// One update with the gradient of the mean of the losses of all samples; returns the mean.
  ///
  /// `loss_of(model, graph, sample)`, which may be a member function of `Model`, adds a sample to a
  /// graph and returns its loss, a scalar. It runs on several threads. `model` is what it needs of
  /// builders and parameters: each thread gets a copy, and copies of builders and parameters share
  /// the values. It must use nothing else that changes. If `Model` has a member `new_graph(graph)`,
  /// as builders have, it is called for every graph before the samples. `samples` is a range with
  /// random access.
  ///
  /// Throws ArgumentError if there are no samples. An exception of `loss_of`, of forward or of
  /// backward is rethrown, that of the first lane that failed; then all gradients are dropped, and
  /// values and the trainer are as before.
  template <class Model, class Samples, class LossOf>
  double update(const Model& model, const Samples& samples, const LossOf& loss_of) {
    std::mutex mutex;
    std::vector<std::unique_ptr<Model>> idle;  // copies that no lane uses
    const auto first = std::begin(samples);
    return update(std::size(samples), [&](ComputationGraph& graph, Interval part) {
      std::unique_lock lock(mutex);
      if (idle.empty()) idle.push_back(std::make_unique<Model>(model));
      std::unique_ptr<Model> mine = std::move(idle.back());
      idle.pop_back();
      lock.unlock();
      if constexpr (requires { mine->new_graph(graph); }) mine->new_graph(graph);
      std::vector<Expression> losses;
      for (std::size_t i = part.begin; i < part.end; ++i)
        losses.push_back(std::invoke(loss_of, *mine, graph, first[static_cast<std::ptrdiff_t>(i)]));
      lock.lock();
      idle.push_back(std::move(mine));
      return losses;
    });
  }

  /// The trainer of lanes, for checkpoints and scores.
  DistributedTrainer& distributed() { return distributed_; }

 private:
  using LossesOf = std::function<std::vector<Expression>(ComputationGraph& graph, Interval part)>;

  BatchTrainer(Trainer& trainer, std::unique_ptr<Communicator> own, Communicator* world,
               BatchTrainerOptions&& options);
  double update(std::size_t samples, const LossesOf& losses_of);

  const std::function<void(ComputationGraph&)> configure_;
  const std::unique_ptr<Communicator> own_;
  Workers workers_;
  DistributedTrainer distributed_;
};

}  // namespace dynet
