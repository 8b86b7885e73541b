#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/shape/dim.h"

namespace dynet {

/// Thrown by a shape rule: the broken rule in one sentence, and the kind of mistake. The graph adds
/// the operation, its operands and the source line of the user's program.
struct RuleBroken {
  enum class Kind { shape, index, argument };
  Kind kind;
  std::string rule;
};

/// Shape rules: pure functions from operand shapes to the result's shape; they throw RuleBroken.
///
/// Batch sizes of several operands must be equal or one; the result has the larger batch size.
namespace shape {

/// The operand shapes of a variadic rule.
using Dims = std::span<const Dim* const>;

/// Throws unless the number of elements fits the address space.
void check(const Dim& dim);
inline Dim checked(const Dim& dim) {
  const bool small = dim.nd <= 2 && dim.bd == 1 && ((dim.d[0] | dim.d[1]) >> 28) == 0;
  if (!small) [[unlikely]]
    check(dim);
  return dim;
}

/// Shape of an elementwise operation: each size is equal in both operands, or one in either of
/// them; missing sizes are one.
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

/// Two operands of equal sizes give {1}.
Dim pairwise_scalar(const Dim& a, const Dim& b);
/// All elements give {1}.
Dim elements(const Dim& x);
/// The shape of x with batch size one.
Dim batches(const Dim& x);
/// One distribution along dimension `d` for each index of the other dimensions.
Dim softmax(const Dim& x, unsigned d);
/// A vector of scores, and one class for each batch element.
Dim class_loss(const Dim& x, std::size_t classes, unsigned largest);

/// x without dimension `d`; one index for each batch element.
Dim pick(const Dim& x, std::size_t indices, unsigned largest, unsigned d);
/// The range [start, end) of dimension `d`.
Dim pick_range(const Dim& x, unsigned start, unsigned end, unsigned d);
Dim pick_batch(const Dim& x, std::size_t indices, unsigned largest);
Dim concatenate(Dims xs, unsigned d);
Dim concatenate_batch(Dims xs);
Dim reshape(const Dim& x, const Dim& to);
/// Dimension i of the result is dimension `order[i]` of x.
Dim transpose(const Dim& x, std::span<const unsigned> order);

/// Dimension `d` gets as many slices as there are indices.
Dim select(const Dim& x, std::size_t indices, unsigned largest, unsigned d);
/// Every strides[k]-th slice of [from[k], to[k]) of dimension k; the entry after the last dimension
/// is for the batch. Missing entries are 1 for a stride, 0 for `from` and the whole size for `to`.
Dim strided_select(const Dim& x, std::span<const int> strides, std::span<const int> from,
                   std::span<const int> to);
/// The shape of x, which must have a dimension `d`.
Dim along(const Dim& x, unsigned d);

/// LSTM gates {4H} and the previous cell {H} give {H}.
Dim lstm_cell(const Dim& cell, const Dim& gates);
/// The k cells {H} of a step, then the sums of the gates, {(3+k)H} or 3 + k times {H}, give {H}.
Dim lstm_cell(Dims xs, std::size_t children);
Dim lstm_cell(Dims cells, const Dim& sum);
/// The sums {4H,T} of the gates of a sequence, the matrix {4H,H} of the previous outputs and
/// perhaps the initial output and cell {H} give {H,T}.
Dim lstm_sequence(Dims xs);
/// Operands of one shape, which is the result's.
Dim same(Dims xs);
/// x, and a mask of the same sizes.
Dim masked(const Dim& x, const Dim& mask);
/// A vector whose length is a multiple of four.
Dim lstm_gates(const Dim& x);

}  // namespace shape
}  // namespace dynet
