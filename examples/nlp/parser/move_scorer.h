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

/// Greedy transition parser (Kiperwasser and Goldberg, TACL 2016): moves are scored by a tanh layer
/// over the vectors of the top three words of the stack and the next word of the buffer.
class MoveScorer {
 public:
  MoveScorer(const Description& description, dynet::ParameterCollection& parameters);

  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the moves, summed.
  dynet::Expression loss(const Vectors& vectors, const Target& target) const;
  /// Parses the sentences in lockstep: the scores of all pending moves are built before the first
  /// is read, so that they run as batches. The probability of an arc is that of its move among the
  /// allowed moves.
  std::vector<Arcs> parse(std::span<const Vectors> sentences, bool probabilities) const;

 private:
  static constexpr std::size_t kSeen = 4;  ///< number of words that determine a move

  /// Scores of the moves in a state.
  dynet::Expression scores(const Vectors& vectors, const State& state) const;

  LabelRule label_rule_;
  dynet::Parameter none_, hidden_bias_, weight_, bias_;
  std::array<dynet::Parameter, kSeen> hidden_weights_;  ///< of the next word, then of the stack
  // State of the current graph.
  dynet::Expression none_node_, hidden_bias_node_, weight_node_, bias_node_;
  std::array<dynet::Expression, kSeen> hidden_weight_nodes_;
};

}  // namespace parser
