#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

namespace dynet {

/// Settings of attention.
struct AttentionSettings {
  unsigned heads = 1;      ///< of the queries
  unsigned key_heads = 0;  ///< of keys and values, a divisor of `heads`; zero: equal to `heads`
  double scale = 0;        ///< zero: 1 / sqrt(d), d the size of a head
  bool causal = false;     ///< a query attends only to keys up to its own position
  std::vector<unsigned> key_lengths = {};  ///< number of keys of each batch element; none: all keys
};

/// Softmax attention (Vaswani et al. 2017); for each head of queries
///
///     y_i = sum_j p_ij v_j,   p_ij = e^s_ij / sum_j e^s_ij,   s_ij = scale q_i' k_j
///
/// The sum is over the visible keys of query i: all keys, or the first key_lengths[e] keys of batch
/// element e; with `causal` only j <= i + n - m, so that the last query sees every key. A query
/// without visible keys, or with scores of minus infinity only, gives zero and has no gradient.
/// Invisible keys and values do not affect the result, not even if they are NaN.
///
/// Shapes: queries {d*heads,m}, keys {d*key_heads,n} and values {e*key_heads,n} give {e*heads,m};
/// rows are ordered by head. `heads / key_heads` consecutive heads of queries share one head of
/// keys and values (Ainslie et al. 2023). Batch sizes are equal or one. Sequences of different
/// lengths run in one batch; the bits of a result do not depend on its batch.
///
/// Scores are computed block by block (Dao et al. 2022) and recomputed for the gradient, so that
/// memory grows with n + m, not with n m.
///
/// Errors: ShapeError for any other shapes; ArgumentError for zero heads, for `key_heads` that does
/// not divide `heads`, for a scale that is not finite, for a length above n, and unless the number
/// of lengths is zero or the batch size.
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const AttentionSettings& settings = {},
                     SourceLocation at = SourceLocation::current());

/// Attention with relative position biases (Shaw, Uszkoreit, Vaswani 2018; Raffel et al. 2020): for
/// biases {2*r+1,heads}, biases[r + c, head] is added to s_ij, where c is j - i - (n - m), clamped
/// to -r ... r. The biases may have a batch size.
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const Expression& biases, const AttentionSettings& settings = {},
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
