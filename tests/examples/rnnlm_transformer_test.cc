// The transformer of the language model from inside: what it sees, piece by piece and token by
// token.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "examples/nlp/rnnlm/evaluate.h"
#include "examples/nlp/rnnlm/model.h"
#include "examples/nlp/rnnlm/sample.h"
#include "tests/support/catch.h"

namespace rnnlm_transformer_test {

using namespace rnnlm;

namespace {

constexpr unsigned kTokens = 12;
constexpr unsigned kContext = 5;
const std::vector<Positions> kAllPositions = {Positions::kSinusoidal, Positions::kLearned,
                                              Positions::kRotary};

Description small(Positions positions, unsigned layers = 2) {
  Description description;
  description.data.read.format = Format::kText;
  description.settings.network = Network::kTransformer;
  description.settings.word = description.settings.hidden = 8;
  description.settings.layers = layers;
  description.settings.dropout = 0.3f;
  description.settings.transformer = {2, 16, positions, kContext};
  description.tokens = {"</s>", "<unk>"};
  for (char c = 'a'; description.tokens.size() < kTokens; ++c) {
    description.tokens.push_back(std::string(1, c));
  }
  return description;
}

/// Sentences with lengths below, at and above those of one and of two pieces.
std::vector<Ids> sentences() {
  return {{2, 3, 4},          {},          {5, 6, 7, 8, 9, 10, 11, 2, 3, 4, 5, 6},
          {4, 3, 2, 11},      {1, 1},      {2, 11, 2, 7, 8},
          {9, 8, 7, 6, 5, 4}, {2, 11, 10}, {3, 4, 5, 6, 7, 8, 9, 10, 11}};
}

/// The loss of each token and of the end, all in one graph.
std::vector<float> losses_of(Model& model, const Ids& sentence, bool training = false,
                             std::uint64_t seed = 1) {
  dynet::ComputationGraph graph;
  graph.set_seed(seed);
  model.begin_graph(graph, training);
  model.begin_sentences();
  const Minibatch batch({&sentence});
  return as_vector(model.losses(batch, 0, batch.steps()).value());
}

double sum(const std::vector<float>& losses) {
  double sum = 0;
  for (const float loss : losses) sum += static_cast<double>(loss);
  return sum;
}

}  // namespace

TEST_CASE("Rnnlm transformer: side by side or alone, a sentence has the same loss") {
  for (const Positions positions : kAllPositions) {
    Model model(small(positions), 5);
    const std::vector<double> together = sentence_losses(model, sentences());
    for (std::size_t i = 0; i < together.size(); ++i) {
      INFO(i);
      CHECK(together[i] == Approx(sum(losses_of(model, sentences()[i]))).epsilon(1e-5));
    }
  }
}

TEST_CASE("Rnnlm transformer: token by token, the probabilities are those of the whole sentence") {
  for (const Positions positions : kAllPositions) {
    Model model(small(positions), 6);
    for (const Ids& sentence : sentences()) {
      const std::vector<float> whole = losses_of(model, sentence);
      dynet::ComputationGraph graph;
      model.begin_graph(graph, false);
      model.begin_sentences();
      unsigned before = Vocabulary::kEnd;
      for (std::size_t t = 0; t < whole.size(); ++t) {
        const unsigned token = t < sentence.size() ? sentence[t] : Vocabulary::kEnd;
        const dynet::Expression scores = model.scores(model.step({before}));
        CHECK(scores.dim() == dynet::Dim({kTokens}));
        CHECK(as_scalar(pickneglogsoftmax(scores, token).value()) ==
              Approx(whole[t]).epsilon(1e-5));
        before = token;
      }
    }
  }
}

TEST_CASE("Rnnlm transformer: several sentences go on by a token at once") {
  Model model(small(Positions::kRotary), 6);
  const Ids first = {2, 3, 4, 5, 6, 7, 8}, second = {9, 8, 9, 7, 9, 6, 9};
  const std::vector<float> of_first = losses_of(model, first);
  const std::vector<float> of_second = losses_of(model, second);
  dynet::ComputationGraph graph;
  model.begin_graph(graph, false);
  model.begin_sentences();
  std::vector<unsigned> before = {Vocabulary::kEnd, Vocabulary::kEnd};
  for (std::size_t t = 0; t < first.size(); ++t) {
    const std::vector<unsigned> tokens = {first[t], second[t]};
    const std::vector<float> losses =
        as_vector(pickneglogsoftmax(model.scores(model.step(before)), tokens).value());
    CHECK(losses.at(0) == Approx(of_first[t]).epsilon(1e-5));
    CHECK(losses.at(1) == Approx(of_second[t]).epsilon(1e-5));
    before = tokens;
  }
}

TEST_CASE("Rnnlm transformer: a token changes what comes behind it in its piece, nothing before") {
  const Ids sentence = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2, 3};
  for (const Positions positions : kAllPositions) {
    Model model(small(positions), 7);
    const std::vector<float> as_it_is = losses_of(model, sentence);
    for (std::size_t place = 0; place < sentence.size(); ++place) {
      Ids other = sentence;
      other[place] = sentence[place] == 11 ? 2 : sentence[place] + 1;
      const std::vector<float> changed = losses_of(model, other);
      for (std::size_t t = 0; t < as_it_is.size(); ++t) {
        INFO(place << " " << t);
        // It is predicted at its own place, and what goes in at the next one.
        const bool sees = t == place || (t > place && t / kContext == (place + 1) / kContext);
        CHECK((changed[t] != as_it_is[t]) == sees);
      }
    }
  }
}

