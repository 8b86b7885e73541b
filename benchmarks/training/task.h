#pragma once

// Training tasks, each written as a user would.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/training/data.h"
#include "dynet-like/dynet.h"

namespace bench {

/// A model and its samples, used cyclically.
class Task {
 public:
  virtual ~Task() = default;
  /// Copy for another thread, with the same model and samples.
  virtual std::unique_ptr<Task> share() const = 0;
  /// Adds the samples [first, first + count) to an empty graph. Returns the loss.
  virtual dynet::Expression build(dynet::ComputationGraph& cg, std::size_t first,
                                  std::size_t count) = 0;

  dynet::ParameterCollection model;
  std::size_t units = 0;  ///< number of trees or words in all built graphs
};

/// Row of the table: a task, a group size, and reference rates in units per second, per GFLOP/s of
/// the calibrator.
struct Row {
  const char* name;  ///< name in the table
  const char* task;  ///< tree, tagger, columns or lm
  const char* unit;
  std::size_t group;    ///< samples of an update, or sentences of a minibatch
  std::size_t samples;  ///< samples per update
  double mflop;         ///< arithmetic per unit
  double dynet, hand, required, aim;
  bool hand_is_floor;  ///< true: `hand` is computed from the arithmetic instead of measured
};

const std::vector<Row>& rows();

/// Task with initial parameters, on the files in `folder` or, if that is empty, on random data.
std::unique_ptr<Task> make_task(const Row& row, const std::string& folder);

/// Tree-LSTMs with separate gates, and with concatenated gates.
std::unique_ptr<Task> make_tree_lstm(Trees data);
std::unique_ptr<Task> make_tree_cells(Trees data);
std::unique_ptr<Task> make_tagger(TaggedText data, unsigned hidden = 50, bool columns = false);
/// Minibatches of `size` sentences of similar length, the longest first; in random order.
std::vector<std::vector<std::vector<unsigned>>> make_minibatches(const Text& text,
                                                                 std::size_t size);
/// Language model whose samples are minibatches, padded and masked.
std::unique_ptr<Task> make_language_model(const Text& text, std::size_t minibatch,
                                          unsigned hidden = 256);

}  // namespace bench
