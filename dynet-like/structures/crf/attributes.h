#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// The tags of a sequence, which are the payload.
struct CrfTagsAttr {
  std::uint64_t count;   ///< batch element after batch element
  std::uint64_t partly;  ///< whether some are kAnyTag
};

/// A tag that is not known.
inline constexpr unsigned kAnyTag = ~0u;

/// Scratch of the operations of linear chains, by batch element: tables of `tags * length` numbers.
struct CrfTables {
  std::size_t size;

  /// log sum of e^score over the ways to a tag, less the largest for its position.
  std::size_t forward() const { return 0; }
  /// The logarithm that makes the tags before a tag probabilities.
  std::size_t norm() const { return size; }
  /// Marginal probabilities.
  std::size_t marginals() const { return 2 * size; }
  /// A direction of derivatives: of `forward`, and of the marginals.
  std::size_t d_forward() const { return 3 * size; }
  std::size_t d_marginals() const { return 4 * size; }
  /// Emissions with minus infinity at tags that are not those known.
  std::size_t known() const { return 3 * size; }
};

}  // namespace dynet
