#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Consecutive words with one label.
struct Segment {
  unsigned label, length;

  /// Compares label and length.
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Segments of a sentence; the payload.
struct SemiCrfAttr {
  std::uint64_t count;  ///< number of segments, one batch element after the other
};

/// Scratch of semi-Markov chains, per batch element: tables of `labels * length` numbers, with the
/// values of segments that begin or end at each position, and one shift for each position.
struct SegmentTables {
  std::size_t labels, length;

  constexpr std::size_t table() const { return labels * length; }
  /// Size of `tables` tables, and of the shifts subtracted from the log sums of each position.
  constexpr std::size_t size(std::size_t tables) const { return tables * table() + length; }

  std::size_t shifts() const { return 0; }
  /// Log sums over the paths to the end of a segment, and to its beginning.
  std::size_t ends() const { return length; }
  std::size_t begins() const { return length + table(); }
  /// Probabilities of `ends` and `begins`.
  std::size_t ending() const { return length + 2 * table(); }
  std::size_t beginning() const { return length + 3 * table(); }
  /// Directional derivatives of the four tables.
  std::size_t d_ends() const { return length + 4 * table(); }
  std::size_t d_begins() const { return length + 5 * table(); }
  std::size_t d_ending() const { return length + 6 * table(); }
  std::size_t d_beginning() const { return length + 7 * table(); }
};

}  // namespace dynet
