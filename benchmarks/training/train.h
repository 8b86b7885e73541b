#pragma once

// Trains a task for a while and watches where the time goes.
#include "benchmarks/training/task.h"

namespace bench {

struct Options {
  double seconds = 10;
  unsigned threads = 1;
  /// Parts of each update's samples, each a graph of its own; 0: 4 where threads can take turns at
  /// them, else 1. What is learned depends on it, and not on the number of threads.
  unsigned shards = 0;
  bool batching = true;
  dynet::Precision precision = dynet::Precision::float32;  ///< of products

  unsigned shards_of(std::size_t samples) const {
    if (samples < 4) return 1;
    return shards != 0 ? shards : threads > 1 ? 4 : 1;
  }
};

/// Costs of a round of training. Seconds are CPU time of the thread, or with several threads of the
/// wall clock; the phases of several shards are CPU time of all threads. The second half was
/// measured in a few updates that are not timed.
struct Result {
  double units = 0, updates = 0, loss = 0, seconds = 0;
  double build = 0, forward = 0, backward = 0, update = 0;

  double plan = 0;                                 ///< a unit; planning is a part of forward
  double nodes = 0, batches = 0, lower_bound = 0;  ///< an update
  double value_mib = 0, gradient_mib = 0;          ///< of the largest update looked at
  double peak_mib = 0;                             ///< resident, of the whole process

  double rate() const { return units / seconds; }
};

/// From fresh parameters: one Adam step for every `samples` samples.
Result train(Task& task, std::size_t samples, const Options& options);

}  // namespace bench
