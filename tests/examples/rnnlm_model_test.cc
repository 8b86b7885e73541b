// The language model from inside: its losses, the sampled softmax, drawing.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "examples/nlp/rnnlm/evaluate.h"
#include "examples/nlp/rnnlm/model.h"
#include "examples/nlp/rnnlm/sample.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace rnnlm_model_test {

using namespace rnnlm;

namespace {

constexpr unsigned kTokens = 12;

Description small(Loss loss, unsigned layers = 2) {
  Description description;
  description.data.read.format = Format::kText;
  description.settings.word = 6;
  description.settings.hidden = 8;
  description.settings.layers = layers;
  description.settings.loss = loss;
  description.tokens = {"</s>", "<unk>"};
  for (char c = 'a'; description.tokens.size() < kTokens; ++c) {
    description.tokens.push_back(std::string(1, c));
  }
  return description;
}

std::vector<Ids> sentences() {
  return {{2, 3, 4}, {}, {5, 6, 7, 8, 9, 10, 11}, {1, 1}, {2, 11, 2}};
}

/// The loss of one sentence in a graph of its own.
double loss_alone(Model& model, const Ids& sentence) {
  dynet::ComputationGraph graph;
  model.begin_graph(graph, false);
  model.begin_sentences();
  const Minibatch batch({&sentence});
  return static_cast<double>(as_scalar(sum_batches(model.losses(batch, 0, batch.steps())).value()));
}

double perplexity(const std::vector<double>& losses, const std::vector<Ids>& of) {
  std::size_t tokens = 0;
  for (const Ids& sentence : of) tokens += sentence.size() + 1;
  return std::exp(std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(tokens));
}

}  // namespace

TEST_CASE("Rnnlm: a model that knows nothing is as perplexed as the vocabulary is large") {
  for (const Loss loss : {Loss::kFull, Loss::kSampled}) {
    Model model(small(loss), 1);
    for (const dynet::Parameter& parameter : model.parameters().parameters_list()) {
      parameter.set_value(std::vector<float>(parameter.dim().size(), 0.0f));
    }
    CHECK(perplexity(sentence_losses(model, sentences()), sentences()) == Approx(kTokens));
  }
}

TEST_CASE("Rnnlm: probabilities of the next token sum to one") {
  Model model(small(Loss::kFull), 3);
  double sum = 0;
  dynet::ComputationGraph graph;
  model.begin_graph(graph, false);
  model.begin_sentences();
  model.step({Vocabulary::kEnd});
  const dynet::Expression scores = model.scores(model.step({4}));
  CHECK(scores.dim() == dynet::Dim({kTokens}));
  for (float p : as_vector(softmax(scores).value())) sum += static_cast<double>(p);
  CHECK(sum == Approx(1).epsilon(1e-5));
}

TEST_CASE("Rnnlm: side by side or alone, a sentence has the same loss") {
  for (const Loss loss : {Loss::kFull, Loss::kSampled}) {
    Model model(small(loss), 5);
    const std::vector<double> together = sentence_losses(model, sentences());
    for (std::size_t i = 0; i < together.size(); ++i) {
      CHECK(together[i] == Approx(loss_alone(model, sentences()[i])).epsilon(1e-5));
    }
  }
}

TEST_CASE("Rnnlm: a long sentence is evaluated in pieces and remembered between them") {
  Model model(small(Loss::kFull), 7);
  Ids sentence, other;
  for (unsigned i = 0; i < 250; ++i) sentence.push_back(2 + i * i % 10);
  for (unsigned i = 0; i < 120; ++i) other.push_back(2 + i % 7);
  const std::vector<double> in_pieces = sentence_losses(model, {sentence, other});
  CHECK(in_pieces[0] == Approx(loss_alone(model, sentence)).epsilon(1e-5));
  CHECK(in_pieces[1] == Approx(loss_alone(model, other)).epsilon(1e-5));
}

TEST_CASE("Rnnlm: log-uniform draws have the probabilities that they are said to have") {
  const LogUniform proposal(50);
  nlp::Random random(1);
  std::vector<double> counts(50, 0.0);
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) counts.at(proposal.draw(random)) += 1.0 / kDraws;
  double sum = 0;
  for (unsigned k = 0; k < 50; ++k) {
    const double p = std::exp(proposal.log_probability(k));
    sum += p;
    CHECK(counts[k] == Approx(p).margin(0.004));
  }
  CHECK(sum == Approx(1.0));
  CHECK(LogUniform(1).draw(random) == 0);
}

