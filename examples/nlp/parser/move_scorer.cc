#include "examples/nlp/parser/move_scorer.h"

#include <cmath>
#include <limits>
#include <utility>

#include "examples/nlp/common/check.h"

namespace parser {

namespace {

using dynet::Expression;

/// Calls `visit(move, score)` for each allowed move, with each allowed label.
template <typename Visit>
void for_each_move(const State& state, const LabelRule& rule, const dynet::Tensor& scores,
                   Visit visit) {
  const std::size_t labels = (scores.d.size() - 1) / 2;
  for (const Action action : {Action::kShift, Action::kLeft, Action::kRight}) {
    if (!state.allows(action)) continue;
    const std::size_t kinds = action == Action::kShift ? 1 : labels;
    for (unsigned label = 0; label < kinds; ++label) {
      const Move move{action, label};
      if (action != Action::kShift && !rule.allows(label, state.head(action))) continue;
      visit(move, scores.v[move.number()]);
    }
  }
}

/// Allowed move with the highest score.
Move best_move(const State& state, const LabelRule& rule, const dynet::Tensor& scores) {
  Move best;
  float best_score = -std::numeric_limits<float>::infinity();
  for_each_move(state, rule, scores, [&](const Move& move, float score) {
    nlp::require_scores({&score, 1});
    if (score <= best_score) return;
    best = move;
    best_score = score;
  });
  return best;
}

/// Probability of the best move, by a softmax over the allowed moves.
float probability_of(const Move& best, const State& state, const LabelRule& rule,
                     const dynet::Tensor& scores) {
  const float highest = scores.v[best.number()];
  float sum = 0;
  for_each_move(state, rule, scores,
                [&](const Move& /*move*/, float score) { sum += std::exp(score - highest); });
  return 1 / sum;
}

}  // namespace

MoveScorer::MoveScorer(const Description& description, dynet::ParameterCollection& parameters)
    : label_rule_(description.labels) {
  const ModelSettings& settings = description.settings;
  const unsigned both = 2 * settings.hidden;
  none_ = parameters.add_parameters({both}, "none");
  for (dynet::Parameter& weight : hidden_weights_) {
    weight = parameters.add_parameters({settings.mlp, both}, "mlp-weight");
  }
  hidden_bias_ =
      parameters.add_parameters({settings.mlp}, dynet::ParameterInitConst(0), "mlp-bias");
  const auto moves = static_cast<unsigned>(count_moves(description.labels.size()));
  weight_ = parameters.add_parameters({moves, settings.mlp}, "move-weight");
  bias_ = parameters.add_parameters({moves}, dynet::ParameterInitConst(0), "move-bias");
}

void MoveScorer::begin_graph(dynet::ComputationGraph& graph, bool /*training*/) {
  none_node_ = parameter(graph, none_);
  for (std::size_t i = 0; i < kSeen; ++i) {
    hidden_weight_nodes_[i] = parameter(graph, hidden_weights_[i]);
  }
  hidden_bias_node_ = parameter(graph, hidden_bias_);
  weight_node_ = parameter(graph, weight_);
  bias_node_ = parameter(graph, bias_);
}

Expression MoveScorer::scores(const Vectors& vectors, const State& state) const {
  const auto vector_of = [&](unsigned word) { return word == kNone ? none_node_ : vectors[word]; };
  const std::array<Expression, kSeen>& weights = hidden_weight_nodes_;
  const Expression hidden = tanh(
      dynet::affine_transform({hidden_bias_node_, weights[0], vector_of(state.next()), weights[1],
                               vector_of(state.stack(0)), weights[2], vector_of(state.stack(1)),
                               weights[3], vector_of(state.stack(2))}));
  return dynet::affine_transform({bias_node_, weight_node_, hidden});
}

Expression MoveScorer::loss(const Vectors& vectors, const Target& target) const {
  State state(vectors.size() - 1);
  std::vector<Expression> losses;
  for (const Move& move : target.moves) {
    losses.push_back(pickneglogsoftmax(scores(vectors, state), move.number()));
    state.take(move);
  }
  return sum(losses);
}

std::vector<Arcs> MoveScorer::parse(std::span<const Vectors> sentences, bool probabilities) const {
  struct Parse {
    const Vectors* vectors;
    State state;
    std::vector<float> probabilities;  ///< of the arcs, by word
    Expression scores;
  };
  std::vector<Parse> parses;
  for (const Vectors& sentence : sentences) {
    const std::size_t words = sentence.size() - 1;
    parses.push_back({&sentence, State(words), std::vector<float>(probabilities ? words : 0), {}});
  }
  std::vector<Parse*> waiting;
  while (true) {
    waiting.clear();
    for (Parse& parse : parses) {
      if (parse.state.finished()) continue;
      parse.scores = scores(*parse.vectors, parse.state);
      waiting.push_back(&parse);
    }
    if (waiting.empty()) break;
    // The last value depends on all nodes built in this round, so reading it first runs all of them
    // in batches.
    waiting.back()->scores.value();
    for (Parse* parse : waiting) {
      const dynet::Tensor& scores = parse->scores.value();
      State& state = parse->state;
      const Move move = best_move(state, label_rule_, scores);
      if (probabilities && move.action != Action::kShift)
        parse->probabilities[state.stack(0) - 1] = probability_of(move, state, label_rule_, scores);
      state.take(move);
    }
  }
  std::vector<Arcs> trees;
  for (Parse& parse : parses)
    trees.push_back({parse.state.heads(), parse.state.labels(), std::move(parse.probabilities)});
  return trees;
}

}  // namespace parser
