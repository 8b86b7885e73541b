#pragma once

#include <functional>

#include "dynet-like/graph/computation_graph.h"

namespace dynet::test {

/// Reductions, softmaxes and losses of infinite numbers, in graphs that were prepared so: values
/// and gradients are PyTorch's.
void check_infinities(const std::function<void(ComputationGraph&)>& prepare);

}  // namespace dynet::test
