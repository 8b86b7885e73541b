#pragma once

#include "dynet-like/graph/computation_graph.h"

// Randomness. Every node has a stream of its own that depends on the graph's seed and its place
// among the random nodes of the graph; a new forward draws anew, backward sees what forward drew.

namespace dynet {

/// Every element zero with probability p, else x / (1 - p). For p = 0 the value is x.
/// Throws ArgumentError unless p is in [0, 1).
Expression dropout(const Expression& x, real p, SourceLocation at = SourceLocation::current());
/// x plus Gaussian noise of mean zero. Throws ArgumentError for a negative or infinite standard
/// deviation.
Expression noise(const Expression& x, real stddev, SourceLocation at = SourceLocation::current());

/// Gaussian draws. Throws ArgumentError for a negative or infinite standard deviation.
Expression random_normal(ComputationGraph& g, const Dim& d, float mean = 0.0f, float stddev = 1.0f,
                         SourceLocation at = SourceLocation::current());
/// `scale` with probability p, else zero. Throws ArgumentError unless p is in [0, 1].
Expression random_bernoulli(ComputationGraph& g, const Dim& d, real p, real scale = 1.0f,
                            SourceLocation at = SourceLocation::current());
/// Uniform in [left, right). Throws ArgumentError unless left <= right, both finite.
Expression random_uniform(ComputationGraph& g, const Dim& d, real left, real right,
                          SourceLocation at = SourceLocation::current());

}  // namespace dynet
