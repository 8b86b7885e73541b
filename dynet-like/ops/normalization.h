#pragma once

#include "dynet-like/graph/computation_graph.h"

// Normalization of values and weights. Batch sizes are equal or one; the result has the larger one.
// Errors: ShapeError, ArgumentError.

namespace dynet {

/// g (x - m) / s + b, elementwise, with the mean m of all elements of a batch element of x and
/// their deviation s = sqrt(mean (x - m)^2 + epsilon); gain g and bias b have the sizes of x. Where
/// s is zero the value is b and no gradient reaches x. Ba et al. 2016.
Expression layer_norm(const Expression& x, const Expression& g, const Expression& b,
                      float epsilon = 0.0f, SourceLocation at = SourceLocation::current());
/// g w / |w|, where |w| is the root of the sum of squares of all elements: weights w scaled to
/// length g, one number. |w| must be neither zero nor too large for a float: the value is NaN or
/// zero then. Salimans and Kingma 2016.
Expression weight_norm(const Expression& w, const Expression& g,
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
