#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"

// Parts of a tensor, and tensors put together. Indices are IndexArguments; indices behind a pointer
// are checked when the graph runs. Errors: ShapeError, IndexError, ArgumentError.

namespace dynet {

/// Slice v of dimension d, which is removed: {n} gives {1}, {m,n} along d = 1 gives {m}. Several
/// indices: one for each batch element, or all from a batch of one.
Expression pick(const Expression& x, const IndexArgument& v, unsigned d = 0,
                SourceLocation at = SourceLocation::current());
/// The slices [start, end) of dimension d.
Expression pick_range(const Expression& x, unsigned start, unsigned end, unsigned d = 0,
                      SourceLocation at = SourceLocation::current());
/// DyNet's older name of pick_range along dimension 0.
Expression pickrange(const Expression& x, unsigned start, unsigned end,
                     SourceLocation at = SourceLocation::current());
/// Rows v1, v2, ... of each batch element, with repetitions; the size of dimension 0 becomes that
/// of the list.
Expression select_rows(const Expression& x, const IndexArgument& rows,
                       SourceLocation at = SourceLocation::current());
/// Columns v1, v2, ... of each batch element; the size of dimension 1 becomes that of the list.
Expression select_cols(const Expression& x, const IndexArgument& cols,
                       SourceLocation at = SourceLocation::current());
/// In each dimension k every strides[k]-th slice of [from[k], to[k]): ceil((to - from) / stride)
/// slices. The entry after the last dimension is for the batch. Missing entries are 1 for strides,
/// 0 for `from` and the whole size for `to`.
Expression strided_select(const Expression& x, const std::vector<int>& strides,
                          const std::vector<int>& from = {}, const std::vector<int>& to = {},
                          SourceLocation at = SourceLocation::current());
/// Batch element v.
Expression pick_batch_elem(const Expression& x, const IndexArgument& v,
                           SourceLocation at = SourceLocation::current());
/// Batch elements v1, v2, ..., with repetitions.
Expression pick_batch_elems(const Expression& x, const IndexArgument& v,
                            SourceLocation at = SourceLocation::current());

/// The elements of x in their order, as a tensor of shape d. If d has batch size one and as many
/// elements as one batch element, the batch stays. Nothing is copied.
Expression reshape(const Expression& x, const Dim& d,
                   SourceLocation at = SourceLocation::current());
/// A matrix transposed; a vector {n} gives {1,n}.
Expression transpose(const Expression& x, SourceLocation at = SourceLocation::current());
/// Dimension i of the result is dimension dims[i] of x.
Expression transpose(const Expression& x, std::initializer_list<unsigned> dims,
                     SourceLocation at = SourceLocation::current());
Expression transpose(const Expression& x, const std::vector<unsigned>& dims,
                     SourceLocation at = SourceLocation::current());

/// The operands, concatenated along dimension d; all other sizes equal, batch sizes equal or one.
Expression concatenate(std::initializer_list<Expression> xs, unsigned d = 0,
                       SourceLocation at = SourceLocation::current());
Expression concatenate(const std::vector<Expression>& xs, unsigned d = 0,
                       SourceLocation at = SourceLocation::current());
/// Concatenation along dimension 1: vectors become the columns of a matrix.
Expression concatenate_cols(std::initializer_list<Expression> xs,
                            SourceLocation at = SourceLocation::current());
Expression concatenate_cols(const std::vector<Expression>& xs,
                            SourceLocation at = SourceLocation::current());
/// The batch elements of all operands, in order, as one batch.
Expression concatenate_to_batch(std::initializer_list<Expression> xs,
                                SourceLocation at = SourceLocation::current());
Expression concatenate_to_batch(const std::vector<Expression>& xs,
                                SourceLocation at = SourceLocation::current());

/// x, which gets no gradient through this node. Nothing is copied.
Expression nobackprop(const Expression& x, SourceLocation at = SourceLocation::current());

}  // namespace dynet
