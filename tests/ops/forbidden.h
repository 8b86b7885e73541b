#pragma once

#include <functional>

#include "dynet-like/graph/computation_graph.h"

namespace dynet::test {

/// Log-probabilities of what is forbidden, in structures where all is and where other things are
/// allowed: minus infinity, with gradients of zero.
void check_forbidden(const std::function<void(ComputationGraph&)>& prepare);

}  // namespace dynet::test
