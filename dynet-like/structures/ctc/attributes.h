#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Settings of ctc_loss, ctc_alignment and ctc_entropy.
struct CtcSettings {
  unsigned blank = 0;          ///< the symbol that stands for no label
  bool zero_infinity = false;  ///< of the loss: 0 instead of infinity
};

/// The labels of an utterance. The payload: how many labels each batch element has, then the labels
/// of all.
struct CtcAttr {
  std::uint64_t elements;       ///< batch elements that have labels
  std::uint64_t count;          ///< labels of all
  std::uint64_t blank;          ///< as CtcSettings
  std::uint64_t zero_infinity;  ///< as CtcSettings
};

/// Scratch of the operations of CTC, for one batch element. A way goes through `states`: a blank,
/// the first label, a blank, and so on to a blank. Tables have a column for each frame, which is
/// two places longer, so that what is read beside it is a state that cannot be.
struct CtcTables {
  std::size_t states, frames;

  /// Tables of an element with `labels` labels.
  static constexpr CtcTables of(std::size_t labels, std::size_t frames) {
    return {2 * labels + 1, frames};
  }
  constexpr std::size_t column() const { return states + 2; }
  constexpr std::size_t table() const { return column() * frames; }
  /// So many tables, and a column for where blanks may be left out.
  constexpr std::size_t size(std::size_t tables) const { return tables * table() + column(); }

  std::size_t skips() const { return 0; }
  /// The probability that the way to a state comes from itself, from the state before, and from
  /// that before the blank before; of the first frame, `stay` has the probabilities of the last
  /// states.
  std::size_t stay() const { return column(); }
  std::size_t step() const { return column() + table(); }
  std::size_t skip() const { return column() + 2 * table(); }
  /// Log sums over the ways to a state, less the largest of its frame, then its probabilities.
  std::size_t ways() const { return column() + 3 * table(); }
  /// A direction of derivatives: of the log sums without a state's own score, and of the
  /// probabilities.
  std::size_t d_ways() const { return column() + 4 * table(); }
  std::size_t d_states() const { return column() + 5 * table(); }
};

}  // namespace dynet
