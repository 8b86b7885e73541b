#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"

// Slicing, reshaping and concatenation. Indices may be given in any form of IndexArgument; indices
// behind a pointer are checked at every forward. Errors: ShapeError, IndexError, ArgumentError.

namespace dynet {

/// Slice v of dimension d, which is removed: {n} gives {1}, {m,n} with d = 1 gives {m}. Several
/// indices: one for each batch element, or several of a single batch element, which give a batch.
Expression pick(const Expression& x, const IndexArgument& v, unsigned d = 0,
                SourceLocation at = SourceLocation::current());
/// The slices [start, end) of dimension d.
Expression pick_range(const Expression& x, unsigned start, unsigned end, unsigned d = 0,
                      SourceLocation at = SourceLocation::current());
/// pick_range along dimension 0. Old name.
Expression pickrange(const Expression& x, unsigned start, unsigned end,
                     SourceLocation at = SourceLocation::current());
/// Rows v1, v2, ... of each batch element, with repeats; dimension 0 gets the length of the list.
Expression select_rows(const Expression& x, const IndexArgument& rows,
                       SourceLocation at = SourceLocation::current());
/// Columns v1, v2, ... of each batch element; dimension 1 gets the length of the list.
Expression select_cols(const Expression& x, const IndexArgument& cols,
                       SourceLocation at = SourceLocation::current());
/// Every strides[k]-th slice of [from[k], to[k]) in each dimension k: ceil((to - from) / stride)
/// slices. The entry after the last dimension is for the batch. Missing entries are 1 for a stride,
/// 0 for `from` and the whole size for `to`.
Expression strided_select(const Expression& x, const std::vector<int>& strides,
                          const std::vector<int>& from = {}, const std::vector<int>& to = {},
                          SourceLocation at = SourceLocation::current());
/// Batch element v.
Expression pick_batch_elem(const Expression& x, const IndexArgument& v,
                           SourceLocation at = SourceLocation::current());
/// Batch elements v1, v2, ...; repeats are allowed.
Expression pick_batch_elems(const Expression& x, const IndexArgument& v,
                            SourceLocation at = SourceLocation::current());

/// The elements of x, in their order, with shape d. If d has batch size one and the number of
/// elements of one batch element, the batch size is kept. No copy.
Expression reshape(const Expression& x, const Dim& d,
                   SourceLocation at = SourceLocation::current());
/// The transposed matrix; a vector {n} gives {1,n}.
Expression transpose(const Expression& x, SourceLocation at = SourceLocation::current());
/// Dimension i of the result is dimension dims[i] of x.
Expression transpose(const Expression& x, std::initializer_list<unsigned> dims,
                     SourceLocation at = SourceLocation::current());
Expression transpose(const Expression& x, const std::vector<unsigned>& dims,
                     SourceLocation at = SourceLocation::current());

/// The operands, concatenated along dimension d; other sizes are equal, batch sizes equal or one.
Expression concatenate(std::initializer_list<Expression> xs, unsigned d = 0,
                       SourceLocation at = SourceLocation::current());
Expression concatenate(const std::vector<Expression>& xs, unsigned d = 0,
                       SourceLocation at = SourceLocation::current());
/// The operands, concatenated along dimension 1: vectors become the columns of a matrix.
Expression concatenate_cols(std::initializer_list<Expression> xs,
                            SourceLocation at = SourceLocation::current());
Expression concatenate_cols(const std::vector<Expression>& xs,
                            SourceLocation at = SourceLocation::current());
/// The batch elements of all operands, in order, as one batch.
Expression concatenate_to_batch(std::initializer_list<Expression> xs,
                                SourceLocation at = SourceLocation::current());
Expression concatenate_to_batch(const std::vector<Expression>& xs,
                                SourceLocation at = SourceLocation::current());

/// x; it gets no gradient through this node. No copy.
Expression nobackprop(const Expression& x, SourceLocation at = SourceLocation::current());

}  // namespace dynet
