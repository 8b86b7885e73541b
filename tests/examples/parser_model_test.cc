// The parser's network: its gradients, and that parsing many sentences in step changes nothing.

#include "examples/nlp/parser/model.h"
#include "tests/examples/model_checks.h"
#include "tests/layers/naive.h"
#include "tests/support/all_trees.h"

namespace parser_model_test {

using namespace parser;

/// Sentences of 1, 2, ... words; their trees hang from the first word.
Treebank sentences_of(const std::vector<unsigned>& lengths) {
  const Strings words = {"the", "cat", "sees", "a", "dog", "today"};
  const Strings tags = {"D", "N", "V"};
  const Strings labels = {"det", "obj", "mod"};
  Treebank sentences;
  for (const unsigned length : lengths) {
    Sentence sentence;
    for (unsigned i = 0; i < length; ++i) {
      const auto k = static_cast<unsigned>(3 * sentences.size() + i * i);
      sentence.words.push_back(words[k % words.size()]);
      sentence.tags.push_back(tags[k % tags.size()]);
      sentence.tree.heads.push_back(i == 0 ? 0 : 1 + k % i);
      sentence.tree.labels.push_back(i == 0 ? "root" : labels[k % labels.size()]);
    }
    sentences.push_back(sentence);
  }
  return sentences;
}

ModelSettings small(float dropout) { return {5, 3, 4, 2, 6, dropout}; }

/// The same with scores of arcs; those that may cross read characters, too.
ModelSettings of_arcs(bool crossing, float dropout = 0) {
  ModelSettings settings = small(dropout);
  settings.graph = true;
  settings.crossing = crossing;
  settings.arc = 5;
  settings.label = 3;
  settings.character = crossing ? 4 : 0;
  return settings;
}

/// All weights away from where they begin, and so large that words make a difference.
void spread(Model& model, unsigned seed = 1) {
  for (dynet::Parameter p : model.parameters().parameters_list()) {
    Floats values = naive::numbers(p.dim().size(), seed++);
    for (float& value : values) value *= 3;
    p.set_value(values);
  }
}

Expression loss_of(Model& model, ComputationGraph& graph, const Treebank& sentences,
                   bool training) {
  model.begin_graph(graph, training);
  std::vector<Expression> losses;
  for (const Sentence& s : sentences) {
    losses.push_back(model.loss(model.encode(s), model.target(s)));
  }
  return sum(losses);
}

/// Fits the model to the sentences, so that it makes different trees of different words.
void learn(Model& model, const Treebank& sentences) {
  dynet::AdamTrainer trainer(model.parameters(), 0.01f);
  for (unsigned i = 0; i < 60; ++i) {
    ComputationGraph graph;
    graph.backward(loss_of(model, graph, sentences, false));
    trainer.update();
  }
}

/// The loss of a sentence without the library.
double naive_loss(const Model& model, const Sentence& sentence, const std::vector<Move>& moves) {
  const ModelSettings& settings = model.description().settings;
  const std::vector<dynet::Parameter> p = model.parameters().parameters_list();
  const auto vector = [](const dynet::Parameter& parameter) {
    return naive::to_double(as_vector(parameter.values()));
  };
  const Encoded encoded = model.encode(sentence);
  const auto tables = model.parameters().lookup_parameters_list();
  std::vector<naive::Vector> words;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    words.push_back(naive::to_double(as_vector(tables[0].row(encoded.words[i]))));
    const naive::Vector tag = naive::to_double(as_vector(tables[1].row(encoded.tags[i])));
    words.back().insert(words.back().end(), tag.begin(), tag.end());
  }
  for (std::size_t layer = 0; layer < settings.layers; ++layer) {
    std::vector<naive::Vector> outputs(words.size());
    for (std::size_t direction = 0; direction < 2; ++direction) {
      dynet::ParameterCollection copied;
      dynet::LSTMBuilder lstm(1, static_cast<unsigned>(words[0].size()), settings.hidden, copied);
      for (std::size_t k = 0; k < 3; ++k) {
        copied.parameters_list()[k].set_value(
            as_vector(p[3 * (2 * layer + direction) + k].values()));
      }
      naive::State state;
      for (std::size_t step = 0; step < words.size(); ++step) {
        const std::size_t i = direction == 0 ? step : words.size() - 1 - step;
        state = naive::lstm_step(lstm, 1, settings.hidden, 1.0, state, words[i]);
        outputs[i].insert(outputs[i].end(), state.h[0].begin(), state.h[0].end());
      }
    }
    words = outputs;
  }
  const auto rest = p.begin() + static_cast<std::ptrdiff_t>(6 * settings.layers);
  words.insert(words.begin(), vector(rest[0]));
  const naive::Vector none = vector(rest[1]);
  double loss = 0;
  State state(sentence.size());
  for (const Move& move : moves) {
    naive::Vector hidden = vector(rest[6]);
    const unsigned seen[] = {state.next(), state.stack(0), state.stack(1), state.stack(2)};
    for (int k = 0; k < 4; ++k) {
      hidden =
          naive::plus(hidden, naive::times(rest[2 + k], seen[k] == kNone ? none : words[seen[k]]));
    }
    for (double& x : hidden) x = std::tanh(x);
    const naive::Vector scores = naive::plus(naive::times(rest[7], hidden), vector(rest[8]));
    double sum = 0;
    for (const double score : scores) sum += std::exp(score);
    loss += std::log(sum) - scores[move.number()];
    state.take(move);
  }
  return loss;
}

