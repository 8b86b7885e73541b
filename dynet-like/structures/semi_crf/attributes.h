#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Words that follow each other and have one label.
struct Segment {
  unsigned label, length;

  /// Whether both are equal.
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// The segments of a sentence, which are the payload.
struct SemiCrfAttr {
  std::uint64_t count;  ///< batch element after batch element
};

/// Scratch of the operations of semi-Markov chains, by batch element: tables of `labels * length`
/// numbers, and one number for each position. What a position has is that of segments that begin,
/// or end, there.
struct SegmentTables {
  std::size_t labels, length;

  constexpr std::size_t table() const { return labels * length; }
  /// So many tables, and what was taken off the log sums of each position.
  constexpr std::size_t size(std::size_t tables) const { return tables * table() + length; }

  std::size_t shifts() const { return 0; }
  /// Log sums over the ways to the end of a segment, and to its beginning.
  std::size_t ends() const { return length; }
  std::size_t begins() const { return length + table(); }
  /// How probable these are.
  std::size_t ending() const { return length + 2 * table(); }
  std::size_t beginning() const { return length + 3 * table(); }
  /// A direction of derivatives, of the same four.
  std::size_t d_ends() const { return length + 4 * table(); }
  std::size_t d_begins() const { return length + 5 * table(); }
  std::size_t d_ending() const { return length + 6 * table(); }
  std::size_t d_beginning() const { return length + 7 * table(); }
};

}  // namespace dynet
