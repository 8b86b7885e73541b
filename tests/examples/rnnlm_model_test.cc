// The language model from inside: its losses, the sampled softmax, drawing; a transformer piece by
// piece and token by token.

#include "examples/nlp/rnnlm/evaluate.h"
#include "examples/nlp/rnnlm/model.h"
#include "examples/nlp/rnnlm/sample.h"
#include "tests/examples/helpers.h"

namespace rnnlm_model_test {

using namespace rnnlm;

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

constexpr unsigned kContext = 5;
const std::vector<Positions> kAllPositions = {Positions::kSinusoidal, Positions::kLearned,
                                              Positions::kRotary};

Description transformer(Positions positions, unsigned layers = 2) {
  Description description = small(Loss::kFull, layers);
  description.settings.network = Network::kTransformer;
  description.settings.word = 8;
  description.settings.dropout = 0.3f;
  description.settings.transformer = {2, 16, positions, kContext};
  return description;
}

std::vector<Description> all_networks() {
  std::vector<Description> all = {small(Loss::kFull), small(Loss::kSampled)};
  for (const Positions positions : kAllPositions) all.push_back(transformer(positions));
  return all;
}

/// Begins a graph, not of training, and sentences in it.
void begin(Model& model, ComputationGraph& graph) {
  model.begin_graph(graph, false);
  model.begin_sentences();
}

/// Sentences with lengths below, at and above those of one and of two pieces.
std::vector<Ids> pieces() {
  return {{2, 3, 4},          {},          {5, 6, 7, 8, 9, 10, 11, 2, 3, 4, 5, 6},
          {4, 3, 2, 11},      {1, 1},      {2, 11, 2, 7, 8},
          {9, 8, 7, 6, 5, 4}, {2, 11, 10}, {3, 4, 5, 6, 7, 8, 9, 10, 11}};
}

/// The loss of each token and of the end, all in one graph.
Floats losses_of(Model& model, const Ids& sentence, bool training = false, std::uint64_t seed = 1) {
  ComputationGraph graph;
  graph.set_seed(seed);
  model.begin_graph(graph, training);
  model.begin_sentences();
  const Minibatch batch({&sentence});
  return as_vector(model.losses(batch, 0, batch.steps()).value());
}

double sum(const Floats& losses) {
  double sum = 0;
  for (const float loss : losses) sum += static_cast<double>(loss);
  return sum;
}

TEST_CASE("Rnnlm: side by side or alone, a sentence has the same loss") {
  for (const Description& description : all_networks()) {
    Model model(description, 5);
    const std::vector<double> together = sentence_losses(model, pieces());
    for (std::size_t i = 0; i < together.size(); ++i) {
      INFO(i);
      CHECK(together[i] == Approx(sum(losses_of(model, pieces()[i]))).epsilon(1e-5));
    }
  }
}

TEST_CASE("Rnnlm: a long sentence is evaluated in several graphs, piece by piece") {
  Description in_context = transformer(Positions::kRotary);
  in_context.settings.transformer.context = 7;
  Ids sentence, other;
  for (unsigned i = 0; i < 250; ++i) sentence.push_back(2 + i * i % 10);
  for (unsigned i = 0; i < 120; ++i) other.push_back(2 + i % 7);
  for (const Description& description : {small(Loss::kFull), in_context}) {
    Model model(description, 7);
    const std::vector<double> in_pieces = sentence_losses(model, {sentence, other});
    CHECK(in_pieces[0] == Approx(sum(losses_of(model, sentence))).epsilon(1e-5));
    CHECK(in_pieces[1] == Approx(sum(losses_of(model, other))).epsilon(1e-5));
  }
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
    ComputationGraph graph;
    begin(model, graph);
    const Expression loss =
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
  const Floats scores = {std::log(0.5f), 9.0f, std::log(0.2f), std::log(0.3f)};
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
    Floats values = as_vector(*parameter.values());
    for (float& value : values) value *= 4;  // so that what came before counts
    if (contains(parameter.get_fullname(), "softmax-bias")) values[Vocabulary::kEnd] = -100;
    parameter.set_value(values);
  }
  nlp::Random random(5), same(5);
  const Ids drawn = sample_sentence(model, {}, {1.0, kLongest}, random);
  REQUIRE(drawn.size() == kLongest);
  ComputationGraph graph;
  begin(model, graph);
  unsigned before = Vocabulary::kEnd;
  Ids in_one_graph;
  while (in_one_graph.size() < kLongest) {
    before = draw_token(as_vector(model.scores(model.step({before})).value()), 1.0, same);
    in_one_graph.push_back(before);
  }
  CHECK(drawn == in_one_graph);
}

