#pragma once

#include <functional>

#include "dynet-like/graph/computation_graph.h"

namespace dynet::test {

/// Operations whose sums and squares leave the range of float, in graphs that were prepared so.
void check_large_numbers(const std::function<void(ComputationGraph&)>& prepare);

}  // namespace dynet::test
