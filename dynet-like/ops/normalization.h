#pragma once

#include "dynet-like/graph/computation_graph.h"

// Values and weights brought to a given scale. Batch sizes are equal or one; the result has the
// larger. Errors: ShapeError, ArgumentError.

namespace dynet {

/// g (x - m) / s + b, elementwise, with the mean m of all elements of a batch element of x and
/// their deviation s = sqrt(mean (x - m)^2 + epsilon); gain g and bias b have the sizes of x. Where
/// s is zero the value is b and no gradient reaches x. Ba et al. 2016.
Expression layer_norm(const Expression& x, const Expression& g, const Expression& b,
                      float epsilon = 0.0f, SourceLocation at = SourceLocation::current());
/// g w / |w|, |w| the root of the sum of squares of all elements: weights w of a length given by
/// one number g. The weights must not all be zero, nor |w| too large for a float: the value would
/// be NaN or zero. Salimans and Kingma 2016.
Expression weight_norm(const Expression& w, const Expression& g,
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
