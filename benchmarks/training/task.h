#pragma once

// The training tasks, each as the plain program that a user writes.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/training/data.h"
#include "dynet-like/dynet.h"

namespace bench {

/// A model and its samples, which are taken round and round.
class Task {
 public:
  virtual ~Task() = default;
  /// The same model and samples for another thread.
  virtual std::unique_ptr<Task> share() const = 0;
  /// Adds `count` samples, from number `first` on, to an empty graph. Returns the loss.
  virtual dynet::Expression build(dynet::ComputationGraph& cg, std::size_t first,
                                  std::size_t count) = 0;

  dynet::ParameterCollection model;
  std::size_t units = 0;  ///< trees or words in all that was built
};

/// One row of the table: a task, a size of group, and what others reach, in units a second for
/// each GFLOP/s of the calibrator.
struct Row {
  const char* name;  ///< as in the table
  const char* task;  ///< tree, tagger or lm
  const char* unit;
  std::size_t group;    ///< samples of an update, or sentences of a minibatch
  std::size_t samples;  ///< of an update
  double mflop;         ///< arithmetic of a unit
  double dynet, hand, required, aim;
  bool hand_is_floor;  ///< nobody wrote it by hand: computed from the arithmetic
};

const std::vector<Row>& rows();

/// A task with fresh parameters, on the files below `folder` or, if that is empty, random data.
std::unique_ptr<Task> make_task(const Row& row, const std::string& folder);

/// Gate by gate, and with the gates of a node in one vector.
std::unique_ptr<Task> make_tree_lstm(Trees data);
std::unique_ptr<Task> make_tree_cells(Trees data);
std::unique_ptr<Task> make_tagger(TaggedText data, unsigned hidden = 50);
/// So many sentences of similar length each, the longest first; in random order.
std::vector<std::vector<std::vector<unsigned>>> make_minibatches(const Text& text,
                                                                 std::size_t size);
/// A sample is a minibatch, padded and masked.
std::unique_ptr<Task> make_language_model(const Text& text, std::size_t minibatch,
                                          unsigned hidden = 256);

}  // namespace bench
