#pragma once

#include "dynet-like/graph/computation_graph.h"

// Normalization of values and weights. Batch sizes are equal or one; the result has the larger
// batch size. Errors: ShapeError, ArgumentError.

namespace dynet {

/// g (x - m) / s + b, elementwise, with the mean m over all elements of a batch element of x and
/// the standard deviation s = sqrt(mean (x - m)^2 + epsilon); gain g and bias b have the sizes of
/// x. Where s is zero the value is b and x gets no gradient. Ba et al. 2016.
Expression layer_norm(const Expression& x, const Expression& g, const Expression& b,
                      float epsilon = 0.0f, SourceLocation at = SourceLocation::current());
/// g w / |w|, with |w| the root of the sum of squares of all elements: the weights w, scaled to the
/// length g, a scalar. If all weights are zero the result is NaN; if |w| overflows a float it is
/// zero. Salimans and Kingma 2016.
Expression weight_norm(const Expression& w, const Expression& g,
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
