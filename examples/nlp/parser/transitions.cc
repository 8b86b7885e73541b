#include "examples/nlp/parser/transitions.h"

#include <algorithm>

namespace parser {
namespace {

/// Dependent of the shortest non-projective arc, or 0.
unsigned shortest_bad_arc(const std::vector<unsigned>& heads) {
  const auto is_below = [&](unsigned word, unsigned head) {
    while (word != head && word != 0) word = heads[word - 1];
    return word == head;
  };
  unsigned shortest = kNone;
  unsigned found = 0;
  for (unsigned word = 1; word <= heads.size(); ++word) {
    const auto [begin, end] = std::minmax(word, heads[word - 1]);
    if (end - begin >= shortest) continue;
    for (unsigned between = begin + 1; between < end; ++between) {
      if (is_below(between, heads[word - 1])) continue;
      shortest = end - begin;
      found = word;
      break;
    }
  }
  return found;
}

}  // namespace

bool State::allows(Action action) const {
  switch (action) {
    case Action::kShift:
      return next() != 0;
    case Action::kLeft:
      return stack_.size() == 1 || (stack_.size() > 1 && next() != 0);
    case Action::kRight:
      return stack_.size() > 1;
  }
  return false;
}

void State::take(const Move& move) {
  if (move.action == Action::kShift) {
    stack_.push_back(static_cast<unsigned>(next_++));
    return;
  }
  const unsigned word = stack_.back();
  heads_[word - 1] = head(move.action);
  labels_[word - 1] = move.label;
  stack_.pop_back();
}

bool is_projective(const std::vector<unsigned>& heads) { return shortest_bad_arc(heads) == 0; }

std::vector<unsigned> projective(std::vector<unsigned> heads) {
  // The head of a non-projective arc is never the child of the root, an ancestor of all words.
  while (const unsigned word = shortest_bad_arc(heads)) {
    heads[word - 1] = heads[heads[word - 1] - 1];
  }
  return heads;
}

std::vector<Move> oracle(const std::vector<unsigned>& heads, const std::vector<unsigned>& labels) {
  std::vector<std::size_t> missing(heads.size() + 1);  // remaining arcs to dependents, by head
  for (const unsigned head : heads) ++missing[head];
  std::vector<Move> moves;
  State state(heads.size());
  while (!state.finished()) {
    const unsigned top = state.stack(0);
    Move move;
    if (top != kNone && missing[top] == 0) {
      const unsigned head = heads[top - 1];
      if (head == state.next()) {
        move = {Action::kLeft, labels[top - 1]};
      } else if (head == state.stack(1)) {
        move = {Action::kRight, labels[top - 1]};
      }
      if (move.action != Action::kShift) --missing[head];
    }
    moves.push_back(move);
    state.take(move);
  }
  return moves;
}

}  // namespace parser
