#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/device_code.h"

namespace dynet {

/// Marks an unknown label.
inline constexpr unsigned kAnyLabel = ~0u;

/// A span of a tree.
struct LabelledSpan {
  unsigned first, last;        ///< words, from 0
  unsigned label = kAnyLabel;  ///< or kAnyLabel

  /// Compares all members.
  friend bool operator==(const LabelledSpan&, const LabelledSpan&) = default;
};

/// Spans of a tree; the payload.
struct SpanTreeAttr {
  std::uint64_t count;  ///< number of spans, one batch element after the other
};

/// Scratch of operations on span trees, per batch element: tables with one double per span. Spans
/// of one width are contiguous, from left to right. Sums of unbounded size have two tables, m and e
/// of m 2^e.
struct SpanTables {
  std::size_t words;

  /// Elements of a table.
  DYNET_DEVICE std::size_t size() const { return words * (words + 1) / 2; }
  /// Index in a table of the span of `width` words whose first word is `first`.
  DYNET_DEVICE std::size_t at(std::size_t width, std::size_t first) const {
    return (width - 1) * (2 * words - width + 2) / 2 + first;
  }
  /// The sum of e^score over the trees of a span; two tables.
  DYNET_DEVICE std::size_t inside() const { return 0; }
  /// `inside` without the score of the span itself; two tables.
  DYNET_DEVICE std::size_t norm() const { return 2 * size(); }
  /// Largest label score of a span, and the sum of e^(score - largest) over its labels.
  DYNET_DEVICE std::size_t largest() const { return 4 * size(); }
  DYNET_DEVICE std::size_t labels() const { return 5 * size(); }
  /// Probability of a span.
  DYNET_DEVICE std::size_t marginals() const { return 6 * size(); }
  /// Known spans and labels of a tree; zero for spans outside the tree.
  DYNET_DEVICE std::size_t known() const { return 7 * size(); }
  /// Directional derivatives of log `inside`, of log `norm` and of the marginals.
  DYNET_DEVICE std::size_t d_inside() const { return 7 * size(); }
  DYNET_DEVICE std::size_t d_norm() const { return 8 * size(); }
  DYNET_DEVICE std::size_t d_marginals() const { return 9 * size(); }
  /// Number of tables, also with a tree, also with derivatives.
  static constexpr std::size_t kPlain = 7, kWithTree = 8, kWithDerivatives = 10;
};

}  // namespace dynet
