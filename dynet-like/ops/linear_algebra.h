#pragma once

#include "dynet-like/graph/computation_graph.h"

// Whole-matrix operations, contractions, circular convolution. Batch sizes are equal, or one in
// either operand; the result has the larger batch size. Errors: ShapeError. trace_of_product is in
// matrix.h.

namespace dynet {

/// The inverse of a square matrix; for a singular matrix the elements are infinite or NaN.
Expression inverse(const Expression& x, SourceLocation at = SourceLocation::current());
/// The logarithm of the determinant of a square matrix: {1} for each batch element; NaN for a
/// negative determinant, minus infinity for zero.
Expression logdet(const Expression& x, SourceLocation at = SourceLocation::current());

/// z_ij = sum_k x_ijk y_k, plus b_ij: {i,j,k}, {k} and {i,j} give {i,j}.
Expression contract3d_1d(const Expression& x, const Expression& y,
                         SourceLocation at = SourceLocation::current());
Expression contract3d_1d(const Expression& x, const Expression& y, const Expression& b,
                         SourceLocation at = SourceLocation::current());
/// t_i = sum_jk x_ijk y_k z_j, plus b_i: {i,j,k}, {k}, {j} and {i} give {i}.
Expression contract3d_1d_1d(const Expression& x, const Expression& y, const Expression& z,
                            SourceLocation at = SourceLocation::current());
Expression contract3d_1d_1d(const Expression& x, const Expression& y, const Expression& z,
                            const Expression& b, SourceLocation at = SourceLocation::current());

/// The circular convolution y_i = sum_j u_j v_{(i - j) mod n} of two vectors {n}.
Expression circ_conv(const Expression& u, const Expression& v,
                     SourceLocation at = SourceLocation::current());
/// The circular correlation y_i = sum_j u_j v_{(i + j) mod n} of two vectors {n}.
Expression circ_corr(const Expression& u, const Expression& v,
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
