#include "examples/nlp/parser/model.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/vocabulary.h"

namespace parser {

using namespace nlp;

namespace {

using dynet::Expression;

/// Calls `visit` with each move that is allowed and its score.
template <typename Visit>
void for_each_move(const State& state, const dynet::Tensor& scores, Visit visit) {
  const std::size_t labels = (scores.d.size() - 1) / 2;
  for (const Action action : {Action::kShift, Action::kLeft, Action::kRight}) {
    if (!state.allows(action)) continue;
    const std::size_t kinds = action == Action::kShift ? 1 : labels;
    for (unsigned label = 0; label < kinds; ++label) {
      const Move move{action, label};
      visit(move, scores.v[move.number()]);
    }
  }
}

/// The allowed move with the highest score.
Move best_move(const State& state, const dynet::Tensor& scores) {
  Move best;
  float best_score = -std::numeric_limits<float>::infinity();
  for_each_move(state, scores, [&](const Move& move, float score) {
    if (score <= best_score) return;
    best = move;
    best_score = score;
  });
  return best;
}

/// Of the best move, by a softmax over the moves that are allowed.
float probability_of(const Move& best, const State& state, const dynet::Tensor& scores) {
  const float highest = scores.v[best.number()];
  float sum = 0;
  for_each_move(state, scores,
                [&](const Move& /*move*/, float score) { sum += std::exp(score - highest); });
  return 1 / sum;
}

}  // namespace

Description describe(const ModelSettings& settings, const Treebank& train) {
  Description description;
  description.settings = settings;
  description.baseline = Baseline(train);
  nlp::Collector words, tags;
  std::set<std::string> labels;
  for (const Sentence& sentence : train) {
    for (const std::string& word : sentence.words) words.add(word);
    for (const std::string& tag : sentence.tags) tags.add(tag);
    labels.insert(sentence.tree.labels.begin(), sentence.tree.labels.end());
  }
  description.words = words.take();
  description.tags = tags.take();
  description.labels.assign(labels.begin(), labels.end());
  return description;
}

Model::Model(Description description, std::uint64_t seed)
    : DescribedModel(std::move(description), seed),
      words_(nlp::make_dict(description_.words)),
      tags_(nlp::make_dict(description_.tags)),
      labels_(nlp::make_dict(description_.labels)) {
  const ModelSettings& settings = description_.settings;
  const auto rows = [](const auto& texts) { return static_cast<unsigned>(texts.size()); };
  word_table_ =
      parameters_.add_lookup_parameters(rows(description_.words), {settings.word}, "words");
  tag_table_ = parameters_.add_lookup_parameters(rows(description_.tags), {settings.tag}, "tags");
  const unsigned both = 2 * settings.hidden;
  for (unsigned i = 0; i < 2 * settings.layers; ++i) {
    const unsigned input = i < 2 ? settings.word + settings.tag : both;
    lstms_.emplace_back(1, input, settings.hidden, parameters_);
  }
  root_ = parameters_.add_parameters({both}, "root");
  none_ = parameters_.add_parameters({both}, "none");
  for (dynet::Parameter& weight : hidden_weights_) {
    weight = parameters_.add_parameters({settings.mlp, both}, "mlp-weight");
  }
  hidden_bias_ =
      parameters_.add_parameters({settings.mlp}, dynet::ParameterInitConst(0), "mlp-bias");
  const auto moves = static_cast<unsigned>(count_moves(description_.labels.size()));
  weight_ = parameters_.add_parameters({moves, settings.mlp}, "move-weight");
  bias_ = parameters_.add_parameters({moves}, dynet::ParameterInitConst(0), "move-bias");
}

Encoded Model::encode(const Sentence& sentence) const {
  Encoded encoded;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    encoded.words.push_back(static_cast<unsigned>(words_.convert(sentence.words[i])));
    encoded.tags.push_back(static_cast<unsigned>(tags_.convert(sentence.tags[i])));
  }
  return encoded;
}