/// In Universal Dependencies.
bool is_right(const std::string& label, unsigned head) { return (label == "root") == (head == 0); }

/// The most likely allowed move, again and again, found with nothing but the loss. Sets the
/// probabilities of the arcs among the allowed moves.
State by_losses(Model& model, const Sentence& sentence, Floats& probabilities) {
  State state(sentence.size());
  probabilities.resize(sentence.size());
  std::vector<Move> moves;
  ComputationGraph graph;
  while (!state.finished()) {
    moves.emplace_back();
    Move best;
    Floats losses;
    float least = 1e30f;
    for (const Action action : {Action::kShift, Action::kLeft, Action::kRight}) {
      if (!state.allows(action)) continue;
      for (unsigned label = 0; label < model.description().labels.size(); ++label) {
        moves.back() = {action, label};
        if (action == Action::kShift
                ? label > 0
                : !is_right(model.description().labels[label], state.head(action)))
          continue;
        graph.clear();
        model.begin_graph(graph, false);
        const float loss = as_scalar(model.loss(model.encode(sentence), {moves, {}, {}}).value());
        losses.push_back(loss);
        if (loss < least) best = moves.back();
        least = std::min(least, loss);
      }
    }
    moves.back() = best;
    float sum = 0;
    for (const float loss : losses) sum += std::exp(least - loss);
    if (best.action != Action::kShift) probabilities[state.stack(0) - 1] = 1 / sum;
    state.take(best);
  }
  return state;
}

TEST_CASE("Parser: the network computes what its description says") {
  const Treebank sentences = sentences_of({1, 5, 8});
  Model model(describe(small(0.3f), sentences), 7);
  spread(model);
  for (const Sentence& sentence : sentences) {
    ComputationGraph graph;
    const float loss = as_scalar(loss_of(model, graph, {sentence}, false).value());
    CHECK(loss == Approx(naive_loss(model, sentence, model.target(sentence).moves)).epsilon(1e-4));
  }
}

TEST_CASE("Parser: takes the best of the moves that are allowed") {
  const Treebank sentences = sentences_of({3, 4, 5, 2});
  Model model(describe(small(0), sentences), 7);
  spread(model);
  ComputationGraph graph;
  for (const Sentence& sentence : sentences) {
    const Encoded encoded = model.encode(sentence);
    const Tree tree = model.parse(graph, {&encoded, 1}, true)[0];
    Floats probabilities;
    const State wanted = by_losses(model, sentence, probabilities);
    CHECK(tree.heads == wanted.heads());
    REQUIRE(tree.labels.size() == sentence.size());
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      CHECK(tree.labels[i] == model.description().labels[wanted.labels()[i]]);
      CHECK(tree.probabilities[i] == Approx(probabilities[i]).epsilon(1e-4));
    }
  }
  CHECK(model.parse(graph, {}).empty());
}

