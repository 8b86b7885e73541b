#pragma once

#include "tests/examples/helpers.h"

/// Gradients of `loss(graph, training)` are right, with dropout and without, and reach so many
/// parameters; it drops out in training alone, by the graph's seed.
template <typename Loss>
void check_training_of(std::size_t parameters, Loss loss) {
  for (const bool training : {false, true}) {
    ComputationGraph graph;
    graph.set_seed(3);
    check_slopes(loss(graph, training), parameters);
  }
  const auto value = [&](bool training, std::uint64_t seed) {
    ComputationGraph graph;
    graph.set_seed(seed);
    return values(loss(graph, training));
  };
  CHECK(value(false, 1) == value(false, 2));
  CHECK(value(true, 1) == value(true, 1));
  CHECK(value(true, 1) != value(true, 2));
  CHECK(value(true, 1) != value(false, 1));
}
