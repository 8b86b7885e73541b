#pragma once

#include <vector>

#include "dynet-like/attributes/attention.h"
#include "dynet-like/graph/computation_graph.h"

namespace dynet {

/// How attention goes over its operands.
struct AttentionSettings {
  unsigned heads = 1;                      ///< of the queries
  unsigned key_heads = 0;                  ///< of keys and values, a divisor; zero: as many
  double scale = 0;                        ///< zero: 1 / sqrt(d), d the size of a head
  bool causal = false;                     ///< queries see no keys that come behind them
  std::vector<unsigned> key_lengths = {};  ///< how many keys each batch element has; none: all
};

/// Softmax attention (Vaswani et al. 2017), for each head of queries
///
///     y_i = sum_j p_ij v_j,   p_ij = e^s_ij / sum_j e^s_ij,   s_ij = scale q_i' k_j
///
/// where j goes over the keys that query i sees: all; of an element with a length only the first
/// ones; with `causal` only j <= i + n - m, so that the last query sees all. A query that sees no
/// key, or only ones with a score of minus infinity, gives zero and has no gradient; what it does
/// not see has no part in it, whatever is there.
///
/// Shapes: queries {d*heads,m}, keys {d*key_heads,n} and values {e*key_heads,n} give {e*heads,m};
/// the rows of one head follow those of another. `heads / key_heads` heads of queries that follow
/// each other share a head of keys and values (Ainslie et al. 2023). Batch sizes are equal or one.
/// Sequences of different lengths run in one batch, and are the same bits in any.
///
/// Scores are made block by block (Dao et al. 2022) and made again for the gradient, so that memory
/// grows with n + m and not with their product.
///
/// Errors: ShapeError for other shapes; ArgumentError for heads that are zero or do not divide each
/// other, a scale that is not finite, lengths beyond n and another number of them than there are
/// batch elements.
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const AttentionSettings& settings = {},
                     SourceLocation at = SourceLocation::current());

/// The same with what is added to scores by the distance of key and query (Shaw, Uszkoreit, Vaswani
/// 2018; Raffel et al. 2020): of biases {2*r+1,heads} s_ij gets row r + c of the column of its
/// head, where c is j - i - (n - m), cut to -r ... r. The biases may have a batch size.
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const Expression& biases, const AttentionSettings& settings = {},
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
