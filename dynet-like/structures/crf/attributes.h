#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Tags of a sequence; the payload.
struct CrfTagsAttr {
  std::uint64_t count;   ///< number of tags, one batch element after the other
  std::uint64_t partly;  ///< whether some tags are kAnyTag
};

/// Marks an unknown tag.
inline constexpr unsigned kAnyTag = ~0u;

/// Scratch tables of linear-chain operations, of `tags * length` numbers each, per batch element.
struct CrfTables {
  std::size_t size;

  /// Log sum of e^score over all paths to a tag, minus the maximum of the position.
  std::size_t forward() const { return 0; }
  /// Log normalizer of the distribution of the previous tag, given a tag.
  std::size_t norm() const { return size; }
  /// Marginal probabilities.
  std::size_t marginals() const { return 2 * size; }
  /// Directional derivatives of `forward` and of the marginals.
  std::size_t d_forward() const { return 3 * size; }
  std::size_t d_marginals() const { return 4 * size; }
  /// Emissions, with minus infinity at all tags that a known tag excludes.
  std::size_t known() const { return 3 * size; }
};

}  // namespace dynet
