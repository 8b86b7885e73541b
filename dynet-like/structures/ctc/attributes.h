#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Settings of ctc_loss, ctc_alignment and ctc_entropy.
struct CtcSettings {
  unsigned blank = 0;          ///< the symbol for no label
  bool zero_infinity = false;  ///< of the loss: 0 in place of infinity
};

/// Labels of an utterance. Payload: the number of labels of each batch element, then all labels.
struct CtcAttr {
  std::uint64_t elements;       ///< number of batch elements with labels
  std::uint64_t count;          ///< number of all labels
  std::uint64_t blank;          ///< as in CtcSettings
  std::uint64_t zero_infinity;  ///< as in CtcSettings
};

/// Scratch of CTC operations, for one batch element. The states are a blank, the first label, a
/// blank, ..., the last label, a blank. A table has one column per frame, with two extra places for
/// the neighbours of the first and last states, which are read without a bounds check.
struct CtcTables {
  std::size_t states, frames;

  /// Tables of a batch element with `labels` labels.
  static constexpr CtcTables of(std::size_t labels, std::size_t frames) {
    return {2 * labels + 1, frames};
  }
  constexpr std::size_t column() const { return states + 2; }
  constexpr std::size_t table() const { return column() * frames; }
  /// Size of `tables` tables and of the column `skips`.
  constexpr std::size_t size(std::size_t tables) const { return tables * table() + column(); }

  std::size_t skips() const { return 0; }
  /// Probabilities that a path comes to a state from the state itself, from the previous state, and
  /// from the state two before, without a blank between two different labels. In the first frame
  /// `stay` has the probabilities of the last states.
  std::size_t stay() const { return column(); }
  std::size_t step() const { return column() + table(); }
  std::size_t skip() const { return column() + 2 * table(); }
  /// Log sums over the paths to a state, minus the frame's maximum; then the state's probabilities.
  std::size_t ways() const { return column() + 3 * table(); }
  /// Directional derivatives of the log sums, without a state's own score, and of probabilities.
  std::size_t d_ways() const { return column() + 4 * table(); }
  std::size_t d_states() const { return column() + 5 * table(); }
};

}  // namespace dynet
