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

/// State that, with the model, the trainer and the data, determines the result of a distributed
/// run. It is part of a checkpoint.
struct DistributedState {
  std::uint32_t lanes = 32;   ///< number of parts of a minibatch
  std::uint64_t seed = 1;     ///< of random nodes
  std::uint64_t updates = 0;  ///< minibatches so far

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive& lanes& seed& updates;
    if (version != 1) return;
    std::uint32_t compression = 0;  // of gradients in messages; only in version 1
    archive& compression;
    if (compression != 0)
      throw FileError(
          "this checkpoint is of a run whose messages were rounded to bfloat16, which this version "
          "does not do: begin again");
  }
};

/// Copies the values of rank 0 to all processes; all must have the same parameters. Throws
/// CommunicationError otherwise.
void synchronize(Communicator& world, const ParameterCollection& parameters);

/// A part of a minibatch; its gradients are one term of the update's sum.
struct Lane {
  unsigned number;     ///< index among all lanes of the run
  Interval samples;    ///< of the minibatch; some lanes are empty if there are few samples
  std::uint64_t seed;  ///< for random nodes: a function of the run's seed, the update and `number`
  unsigned place;      ///< index among the process's lanes

  /// Must be called for the graph of this lane before its backward pass, and before nodes are added
  /// if some are random: assigns the gradient buffer and the seed of the lane.
  void begin(ComputationGraph& graph) const;
};

/// Data-parallel training; results have the same bits for any number of processes and threads.
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
/// All processes build the same model and read the same data; each computes its own lanes. Before
/// the first update they compare versions, instruction sets, the trainer's settings and state, and
/// all parameters; compare everything else that determines the result, above all the data, by
/// require_same. `update` sums the gradients of all lanes along a tree that depends only on the
/// number of lanes (LaneTree); then every process performs the same update: norm, clipping, skipped
/// updates, schedules and averages are equal because the sums are equal. A group of one process
/// sends nothing.
///
/// Gradients of parameters outside the trainer's collection are dropped. Gradients on a device are
/// summed there within a process, and in the CPU's memory between processes, with the same bits.
/// The update runs on the device if all gradients of all processes are on devices. All processes
/// must use the same CPU instruction set (DYNET_ISA) and the same kind of device.
///
/// An error of one process ends the run: all others throw CommunicationError with its rank.
class DistributedTrainer {
 public:
  /// `check_every`: the values of all parameters are compared between processes before the first
  /// update of this object and after every `check_every` updates; 0: never. Trainer, communicator
  /// and workers must outlive this object. Throws ArgumentError for a number of lanes that LaneTree
  /// rejects.
  DistributedTrainer(Trainer& trainer, Communicator& world, const DistributedState& state = {},
                     Workers* workers = nullptr, std::uint64_t check_every = 100);
  ~DistributedTrainer();
  DistributedTrainer(const DistributedTrainer&) = delete;
  DistributedTrainer& operator=(const DistributedTrainer&) = delete;

  /// Calls `learn` for each lane of this process, on the threads of `workers`; `learn` returns the
  /// lane's loss, for `loss`. Lanes without samples are skipped. If `learn` throws, the other
  /// processes are notified and the gradients are dropped. Gradients must not be read between this
  /// call and `update`.
  void for_each_lane(std::size_t samples, const std::function<double(const Lane&)>& learn);
  /// One update on every process with the sum of the gradients of all lanes, times `scale`. Returns
  /// false if it was skipped, see Trainer::update; errors are thrown on all processes.
  ///
  /// Throws CommunicationError, which names a rank, if processes have different settings, sizes of
  /// the minibatch, or values of a parameter. Throws ArgumentError for gradients outside the
  /// buffers of lanes.
  bool update(real scale = 1);
  /// Sum of the results of `learn` over all lanes of all processes in the last update, in the order
  /// of lanes.
  double loss() const { return loss_; }

  /// Sums the lists that `score` returns for parts of `samples` over all processes, in the order of
  /// lanes: counts of correct answers, of words, a sum of losses. All lists must have equal
  /// lengths. Empty for no samples. Single-threaded. Throws CommunicationError if processes have
  /// different numbers of samples.
  std::vector<double> score(std::size_t samples,
                            const std::function<std::vector<double>(Interval)>& score) const;

  /// Copies the values and the trainer's state of rank 0 to all processes.
  void synchronize();
  /// Compares all parameters with rank 0. Throws CommunicationError, which names the first
  /// different parameter and a rank.
  void compare_parameters();
  /// Collective: rank 0 writes a checkpoint, as Checkpoints::save, while the other ranks wait.
  /// Returns the path on all processes. Errors are thrown on all.
  template <class... Ts>
  std::string save(const Checkpoints& to, const Ts&... things) {
    std::string path;
    before_saving();
    on_rank_zero(world_, [&] { path = to.save(state_, things...); });
    return broadcast_text(path);
  }
  /// Collective: every process loads the newest checkpoint from a shared folder, including the
  /// number of lanes, the seed and the number of updates. Returns false if there is none.
  template <class... Ts>
  bool load(const Checkpoints& from, Ts&... things) {
    DistributedState state;
    bool found = false;
    guarded(world_, [&] { found = from.load(state, things...); });
    if (found) restore(state);
    need_all(found);
    return found;
  }

  /// Checksum of the names and values of all parameters; equal on all processes.
  std::uint64_t parameter_checksum() const;

  /// The state that is saved in addition to the trainer.
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
  std::shared_ptr<DeviceAllocator> device_;  // device of the last gradients of this process
  double loss_ = 0;
  std::size_t samples_ = 0;  // of the minibatch
  bool compared_ = false;    // set before the first update
};

}  // namespace dynet

BOOST_CLASS_VERSION(dynet::DistributedState, 2)
