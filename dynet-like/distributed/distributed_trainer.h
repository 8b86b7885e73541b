#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/gradient_adder.h"
#include "dynet-like/distributed/lanes.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/train/trainer.h"

namespace dynet {

/// State that determines the result of a distributed run, besides the model, the trainer and the
/// data. A checkpoint holds it.
struct DistributedState {
  std::uint32_t lanes = 32;   ///< how many parts a minibatch has
  std::uint64_t seed = 1;     ///< of the draws of graphs
  std::uint64_t updates = 0;  ///< minibatches so far

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive& lanes& seed& updates;
    if (version != 1) return;
    std::uint32_t compression = 0;  // of gradients in messages
    archive& compression;
    if (compression != 0)
      throw FileError(
          "this checkpoint is of a run whose messages were rounded to bfloat16, which this version "
          "does not do: begin again");
  }
};

/// Gives every process the values that rank 0 has; all must have the same parameters. Throws
/// CommunicationError otherwise.
void synchronize(Communicator& world, const ParameterCollection& parameters);

/// A part of a minibatch: its gradients are one summand of the update.
struct Lane {
  unsigned number;     ///< among all lanes of the run, from 0
  Interval samples;    ///< of the minibatch; none for some lanes if there are few
  std::uint64_t seed;  ///< of its draws: a function of the run's seed, the update and the number
  unsigned place;      ///< among the process' lanes, from 0

  /// To be called for the graph of this lane before its backward pass, and before its nodes if it
  /// draws at random: gradients go to the lane's buffer, and draws follow `seed`.
  void begin(ComputationGraph& graph) const;
};

/// Data-parallel training whose bits do not depend on how many processes and threads take part.
///
///     DistributedTrainer distributed(trainer, *world);
///     for (each minibatch) {
///       distributed.for_each_lane(minibatch.size(), [&](const Lane& lane) {
///         ComputationGraph cg;
///         lane.begin(cg);
///         Expression loss = sum of the losses of the samples lane.samples of the minibatch;
///         const double value = as_scalar(cg.forward(loss));
///         cg.backward(loss);
///         return value;
///       });
///       distributed.update(1.0f / minibatch.size());
///     }
///
/// All processes build the same model and read the same data; each computes the lanes that are its
/// own. Before the first update they compare versions, instruction sets, the trainer's settings and
/// state, and all parameters; what else decides the result, the data above all, is compared by
/// require_same. `update` sums the gradients of all lanes along a tree that depends on the number
/// of lanes alone (LaneTree), and then every process takes the same step by itself: norm, clipping,
/// skipped updates, schedules and averages are the same everywhere because the sum is. A group of
/// one sends nothing.
///
/// Gradients of parameters outside the trainer's collection are dropped. Gradients on a device are
/// summed there within a process, and over processes in the CPU's memory, with the same bits.
/// The update is made on the device if all gradients of all processes come from devices.
/// Processes must run on CPUs with the same instruction set (DYNET_ISA), and on devices of one
/// kind.
///
/// Errors of one process end all: they throw CommunicationError with its rank and message.
class DistributedTrainer {
 public:
  /// `check_every`: after so many updates, and before the first that this object makes, the values
  /// of all parameters are compared between processes; 0: never. Trainer, communicator and workers
  /// must outlive this. Throws ArgumentError for a number of lanes that LaneTree does not take.
  DistributedTrainer(Trainer& trainer, Communicator& world, const DistributedState& state = {},
                     Workers* workers = nullptr, std::uint64_t check_every = 100);
  ~DistributedTrainer();
  DistributedTrainer(const DistributedTrainer&) = delete;
  DistributedTrainer& operator=(const DistributedTrainer&) = delete;

  /// Calls `learn` for each lane of this process, on the threads of the workers; it returns the
  /// lane's loss, for `loss`. Lanes without samples are left out. If it throws, the other processes
  /// are told, and the gradients are dropped. Nothing may read gradients from here to `update`.
  void for_each_lane(std::size_t samples, const std::function<double(const Lane&)>& learn);
  /// One step with the sum of the gradients of all lanes, times `scale`, on every process. True if
  /// it was made: see Trainer::update, whose errors are thrown on all processes alike.
  ///
  /// Throws CommunicationError if processes disagree: on their settings, on the size of the
  /// minibatch, or on the value of a parameter, naming a rank. Throws ArgumentError for gradients
  /// that are in no lane's buffer.
  bool update(real scale = 1);
  /// Sum of the results of `learn` for all lanes of all processes in the last update, added up in
  /// the order of lanes.
  double loss() const { return loss_; }

  /// Sums what `score` returns for parts of `samples`, over all processes, in the order of lanes:
  /// counts of right answers, of words, a sum of losses. Lists of the same length. Empty for no
  /// samples. One thread. Throws CommunicationError if processes have different numbers of samples.
  std::vector<double> score(std::size_t samples,
                            const std::function<std::vector<double>(Interval)>& score) const;

  /// Gives every process the values and the trainer's state of rank 0.
  void synchronize();
  /// Throws CommunicationError, naming the first parameter that is not what it is on rank 0, and a
  /// rank.
  void compare_parameters();
  /// Rank 0 writes a checkpoint, as Checkpoints::save, and the others wait; all must call it.
  /// Returns the path, on all processes. Errors are thrown on all.
  template <class... Ts>
  std::string save(const Checkpoints& to, const Ts&... things) {
    std::string path;
    before_saving();
    on_rank_zero(world_, [&] { path = to.save(state_, things...); });
    return broadcast_text(path);
  }
  /// Every process loads the newest checkpoint, from a folder that all see. False if there is none.
  /// The number of lanes, the seed and the number of updates are then those of the file.
  template <class... Ts>
  bool load(const Checkpoints& from, Ts&... things) {
    DistributedState state;
    bool found = false;
    guarded(world_, [&] { found = from.load(state, things...); });
    if (found) restore(state);
    need_all(found);
    return found;
  }

  /// Checksum of names and values of all parameters here: equal on all processes.
  std::uint64_t parameter_checksum() const;

  /// State that a checkpoint holds besides the trainer.
  const DistributedState& state() const { return state_; }
  /// The lanes of this process.
  Interval own_lanes() const;
  Communicator& world() const { return world_; }
  Trainer& trainer() const { return trainer_; }

 private:
  struct Tree;

  void before_saving();
  void restore(const DistributedState& state);
  void need_all(bool found);
  std::string broadcast_text(const std::string& text);
  void sum_gradients(real scale);
  void put_on_device(GradientBuffer& total);
  std::vector<std::uint64_t> checksums() const;
  RunFacts facts();
  std::vector<std::uint64_t> numbers_to_agree_on(real scale) const;

  Trainer& trainer_;
  Communicator& world_;
  DistributedState state_;
  Workers* workers_;
  std::uint64_t check_every_;
  std::unique_ptr<Tree> tree_;
  std::vector<double> losses_;  // by own lane
  std::vector<char> reported_;
  std::shared_ptr<DeviceAllocator> device_;  // where gradients of this process were last
  double loss_ = 0;
  std::size_t samples_ = 0;  // of the minibatch
  bool compared_ = false;    // before the first update
};

}  // namespace dynet

BOOST_CLASS_VERSION(dynet::DistributedState, 2)
