#pragma once

#include <vector>

#include "dynet-like/attributes/attention.h"
#include "dynet-like/graph/computation_graph.h"

namespace dynet {

/// Options of attention.
struct AttentionSettings {
  unsigned heads = 1;      ///< of the queries
  unsigned key_heads = 0;  ///< of keys and values, a divisor of `heads`; zero: `heads`
  double scale = 0;        ///< zero: 1 / sqrt(d), d the size of a head
  bool causal = false;     ///< queries see no later keys
  std::vector<unsigned> key_lengths = {};  ///< number of keys of each batch element; empty: all
};

/// Softmax attention (Vaswani et al. 2017), for each head of queries
///
///     y_i = sum_j p_ij v_j,   p_ij = e^s_ij / sum_j e^s_ij,   s_ij = scale q_i' k_j
///
/// where j runs over the keys that query i sees: all keys, or in an element with a length only the
/// first ones, and with `causal` only j <= i + n - m, so that the last query sees all. A query that
/// sees no key, or only keys with a score of minus infinity, has the value zero and no gradient.
/// Keys and values that a query does not see have no effect on it, even NaN.
///
/// Shapes: queries {d*heads,m}, keys {d*key_heads,n} and values {e*key_heads,n} give {e*heads,m};
/// the rows of one head follow those of another. `heads / key_heads` heads of queries that follow
/// each other share a head of keys and values (Ainslie et al. 2023). Batch sizes are equal or one.
/// Sequences of different lengths run in one batch, and are the same bits in any.
///
/// Scores are computed block by block (Dao et al. 2022) and recomputed for the gradient, so memory
/// grows with n + m instead of n m.
///
/// Errors: ShapeError for other shapes; ArgumentError for heads that are zero or do not divide each
/// other, a scale that is not finite, lengths above n, and a number of lengths other than the batch
/// size.
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const AttentionSettings& settings = {},
                     SourceLocation at = SourceLocation::current());

/// Attention with biases by the distance of key and query (Shaw, Uszkoreit, Vaswani 2018; Raffel et
/// al. 2020): adds row r + c of the column of its head in biases {2*r+1,heads} to s_ij, where c is
/// j - i - (n - m), clamped to -r ... r. The biases may have a batch size.
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const Expression& biases, const AttentionSettings& settings = {},
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
