#pragma once

#include "dynet-like/shape/rules.h"

// Shape rules of semi-Markov chains.

namespace dynet::shape {

/// Scores {K*L,T}, transitions {K,K}, start {K} and stop {K} give {1}.
Dim segments(Dims xs);

}  // namespace dynet::shape