TEST_CASE("Rnnlm: the sampled loss nears the full one as samples grow, and so do its gradients") {
  const std::vector<Ids> data = sentences();
  std::vector<const Ids*> places;
  for (const Ids& sentence : data) places.push_back(&sentence);
  const Minibatch batch(places);
  // The loss, and the gradient of the softmax's weights; of the full loss without samples.
  const auto compute = [&](unsigned samples) {
    Description description = small(Loss::kSampled, 1);
    description.settings.samples = samples;
    Model model(description, 9);
    nlp::Random random(3);
    dynet::ComputationGraph graph;
    model.begin_graph(graph, false);
    model.begin_sentences();
    const dynet::Expression loss =
        sum_batches(model.losses(batch, 0, batch.steps(), samples > 0 ? &random : nullptr));
    std::vector<double> result = {static_cast<double>(as_scalar(graph.forward(loss)))};
    graph.backward(loss);
    const auto rows = model.parameters().lookup_parameters_list().at(1);
    REQUIRE(rows.size() == kTokens);
    for (unsigned row = 0; row < kTokens; ++row) {
      for (float g : rows.row_gradient(row)) result.push_back(static_cast<double>(g));
    }
    return result;
  };
  const std::vector<double> full = compute(0);
  const auto error = [&](unsigned samples) {
    const std::vector<double> sampled = compute(samples);
    double worst = std::abs(sampled[0] - full[0]) / full[0];
    for (std::size_t i = 1; i < full.size(); ++i) {
      worst = std::max(worst, std::abs(sampled[i] - full[i]));
    }
    return worst;
  };
  CHECK(error(20000) < 0.02);
  CHECK(error(20000) < error(200));
  CHECK(error(200) < error(2));
}

TEST_CASE("Rnnlm: tokens are drawn by their probabilities and the temperature") {
  const std::vector<float> scores = {std::log(0.5f), 9.0f, std::log(0.2f), std::log(0.3f)};
  const auto shares = [&](double temperature) {
    nlp::Random random(2);
    std::vector<double> counts(4, 0.0);
    for (int i = 0; i < 50000; ++i) {
      counts[draw_token(scores, temperature, random)] += 1.0 / 50000;
    }
    return counts;
  };
  const std::vector<double> as_they_are = shares(1);
  CHECK(as_they_are[0] == Approx(0.5).margin(0.01));
  CHECK(as_they_are[Vocabulary::kUnknown] == 0);
  CHECK(as_they_are[2] == Approx(0.2).margin(0.01));
  // Squared: 0.25, 0.04, 0.09 of 0.38.
  CHECK(shares(0.5)[0] == Approx(0.25 / 0.38).margin(0.01));
  CHECK(shares(0)[0] == Approx(1.0));
}

TEST_CASE("Rnnlm: drawn sentences begin as asked and keep their longest length") {
  Model model(small(Loss::kSampled), 11);
  nlp::Random random(4);
  for (int i = 0; i < 20; ++i) {
    const Ids sentence = sample_sentence(model, {5, 6}, {1.0, 8}, random);
    REQUIRE(sentence.size() >= 2);
    CHECK(sentence.size() <= 8);
    CHECK(sentence[0] == 5);
    CHECK(sentence[1] == 6);
    for (unsigned token : sentence) CHECK(token > Vocabulary::kUnknown);
  }
  CHECK(sample_sentence(model, {}, {0, 5}, random) == sample_sentence(model, {}, {0, 5}, random));
}

TEST_CASE("Rnnlm: a long sentence is drawn in several graphs as in one") {
  constexpr std::size_t kLongest = 300;
  Model model(small(Loss::kFull), 12);
  for (const dynet::Parameter& parameter : model.parameters().parameters_list()) {
    std::vector<float> values = as_vector(*parameter.values());
    for (float& value : values) value *= 4;  // so that what came before counts
    if (contains(parameter.get_fullname(), "softmax-bias")) values[Vocabulary::kEnd] = -100;
    parameter.set_value(values);
  }
  nlp::Random random(5), same(5);
  const Ids drawn = sample_sentence(model, {}, {1.0, kLongest}, random);
  REQUIRE(drawn.size() == kLongest);
  dynet::ComputationGraph graph;
  model.begin_graph(graph, false);
  model.begin_sentences();
  unsigned before = Vocabulary::kEnd;
  Ids in_one_graph;
  while (in_one_graph.size() < kLongest) {
    before = draw_token(as_vector(model.scores(model.step({before})).value()), 1.0, same);
    in_one_graph.push_back(before);
  }
  CHECK(drawn == in_one_graph);
}

}  // namespace rnnlm_model_test
