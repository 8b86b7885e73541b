#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/shape/dim.h"

namespace dynet {

/// Thrown by a shape rule: the rule in one sentence, and what kind of mistake it was. The graph
/// adds the operation, the operands and the place in the user's program.
struct RuleBroken {
  enum class Kind { shape, index, argument };
  Kind kind;
  std::string rule;
};

/// The shape rules: pure functions from operand shapes to the shape of the result, or RuleBroken.
///
/// Batch sizes are equal or one wherever several operands meet; the result has the larger.
namespace shape {

/// One line for each operand of a variadic rule.
using Dims = std::span<const Dim* const>;

/// Throws unless the number of elements fits the address space.
void check(const Dim& dim);
inline Dim checked(const Dim& dim) {
  const bool small = dim.nd <= 2 && dim.bd == 1 && ((dim.d[0] | dim.d[1]) >> 28) == 0;
  if (!small) [[unlikely]]
    check(dim);
  return dim;
}

/// The rule for every elementwise operation: each size is equal, or one on either side; missing
/// sizes are one.
Dim broadcast(const Dim& a, const Dim& b);
Dim broadcast_all(Dims xs);
[[noreturn]] void throw_batches_differ(const Dim& a, const Dim& b);
inline unsigned common_batch(const Dim& a, const Dim& b) {
  if (a.bd == b.bd) return a.bd;
  if (a.bd != 1 && b.bd != 1) throw_batches_differ(a, b);
  return a.bd > b.bd ? a.bd : b.bd;
}

/// {m,k} times {k,n} gives {m,n}; {m,k} times {k} gives {m}.
Dim matmul(const Dim& a, const Dim& b);
/// b + W1 x1 + W2 x2 + ...; b has the rows of the result and its columns or one column.
Dim affine(Dims xs);
/// {m,n} plus {m} on each column.
Dim colwise_add(const Dim& x, const Dim& bias);

/// Two operands of the same sizes to one number for each batch element.
Dim pairwise_scalar(const Dim& a, const Dim& b);
/// All elements to one number for each batch element.
Dim elements(const Dim& x);
/// All batch elements to one.
Dim batches(const Dim& x);
/// One distribution along dimension `d` for each index of the others.
Dim softmax(const Dim& x, unsigned d);
/// A vector of scores and one class for each batch element.
Dim class_loss(const Dim& x, std::size_t classes, unsigned largest);

/// Dimension `d` removed, one index for each batch element.
Dim pick(const Dim& x, std::size_t indices, unsigned largest, unsigned d);
/// [start, end) along `d`.
Dim pick_range(const Dim& x, unsigned start, unsigned end, unsigned d);
Dim pick_batch(const Dim& x, std::size_t indices, unsigned largest);
Dim concatenate(Dims xs, unsigned d);
Dim concatenate_batch(Dims xs);
Dim reshape(const Dim& x, const Dim& to);
/// Dimension i of the result is dimension `order[i]` of x.
Dim transpose(const Dim& x, std::span<const unsigned> order);

/// Slices of dimension `d`, as many as indices.
Dim select(const Dim& x, std::size_t indices, unsigned largest, unsigned d);
/// Every strides[k]-th slice of [from[k], to[k]) of dimension k; the entry behind the last
/// dimension is for the batch. What is missing is 1, 0 and the whole size.
Dim strided_select(const Dim& x, std::span<const int> strides, std::span<const int> from,
                   std::span<const int> to);
/// x itself, which has a dimension `d`.
Dim along(const Dim& x, unsigned d);

/// Gates of an LSTM: {4H} and the previous cell {H} give {H}.
Dim lstm_cell(const Dim& cell, const Dim& gates);
/// Gates at a node of a tree with k children: {(3+k)H} and the k cells {H} of these give {H}.
Dim tree_cell(Dims cells, const Dim& gates);
/// Gates {(3+k)H} for any k, and the cell {H}, give {H}.
Dim tree_output(const Dim& cell, const Dim& gates);
/// x and a mask of its sizes.
Dim masked(const Dim& x, const Dim& mask);
/// A vector whose length is a multiple of four.
Dim lstm_gates(const Dim& x);
/// A vector whose length is a multiple of three and one for each child.
Dim tree_gates(const Dim& x, std::size_t children);

}  // namespace shape
}  // namespace dynet