TEST_CASE("Parser: the label is root where the head is 0, and nowhere else") {
  const Treebank sentences = sentences_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  // As such, and where the model does not know that label, or no other one.
  for (const std::string change : {"", "not root", "only root"})
    for (const bool graph : {false, true}) {
      Treebank changed = sentences;
      for (Sentence& sentence : changed)
        for (std::string& label : sentence.tree.labels)
          if (change == "only root" || (label == "root" && change == "not root")) {
            label = change == "not root" ? "top" : "root";
          }
      Model model(describe(graph ? of_arcs(true) : small(0), changed), 7);
      for (int weights = 0; weights < 3; ++weights) {
        spread(model, 1 + 100 * weights);
        for (const bool probabilities : {false, true}) {
          const Parsed parsed = parse_all(model, changed, {4, probabilities}, "parse");
          for (const Tree& tree : parsed.trees)
            for (std::size_t i = 0; i < tree.heads.size(); ++i) {
              if (change.empty()) CHECK(is_right(tree.labels[i], tree.heads[i]));
              if (change == "only root") CHECK(tree.labels[i] == "root");
              // The probability of a move is one among those that are allowed.
              if (probabilities && !graph && tree.heads.size() == 1 && change.empty())
                CHECK(tree.probabilities[i] == 1);
            }
        }
      }
    }
}

TEST_CASE("Parser: sentences parsed in step get the trees they get alone") {
  std::vector<unsigned> lengths;
  for (unsigned i = 0; i < 40; ++i) lengths.push_back(1 + i * i % 11);
  const Treebank sentences = sentences_of(lengths);
  for (const ModelSettings& settings : {small(0), of_arcs(false), of_arcs(true)}) {
    Model model(describe(settings, sentences), 7);
    learn(model, sentences);
    const Parsed alone = parse_all(model, sentences, {1, settings.graph}, "alone");
    REQUIRE(alone.trees.size() == sentences.size());
    bool differ = false;  // or there would be nothing to mix up
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      CHECK(alone.trees[i].heads.size() == sentences[i].size());
      for (std::size_t k = 0; k < i; ++k) {
        differ |= alone.trees[i].heads.size() == alone.trees[k].heads.size() &&
                  alone.trees[i].heads != alone.trees[k].heads;
      }
    }
    CHECK((differ || settings.graph));
    for (const std::size_t together : {2, 7, 32, 100}) {
      const Parsed parsed = parse_all(model, sentences, {together, settings.graph}, "together");
      REQUIRE(parsed.trees.size() == sentences.size());
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        CHECK(parsed.trees[i].heads == alone.trees[i].heads);
        CHECK(parsed.trees[i].labels == alone.trees[i].labels);
        CHECK(parsed.trees[i].probabilities == alone.trees[i].probabilities);
      }
      CHECK(parsed.batches < alone.batches);
    }
  }
}

TEST_CASE("Parser: sentences of one length need no more batches than one of them") {
  const Treebank sentences = sentences_of(std::vector<unsigned>(32, 9));
  Model model(describe(small(0), sentences), 7);
  spread(model);
  const Parsed alone = parse_all(model, {sentences[0]}, {1}, "alone");
  const Parsed parsed = parse_all(model, sentences, {32}, "together");
  CHECK(parsed.batches == alone.batches);
  // Values requested in the middle run once: a move takes four nodes.
  CHECK(alone.batches >= 2 * 9 * 4);
  CHECK(alone.batches <= alone.nodes);
}

