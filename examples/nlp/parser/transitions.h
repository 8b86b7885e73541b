#pragma once

#include <cstddef>
#include <vector>

namespace parser {

// The arc-hybrid system (Kuhlmann, Gomez-Rodriguez and Satta, ACL 2011): words go from a buffer to
// a stack, and leave the stack when they get their head. Words count from 1; behind the last one
// the buffer holds the root, 0.

/// Placeholder for a word that does not exist.
inline constexpr unsigned kNone = ~0u;

enum class Action {
  kShift,  ///< the next word goes onto the stack
  kLeft,   ///< the next word is the head of the top one, which leaves
  kRight   ///< the word below the top one is its head; the top one leaves
};

struct Move {
  Action action = Action::kShift;
  unsigned label = 0;  ///< of the arc
  /// Its place among all moves: 0 is kShift, then kLeft and kRight of each label in turn.
  unsigned number() const {
    return action == Action::kShift ? 0 : 1 + 2 * label + (action == Action::kRight ? 1 : 0);
  }
};
inline std::size_t count_moves(std::size_t labels) { return 1 + 2 * labels; }

/// How far a sentence has been parsed.
class State {
 public:
  explicit State(std::size_t words) : heads_(words, kNone), labels_(words) {}

  /// After as many shifts and as many arcs as there are words.
  bool finished() const { return stack_.empty() && next() == 0; }
  /// Some move is allowed until it is finished, and exactly one word gets the root as its head.
  bool allows(Action action) const;
  /// Head that an allowed kLeft or kRight assigns to the top word.
  unsigned head(Action action) const { return action == Action::kLeft ? next() : stack(1); }
  /// Makes an allowed move.
  void take(const Move& move);

  /// The word at this depth of the stack, counted from its top; kNone below its bottom.
  unsigned stack(std::size_t depth) const {
    return depth < stack_.size() ? stack_[stack_.size() - 1 - depth] : kNone;
  }
  /// The first word of the buffer, or the root.
  unsigned next() const { return next_ <= heads_.size() ? static_cast<unsigned>(next_) : 0; }

  /// By word; kNone where there is none yet.
  const std::vector<unsigned>& heads() const { return heads_; }
  const std::vector<unsigned>& labels() const { return labels_; }

 private:
  std::vector<unsigned> stack_;
  std::size_t next_ = 1;
  std::vector<unsigned> heads_, labels_;
};

/// True if all words between a word and its head are below that head.
bool is_projective(const std::vector<unsigned>& heads);

/// The heads with as little changed as makes them projective: again and again the shortest arc that
/// is not gets its head's head as its head (Nivre and Nilsson, ACL 2005).
std::vector<unsigned> projective(std::vector<unsigned> heads);

/// The moves that build a projective tree with one root; arcs are made as early as they can be.
std::vector<Move> oracle(const std::vector<unsigned>& heads, const std::vector<unsigned>& labels);

}  // namespace parser
