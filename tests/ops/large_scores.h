#pragma once

#include "tests/ops/accuracy.h"

namespace dynet::test {

/// Gradients of the entropies of structures whose scores are large, in float against double.
void check_large_scores(const MakeRunner<float>& make);

}  // namespace dynet::test