void Model::report_unknown(const Treebank& sentences, const std::string& name) const {
  UnknownNames unknown_tags("tag", name), unknown_labels("label", name);
  for (const Sentence& sentence : sentences) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      const std::size_t line = sentence.rows.line_number(i);
      if (!tags_.contains(sentence.tags[i])) unknown_tags.add(sentence.tags[i], line);
      if (!sentence.tree.labels.empty() && !labels_.contains(sentence.tree.labels[i]))
        unknown_labels.add(sentence.tree.labels[i], line);
    }
  }
  if (unknown_tags.count() == count_words(sentences) && !sentences.empty()) {
    throw UserError(name + ": the model knows none of the tags (column 4, UPOS), such as " +
                    in_quotes(sentences[0].tags[0]) + "; parse --tagger MODEL fills them in");
  }
  unknown_tags.report("it parses such words as it can");
  unknown_labels.report("it gets none of them right");
}

std::vector<Move> Model::moves(const Sentence& sentence) const {
  std::vector<unsigned> labels;
  for (const std::string& label : sentence.tree.labels) {
    labels.push_back(static_cast<unsigned>(labels_.convert(label)));
  }
  return oracle(projective(sentence.tree.heads), labels);
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  training_ = training;
  for (dynet::LSTMBuilder& lstm : lstms_) lstm.new_graph(graph);
  root_node_ = parameter(graph, root_);
  none_node_ = parameter(graph, none_);
  for (std::size_t i = 0; i < kSeen; ++i) {
    hidden_weight_nodes_[i] = parameter(graph, hidden_weights_[i]);
  }
  hidden_bias_node_ = parameter(graph, hidden_bias_);
  weight_node_ = parameter(graph, weight_);
  bias_node_ = parameter(graph, bias_);
}

Expression Model::dropped(const Expression& x) const {
  const float rate = description_.settings.dropout;
  return training_ && rate > 0 ? dropout(x, rate) : x;
}

Model::Vectors Model::read(dynet::ComputationGraph& graph, const Encoded& sentence) {
  const std::size_t words = sentence.size();
  Vectors vectors(words);
  for (std::size_t i = 0; i < words; ++i) {
    vectors[i] = dynet::concatenate({lookup(graph, word_table_, sentence.words[i]),
                                     lookup(graph, tag_table_, sentence.tags[i])});
  }
  for (std::size_t layer = 0; layer < lstms_.size(); layer += 2) {
    dynet::LSTMBuilder& forward = lstms_[layer];
    dynet::LSTMBuilder& backward = lstms_[layer + 1];
    forward.start_new_sequence();
    backward.start_new_sequence();
    Vectors from_left(words), from_right(words);
    for (Expression& vector : vectors) vector = dropped(vector);
    for (std::size_t i = 0; i < words; ++i) from_left[i] = forward.add_input(vectors[i]);
    for (std::size_t i = words; i-- > 0;) from_right[i] = backward.add_input(vectors[i]);
    for (std::size_t i = 0; i < words; ++i) {
      vectors[i] = dynet::concatenate({from_left[i], from_right[i]});
    }
  }
  for (Expression& vector : vectors) vector = dropped(vector);
  vectors.insert(vectors.begin(), root_node_);
  return vectors;
}

Expression Model::scores(const Vectors& vectors, const State& state) const {
  const auto vector_of = [&](unsigned word) { return word == kNone ? none_node_ : vectors[word]; };
  const std::array<Expression, kSeen>& weights = hidden_weight_nodes_;
  const Expression hidden = tanh(
      dynet::affine_transform({hidden_bias_node_, weights[0], vector_of(state.next()), weights[1],
                               vector_of(state.stack(0)), weights[2], vector_of(state.stack(1)),
                               weights[3], vector_of(state.stack(2))}));
  return dynet::affine_transform({bias_node_, weight_node_, hidden});
}

