#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/parser/encoder.h"
#include "examples/nlp/parser/settings.h"
#include "examples/nlp/parser/transitions.h"

namespace parser {

/// Greedy transitions (Kiperwasser and Goldberg, TACL 2016): for a move a tanh layer over what is
/// known about the three top words of the stack and the next word of the buffer.
class MoveScorer {
 public:
  MoveScorer(const Description& description, dynet::ParameterCollection& parameters);

  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the moves, summed over them.
  dynet::Expression loss(const Vectors& vectors, const Target& target) const;
  /// Parses the sentences in step: each waits for its next move until the scores of all moves that
  /// are due have been built. The probability of an arc is that of the move that made it, among
  /// those that were allowed then.
  std::vector<Arcs> parse(std::span<const Vectors> sentences, bool probabilities) const;

 private:
  static constexpr std::size_t kSeen = 4;  ///< words that decide a move

  /// The scores of the moves in a state.
  dynet::Expression scores(const Vectors& vectors, const State& state) const;

  LabelRule label_rule_;
  dynet::Parameter none_, hidden_bias_, weight_, bias_;
  std::array<dynet::Parameter, kSeen> hidden_weights_;  ///< of the next word, then of the stack
  // State of the current graph.
  dynet::Expression none_node_, hidden_bias_node_, weight_node_, bias_node_;
  std::array<dynet::Expression, kSeen> hidden_weight_nodes_;
};

}  // namespace parser
