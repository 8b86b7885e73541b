#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dynet-like/shape/dim.h"

namespace dynet {

/// Options of attention. The payload holds the number of keys of each batch element; without
/// payload every element has all keys.
struct AttentionAttr {
  std::uint64_t heads;
  std::uint64_t key_heads;  ///< divides `heads`
  double scale;             ///< zero: 1 / sqrt(size of a head)
  std::uint64_t causal;
  std::uint64_t count;  ///< of numbers in the payload

  /// Size of the batch attributes: all but the count.
  static constexpr std::size_t kBatchBytes = 4 * sizeof(std::uint64_t);
};

/// The sizes of attention, from the shapes of queries, keys, values and the bias, which may be
/// null.
struct AttentionSizes {
  std::size_t heads, key_heads;
  std::size_t size;           ///< of a head of queries and keys
  std::size_t value_size;     ///< of a head of values
  std::size_t queries, keys;  ///< numbers of queries and keys
  std::size_t biases;         ///< of a head; zero: no biases
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

  /// Query heads that share a head of keys and values.
  std::size_t group() const { return heads / key_heads; }
};

}  // namespace dynet
