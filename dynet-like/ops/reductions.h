#pragma once

#include "dynet-like/graph/computation_graph.h"

// Many numbers to one, and many batch elements to one.

namespace dynet {

/// The sum of all elements: {1}, one number for each batch element.
Expression sum_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// Their mean. Throws ShapeError for an operand without elements.
Expression mean_elems(const Expression& x, SourceLocation at = SourceLocation::current());
/// The sum of their squares.
Expression squared_norm(const Expression& x, SourceLocation at = SourceLocation::current());
/// The root of the sum of their squares; gradient 0 at 0.
Expression l2_norm(const Expression& x, SourceLocation at = SourceLocation::current());

/// The sum of the batch elements: the operand's shape without its batch.
Expression sum_batches(const Expression& x, SourceLocation at = SourceLocation::current());
/// Their mean.
Expression mean_batches(const Expression& x, SourceLocation at = SourceLocation::current());

}  // namespace dynet
