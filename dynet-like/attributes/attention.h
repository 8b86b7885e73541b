#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dynet-like/shape/dim.h"

namespace dynet {

/// Settings of an attention node. Payload: the number of keys of each batch element; an empty
/// payload means all keys.
struct AttentionAttr {
  std::uint64_t heads;
  std::uint64_t key_heads;  ///< divides `heads`
  double scale;             ///< zero: 1 / sqrt(size of a head)
  std::uint64_t causal;
  std::uint64_t count;  ///< entries of the payload

  /// Bytes that must be equal in all nodes of a batch: all fields but `count`.
  static constexpr std::size_t kBatchBytes = 4 * sizeof(std::uint64_t);
};

/// Sizes of attention, from the shapes of the queries, keys, values and bias; `bias` may be null.
struct AttentionSizes {
  std::size_t heads, key_heads;
  std::size_t size;           ///< of a head of queries or keys
  std::size_t value_size;     ///< of a head of values
  std::size_t queries, keys;  ///< number of queries and of keys
  std::size_t biases;         ///< biases of a head; zero without a bias operand
  bool causal;
  double scale;

  AttentionSizes(const AttentionAttr& a, const Dim& q, const Dim& k, const Dim& v, const Dim* bias)
      : heads(a.heads),
        key_heads(a.key_heads),
        size(q.rows() / heads),
        value_size(v.rows() / key_heads),
        queries(q.cols()),
        keys(k.cols()),
        biases(bias ? bias->rows() : 0),
        causal(a.causal != 0),
        scale(a.scale != 0 ? a.scale
                           : 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(size, 1)))) {}

  /// Number of query heads that share one head of keys and values.
  std::size_t group() const { return heads / key_heads; }
};

}  // namespace dynet
