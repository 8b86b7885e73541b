#pragma once

#include <cstddef>
#include <vector>

namespace parser {

// The arc-hybrid system (Kuhlmann, Gomez-Rodriguez and Satta, ACL 2011): words move from a buffer
// to a stack, and leave the stack when they get their head. Words are numbered from 1; the last
// item of the buffer is the root, 0.

/// Placeholder for a word that does not exist.
inline constexpr unsigned kNone = ~0u;

enum class Action {
  kShift,  ///< pushes the next word onto the stack
  kLeft,   ///< the next word becomes the head of the top word, which is popped
  kRight   ///< the second word becomes the head of the top word, which is popped
};

struct Move {
  Action action = Action::kShift;
  unsigned label = 0;  ///< label of the arc
  /// Index among all moves: 0 for kShift, then kLeft and kRight of each label.
  unsigned number() const {
    return action == Action::kShift ? 0 : 1 + 2 * label + (action == Action::kRight ? 1 : 0);
  }
};
inline std::size_t count_moves(std::size_t labels) { return 1 + 2 * labels; }

/// State of parsing a sentence.
class State {
 public:
  explicit State(std::size_t words) : heads_(words, kNone), labels_(words) {}

  /// True after one shift and one arc per word.
  bool finished() const { return stack_.empty() && next() == 0; }
  /// Until the end some move is allowed; exactly one word gets the root as its head.
  bool allows(Action action) const;
  /// Head that an allowed kLeft or kRight assigns to the top word.
  unsigned head(Action action) const { return action == Action::kLeft ? next() : stack(1); }
  /// Makes an allowed move.
  void take(const Move& move);

  /// Word at this depth of the stack, from the top; kNone beyond the bottom.
  unsigned stack(std::size_t depth) const {
    return depth < stack_.size() ? stack_[stack_.size() - 1 - depth] : kNone;
  }
  /// First word of the buffer, or the root.
  unsigned next() const { return next_ <= heads_.size() ? static_cast<unsigned>(next_) : 0; }

  /// By word; kNone before its arc.
  const std::vector<unsigned>& heads() const { return heads_; }
  const std::vector<unsigned>& labels() const { return labels_; }

 private:
  std::vector<unsigned> stack_;
  std::size_t next_ = 1;
  std::vector<unsigned> heads_, labels_;
};

/// True if all words between a word and its head are descendants of that head.
bool is_projective(const std::vector<unsigned>& heads);

/// Projectivizes a tree with few changes: repeatedly attaches the dependent of the shortest
/// non-projective arc to its head's head (Nivre and Nilsson, ACL 2005).
std::vector<unsigned> projective(std::vector<unsigned> heads);

/// Moves that build a projective tree with one root, with arcs as early as possible.
std::vector<Move> oracle(const std::vector<unsigned>& heads, const std::vector<unsigned>& labels);

}  // namespace parser