TEST_CASE("Rnnlm transformer: the order of what came before counts") {
  for (const Positions positions : kAllPositions) {
    Model model(small(positions, 1), 8);  // one layer cannot tell by what others saw
    const std::vector<float> one = losses_of(model, {2, 3, 4, 5}),
                             other = losses_of(model, {3, 2, 4, 5});
    CHECK(std::abs(one[3] - other[3]) > 1e-3f);
  }
}

TEST_CASE("Rnnlm transformer: dropout is of training, and by the graph's seed") {
  Model model(small(Positions::kSinusoidal), 9);
  const Ids sentence = {2, 3, 4, 5, 6};
  CHECK(losses_of(model, sentence, false, 1) == losses_of(model, sentence, false, 2));
  CHECK(losses_of(model, sentence, true, 1) == losses_of(model, sentence, true, 1));
  CHECK(losses_of(model, sentence, true, 1) != losses_of(model, sentence, true, 2));
}

TEST_CASE("Rnnlm transformer: training drops out of vectors, all parts of layers and outputs") {
  const Ids sentence = {2, 3, 4};
  const auto nodes = [&](bool training, bool by_step) {
    Model model(small(Positions::kSinusoidal), 9);
    dynet::ComputationGraph graph;
    model.begin_graph(graph, training);
    model.begin_sentences();
    if (by_step)
      model.step({3});
    else
      model.losses(Minibatch({&sentence}), 0, 4);
    return graph.nodes.size();
  };
  dynet::ComputationGraph graph;
  const dynet::Expression x = zeros(graph, {3});
  const std::size_t before = graph.nodes.size();
  dropout(x, 0.5f);
  const std::size_t one = graph.nodes.size() - before;
  // Dropout per layer: outputs of attention and of the feed-forward layer, and inside the latter.
  for (const bool by_step : {false, true})
    CHECK(nodes(true, by_step) - nodes(false, by_step) == (1 + 2 * 3 + 1) * one);
}

TEST_CASE("Rnnlm transformer: a long sentence is evaluated in several graphs, piece by piece") {
  Description description = small(Positions::kRotary);
  description.settings.transformer.context = 7;
  Model model(description, 8);
  Ids sentence, other;
  for (unsigned i = 0; i < 250; ++i) sentence.push_back(2 + i * i % 10);
  for (unsigned i = 0; i < 120; ++i) other.push_back(2 + i % 7);
  const std::vector<double> in_pieces = sentence_losses(model, {sentence, other});
  CHECK(in_pieces[0] == Approx(sum(losses_of(model, sentence))).epsilon(1e-5));
  CHECK(in_pieces[1] == Approx(sum(losses_of(model, other))).epsilon(1e-5));
}

TEST_CASE("Rnnlm transformer: what is drawn at temperature 0 is the likeliest each time") {
  for (const Positions positions : kAllPositions) {
    Model model(small(positions), 10);
    nlp::Random random(1);
    const Ids drawn = sample_sentence(model, {4, 5}, {0, 13}, random);
    CHECK(drawn.size() > 2);
    for (std::size_t t = 2; t < drawn.size(); ++t) {
      const auto loss = [&](unsigned token) {
        Ids sentence(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(t));
        if (token != Vocabulary::kEnd) sentence.push_back(token);
        return losses_of(model, sentence)[t];
      };
      for (unsigned token = 0; token < kTokens; ++token) {
        if (token != Vocabulary::kUnknown) CHECK(loss(drawn[t]) <= loss(token) + 1e-5f);
      }
    }
  }
}

TEST_CASE("Rnnlm transformer: parameters are those of its shape, and none of an LSTM") {
  const auto count = [](Positions positions) {
    return Model(small(positions), 1).parameters().parameter_count();
  };
  // Vectors and scores; in a layer 4 products of attention, 2 of feed-forward, 2 norms; the last
  // norm.
  const std::size_t d = 8, h = 16;
  const std::size_t layer = 4 * (d * d + d) + 2 * d * h + h + d + 4 * d;
  const std::size_t all = kTokens * d + kTokens * (d + 1) + 2 * layer + 2 * d;
  CHECK(count(Positions::kSinusoidal) == all);
  CHECK(count(Positions::kRotary) == all);
  CHECK(count(Positions::kLearned) == all + kContext * d);
}

}  // namespace rnnlm_transformer_test