TEST_CASE("Rnnlm: token by token, the probabilities are those of the whole sentence") {
  for (const Description& description : all_networks()) {
    Model model(description, 6);
    for (const Ids& sentence : pieces()) {
      const Floats whole = losses_of(model, sentence);
      ComputationGraph graph;
      begin(model, graph);
      unsigned before = Vocabulary::kEnd;
      for (std::size_t t = 0; t < whole.size(); ++t) {
        const unsigned token = t < sentence.size() ? sentence[t] : Vocabulary::kEnd;
        const Expression scores = model.scores(model.step({before}));
        CHECK(scores.dim() == dynet::Dim({kTokens}));
        CHECK(as_scalar(pickneglogsoftmax(scores, token).value()) ==
              Approx(whole[t]).epsilon(1e-5));
        before = token;
      }
    }
  }
}

TEST_CASE("Rnnlm transformer: several sentences go on by a token at once") {
  Model model(transformer(Positions::kRotary), 6);
  const Ids first = {2, 3, 4, 5, 6, 7, 8}, second = {9, 8, 9, 7, 9, 6, 9};
  const Floats of_first = losses_of(model, first);
  const Floats of_second = losses_of(model, second);
  ComputationGraph graph;
  begin(model, graph);
  std::vector<unsigned> before = {Vocabulary::kEnd, Vocabulary::kEnd};
  for (std::size_t t = 0; t < first.size(); ++t) {
    const std::vector<unsigned> tokens = {first[t], second[t]};
    const Floats losses =
        as_vector(pickneglogsoftmax(model.scores(model.step(before)), tokens).value());
    CHECK(losses.at(0) == Approx(of_first[t]).epsilon(1e-5));
    CHECK(losses.at(1) == Approx(of_second[t]).epsilon(1e-5));
    before = tokens;
  }
}

TEST_CASE("Rnnlm transformer: a token changes what comes behind it in its piece, nothing before") {
  const Ids sentence = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2, 3};
  for (const Positions positions : kAllPositions) {
    Model model(transformer(positions), 7);
    const Floats as_it_is = losses_of(model, sentence);
    for (std::size_t place = 0; place < sentence.size(); ++place) {
      Ids other = sentence;
      other[place] = sentence[place] == 11 ? 2 : sentence[place] + 1;
      const Floats changed = losses_of(model, other);
      for (std::size_t t = 0; t < as_it_is.size(); ++t) {
        INFO(place << " " << t);
        // It is predicted at its own place, and what goes in at the next one.
        const bool sees = t == place || (t > place && t / kContext == (place + 1) / kContext);
        CHECK((changed[t] != as_it_is[t]) == sees);
      }
    }
  }
}

TEST_CASE("Rnnlm transformer: dropout is of training, and by the graph's seed") {
  Model model(transformer(Positions::kSinusoidal), 9);
  const Ids sentence = {2, 3, 4, 5, 6};
  CHECK(losses_of(model, sentence, false, 1) == losses_of(model, sentence, false, 2));
  CHECK(losses_of(model, sentence, true, 1) == losses_of(model, sentence, true, 1));
  CHECK(losses_of(model, sentence, true, 1) != losses_of(model, sentence, true, 2));
}

TEST_CASE("Rnnlm transformer: what is drawn at temperature 0 is the likeliest each time") {
  for (const Positions positions : kAllPositions) {
    Model model(transformer(positions), 10);
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

}  // namespace rnnlm_model_test