TEST_CASE(
    "Parser of arcs: the probabilities of all trees and labels add up to one, and the best is "
    "found") {
  const Treebank sentences = sentences_of({1, 2, 3, 4});
  for (const bool crossing : {false, true}) {
    Model model(describe(of_arcs(crossing), sentences), 7);
    spread(model);
    ComputationGraph graph;
    for (const Sentence& sentence : sentences) {
      const Encoded encoded = model.encode(sentence);
      const auto words = static_cast<unsigned>(sentence.size());
      const auto trees = dynet::test::all_trees(words, {.projective = !crossing});
      CHECK(trees.size() ==
            std::vector<std::size_t>{0, 1, 2, crossing ? 9u : 7u, crossing ? 64u : 30u}[words]);
      const auto count = static_cast<unsigned>(model.description().labels.size());
      double sum = 0, least = 1e30;
      Target best;
      const auto loss_of_target = [&](const Target& target) {
        graph.clear();
        model.begin_graph(graph, false);
        return static_cast<double>(as_scalar(model.loss(encoded, target).value()));
      };
      // Labels do not mind each other: their probabilities add up to one word by word.
      for (const auto& heads : trees) {
        Target target{{}, heads, std::vector<unsigned>(words, 0)};
        double of_first = loss_of_target(target), others = 1, arcs = of_first;
        Target chosen = target;
        for (unsigned i = 0; i < words; ++i) {
          double of_label = 0, lowest = 0;
          bool found = false;
          for (unsigned label = 0; label < count; ++label) {
            Target other = target;
            other.labels[i] = label;
            const double more = loss_of_target(other) - of_first;
            of_label += std::exp(-more);
            if (!is_right(model.description().labels[label], heads[i])) continue;
            if (!std::exchange(found, true) || more < lowest) {
              lowest = more;
              chosen.labels[i] = label;
            }
          }
          others *= of_label;
          arcs += lowest;
        }
        sum += std::exp(-of_first) * others;
        const double tree_loss = of_first - std::log(others);
        if (tree_loss < least) {
          least = tree_loss;
          best = chosen;
        }
      }
      CHECK(sum == Approx(1).epsilon(1e-4));
      const Tree tree = model.parse(graph, {&encoded, 1}, true)[0];
      CHECK(tree.heads == best.heads);
      REQUIRE(tree.labels.size() == words);
      for (unsigned i = 0; i < words; ++i) {
        CHECK(tree.labels[i] == model.description().labels[best.labels[i]]);
        CHECK(tree.probabilities[i] > 0);
        CHECK(tree.probabilities[i] <= 1.0001f);
        if (words == 1) CHECK(tree.probabilities[i] == Approx(1).epsilon(1e-5));
      }
      // Two words have two trees with one root. Each arc is in one of them, the better one is
      // found.
      if (words == 2) CHECK(tree.probabilities[0] > 0.5f);
      if (words == 2) CHECK(tree.probabilities[1] == Approx(tree.probabilities[0]).epsilon(1e-5));
    }
    CHECK(model.parse(graph, {}).empty());
  }
}

TEST_CASE("Parser: gradients are right, and dropout is for training") {
  const Treebank sentences = sentences_of({1, 4, 3});
  const std::size_t read = 2 + 4 * 3, arcs = 1 + 4 + 2 + 4;
  for (const auto& [settings, parameters] : {std::pair(small(0.3f), read + 9),
                                             {of_arcs(false, 0.3f), read + arcs},
                                             {of_arcs(true, 0.3f), read + arcs + 1 + 2 * 3}}) {
    Model model(describe(settings, sentences), 7);
    check_training_of(parameters, [&](auto& graph, bool training) {
      return loss_of(model, graph, sentences, training);
    });
  }
}

TEST_CASE("Parser of arcs: only trees that may cross are learned as they are") {
  Treebank sentences = sentences_of({4});
  sentences[0].tree.heads = {3, 4, 0, 3};  // 1 <- 3 and 2 <- 4 cross
  REQUIRE_FALSE(is_projective(sentences[0].tree.heads));
  for (const bool crossing : {false, true}) {
    const Model model(describe(of_arcs(crossing), sentences), 7);
    const Target target = model.target(sentences[0]);
    CHECK((target.heads == sentences[0].tree.heads) == crossing);
    CHECK(is_projective(target.heads) == !crossing);
    CHECK(target.labels.size() == 4);
    CHECK(target.moves.empty());
  }
}

TEST_CASE("Parser: unknown words and tags share a vector") {
  const Treebank sentences = sentences_of({6});
  Model model(describe(small(0), sentences), 1);
  Sentence probe;
  probe.words = {"dog", "unicorn", "<unk>"};
  probe.tags = {"Q", "N", "<unk>"};
  const Encoded encoded = model.encode(probe);
  CHECK((encoded.words[0] != 0 && encoded.words[1] == 0 && encoded.words[2] == 0));
  CHECK((encoded.tags[0] == 0 && encoded.tags[1] != 0 && encoded.tags[2] == 0));
}

TEST_CASE("Parser: characters tell unknown words apart") {
  const Treebank sentences = sentences_of({6, 6});
  for (const unsigned size : {0u, 1u, 4u}) {
    ModelSettings settings = of_arcs(true);
    settings.character = size;
    Model model(describe(settings, sentences), 1);
    const auto loss_with = [&](const char* word) {
      Treebank changed = {sentences[0]};
      changed[0].words[2] = word;
      ComputationGraph graph;
      return as_scalar(loss_of(model, graph, changed, false).value());
    };
    CHECK(loss_with("odd") == loss_with("odd"));
    CHECK((loss_with("odd") != loss_with("doo")) == (size > 0));
  }
}

}  // namespace parser_model_test
