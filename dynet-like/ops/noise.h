#pragma once

#include "dynet-like/base/device.h"
#include "dynet-like/graph/computation_graph.h"

// Random operations. Every node has its own stream, which depends on the graph's seed and its
// position among the random nodes of the graph. Every forward draws again; backward uses the draws
// of forward.

namespace dynet {

/// Each element is zero with probability p, else x / (1 - p). For p = 0 the value is x. Throws
/// ArgumentError unless p is in [0, 1).
Expression dropout(const Expression& x, real p, SourceLocation at = SourceLocation::current());
/// Dropout with one draw for all elements along dimension d: whole rows (d = 1) or columns (d = 0)
/// of a matrix are dropped. Throws IndexError and the errors of `dropout`.
Expression dropout_dim(const Expression& x, unsigned d, real p,
                       SourceLocation at = SourceLocation::current());
/// Dropout with one draw for each batch element as a whole. Throws the errors of `dropout`.
Expression dropout_batch(const Expression& x, real p,
                         SourceLocation at = SourceLocation::current());
/// x as a whole kept or dropped; in a batch, each element by a draw of its own.
Expression block_dropout(const Expression& x, real p,
                         SourceLocation at = SourceLocation::current());
/// x plus Gaussian noise of mean zero. Throws ArgumentError for a negative or infinite standard
/// deviation.
Expression noise(const Expression& x, real stddev, SourceLocation at = SourceLocation::current());

// Draws without a `device` are on the device of the graph. Errors: ArgumentError for a null
// pointer, DeviceError for a device that cannot be used.

/// Gaussian draws. Throws ArgumentError for a negative or infinite standard deviation.
Expression random_normal(ComputationGraph& g, const Dim& d, float mean = 0.0f, float stddev = 1.0f,
                         DeviceArgument device = {}, SourceLocation at = SourceLocation::current());
/// `scale` with probability p, else zero. Throws ArgumentError unless p is in [0, 1].
Expression random_bernoulli(ComputationGraph& g, const Dim& d, real p, real scale = 1.0f,
                            DeviceArgument device = {},
                            SourceLocation at = SourceLocation::current());
/// Uniform in [left, right). Throws ArgumentError unless left <= right, both finite.
Expression random_uniform(ComputationGraph& g, const Dim& d, real left, real right,
                          DeviceArgument device = {},
                          SourceLocation at = SourceLocation::current());
/// Gumbel draws mu - beta log(-log u), u uniform in (0, 1): the argmax of scores plus such draws is
/// a sample of their softmax (Gumbel 1954). Throws ArgumentError unless mu is finite and beta is
/// finite and not negative.
Expression random_gumbel(ComputationGraph& g, const Dim& d, real mu = 0.0f, real beta = 1.0f,
                         DeviceArgument device = {}, SourceLocation at = SourceLocation::current());

}  // namespace dynet