Expression Model::loss(dynet::ComputationGraph& graph, const Encoded& sentence,
                       const std::vector<Move>& moves) {
  const Vectors vectors = read(graph, sentence);
  State state(sentence.size());
  std::vector<Expression> losses;
  for (const Move& move : moves) {
    losses.push_back(pickneglogsoftmax(scores(vectors, state), move.number()));
    state.take(move);
  }
  return sum(losses);
}

std::vector<Tree> Model::parse(dynet::ComputationGraph& graph, std::span<const Encoded> sentences,
                               bool probabilities) {
  struct Parse {
    Vectors vectors;
    State state;
    std::vector<float> probabilities;  ///< of the arcs, by word
    Expression scores;
  };
  graph.clear();
  begin_graph(graph, false);
  std::vector<Parse> parses;
  for (const Encoded& sentence : sentences) {
    parses.push_back({read(graph, sentence),
                      State(sentence.size()),
                      std::vector<float>(probabilities ? sentence.size() : 0),
                      {}});
  }
  std::vector<Parse*> waiting;
  while (true) {
    waiting.clear();
    for (Parse& parse : parses) {
      if (parse.state.finished()) continue;
      parse.scores = scores(parse.vectors, parse.state);
      waiting.push_back(&parse);
    }
    if (waiting.empty()) break;
    // The last value needs all that was built since the last time, and runs it in batches; the
    // others are there then.
    waiting.back()->scores.value();
    for (Parse* parse : waiting) {
      const dynet::Tensor& scores = parse->scores.value();
      State& state = parse->state;
      const Move move = best_move(state, scores);
      if (probabilities && move.action != Action::kShift)
        parse->probabilities[state.stack(0) - 1] = probability_of(move, state, scores);
      state.take(move);
    }
  }

  std::vector<Tree> trees;
  for (Parse& parse : parses) {
    Tree& tree = trees.emplace_back();
    tree.probabilities = std::move(parse.probabilities);
    tree.heads = parse.state.heads();
    for (const unsigned label : parse.state.labels()) {
      tree.labels.push_back(description_.labels[label]);
    }
  }
  return trees;
}

Parsed parse_all(Model& model, const Treebank& sentences, const ParseOptions& options,
                 const std::string& name) {
  const std::clock_t started = std::clock();
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].size() > sentences[b].size();
  });
  Parsed parsed;
  parsed.trees.resize(sentences.size());
  nlp::Progress progress(nlp::standard_error_output(), name, "sentences", sentences.size(), 0, 0);
  const std::size_t groups = (order.size() + options.together - 1) / options.together;
  const auto places = [&](std::size_t group) {
    const std::size_t begin = group * options.together;
    return std::span(order).subspan(begin, std::min(options.together, order.size() - begin));
  };
  std::vector<dynet::GraphStatistics> statistics(groups);
  std::size_t done = 0;
  nlp::share_out(
      model, groups,
      [&](Model& mine, dynet::ComputationGraph& graph, std::size_t group) {
        std::vector<Encoded> encoded;
        for (const std::size_t place : places(group))
          encoded.push_back(mine.encode(sentences[place]));
        std::vector<Tree> trees = mine.parse(graph, encoded, options.probabilities);
        for (std::size_t i = 0; i < trees.size(); ++i)
          parsed.trees[places(group)[i]] = std::move(trees[i]);
        statistics[group] = graph.statistics();
      },
      [&](std::size_t group) { progress.update(done += places(group).size()); });
  for (const dynet::GraphStatistics& each : statistics) {
    parsed.nodes += each.nodes;
    parsed.batches += each.batches;
  }
  parsed.seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
  return parsed;
}

Report score(const Model& model, const Treebank& sentences, const std::vector<Tree>& trees,
             const std::string& name) {
  Report report;
  report.name = name;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    report.add(sentences[i], trees[i], model.description().baseline);
  }
  return report;
}

Report evaluate(Model& model, const Treebank& sentences, const std::string& name) {
  return score(model, sentences, parse_all(model, sentences, {}, name).trees, name);
}

}  // namespace parser
