#pragma once

// Trains a task for some time and measures its phases.
#include "benchmarks/training/task.h"

namespace bench {

struct Options {
  double seconds = 10;
  unsigned threads = 1;
  /// Parts of each update's samples, each with its own graph; 0: 4 with several threads, otherwise
  /// 1. Results depend on this number, but not on the number of threads.
  unsigned shards = 0;
  bool batching = true;
  dynet::Precision precision = dynet::Precision::float32;  ///< of matrix products

  unsigned shards_of(std::size_t samples) const {
    if (samples < 4) return 1;
    return shards != 0 ? shards : threads > 1 ? 4 : 1;
  }
};

/// Costs of a round of training. Times are CPU seconds of the thread, or wall-clock seconds with
/// several threads; phases of several shards are CPU seconds of all threads. The second half is
/// measured in a few updates that are not timed.
struct Result {
  double units = 0, updates = 0, loss = 0, seconds = 0;
  double build = 0, forward = 0, backward = 0, update = 0;

  double plan = 0;                                 ///< per unit; planning is a part of forward
  double nodes = 0, batches = 0, lower_bound = 0;  ///< per update
  double value_mib = 0, gradient_mib = 0;          ///< of the largest examined update
  double peak_mib = 0;                             ///< resident memory of the process

  double rate() const { return units / seconds; }
};

/// Trains from initial parameters: one Adam step for every `samples` samples.
Result train(Task& task, std::size_t samples, const Options& options);

}  // namespace bench
