#include "dynet-like/io/save.h"
#include "tests/layers/naive_transformer.h"
#include "tests/layers/softmax_check.h"

namespace sampled_softmax_test {

using namespace dynet;
using naive::kRep;
using naive::numbers;
using naive::Vector;

namespace {

constexpr unsigned kClasses = 8;

/// E rep + b.
Vector scores_of(const SampledSoftmaxBuilder& softmax, const Vector& rep) {
  const auto tables = softmax.get_parameter_collection().lookup_parameters_list();
  CHECK(tables.size() == (softmax.settings().bias ? 2 : 1));
  Vector scores;
  for (unsigned c = 0; c < softmax.settings().num_classes; ++c) {
    double s = softmax.settings().bias ? double(as_vector(tables[1].row(c))[0]) : 0;
    for (unsigned i = 0; i < kRep; ++i) s += double(as_vector(tables[0].row(c))[i]) * rep[i];
    scores.push_back(s);
  }
  return scores;
}

std::map<unsigned, double> distribution(const SampledSoftmaxBuilder& softmax, const Vector& rep) {
  const Vector all = naive::softmax_of(scores_of(softmax, rep));
  std::map<unsigned, double> p;
  for (unsigned c = 0; c < all.size(); ++c) p[c] = all[c];
  return p;
}

double naive_q(const SampledSoftmaxBuilder::Settings& s, unsigned c) {
  if (s.weights.empty()) return std::log((c + 2.0) / (c + 1)) / std::log(s.num_classes + 1.0);
  return double(s.weights[c]) / std::accumulate(s.weights.begin(), s.weights.end(), 0.0);
}

const std::vector<float> kWeights = {1, 5, 0.5f, 2, 8, 3, 1, 0.25f};

}  // namespace

TEST_CASE("sampled softmax: what is exact has the probabilities of its definition") {
  for (const bool bias : {true, false}) {
    ParameterCollection model;
    SampledSoftmaxBuilder softmax(model, {kRep, kClasses, 4, {}, bias});
    naive::spread_tables(model, 30);
    naive::check_softmax(
        softmax, [&](const Vector& rep) { return distribution(softmax, rep); }, kClasses);
  }
}

TEST_CASE("sampled softmax: losses are their formulas, for words that were drawn too") {
  for (const bool weighted : {true, false}) {
    ParameterCollection model;
    const std::vector<float> weights = weighted ? kWeights : std::vector<float>();
    SampledSoftmaxBuilder softmax(model, {kRep, kClasses, 6, weights, weighted});
    naive::spread_tables(model, 30);
    const SampledSoftmaxBuilder::Settings& s = softmax.settings();
    const std::vector<float> reps = numbers(2 * kRep, 4);
    const auto u = [&](const Vector& scores, unsigned c) {
      return scores[c] - std::log(6 * naive_q(s, c));
    };
    const auto draw_of = [&](std::uint64_t seed) {  // what the loss of a graph draws first
      ComputationGraph cg;
      cg.set_seed(seed);
      return softmax.draw(next_random_key(cg));
    };
    unsigned hits = 0;
    for (std::uint64_t seed = 1; seed < 12; ++seed) {
      const NegativeSamples negatives = draw_of(seed);
      REQUIRE(negatives.classes.size() == 6);
      ComputationGraph cg, noise;
      cg.set_seed(seed);
      noise.set_seed(seed);
      const std::vector<unsigned> words = {4, 0};
      const auto rep = [&](ComputationGraph& g) { return input(g, Dim({kRep}, 2), reps); };
      softmax.new_graph(cg);
      const std::vector<float> losses = as_vector(softmax.sampled_loss(rep(cg), words).value());
      const auto expected = [&](unsigned c) { return static_cast<float>(softmax.log_expected(c)); };
      const Expression given =
          softmax.sampled_loss(rep(cg), words, negatives, {expected(4), expected(0)});
      CHECK(as_vector(given.value()) == losses);
      softmax.new_graph(noise);
      const std::vector<float> nce = as_vector(softmax.nce_loss(rep(noise), words).value());
      REQUIRE((losses.size() == 2 && nce.size() == 2));
      for (unsigned k = 0; k < 2; ++k) {
        const Vector scores =
            scores_of(softmax, naive::to_double(naive::part(reps, k * kRep, (k + 1) * kRep)));
        const double word = u(scores, words[k]);
        double total = std::exp(word), sum = -std::log(naive::logistic(word));
        for (const unsigned c : negatives.classes) {
          hits += c == words[k];
          if (c != words[k]) total += std::exp(u(scores, c));
          sum -= std::log(naive::logistic(-u(scores, c)));
        }
        CHECK(losses[k] == Approx(std::log(total) - word).margin(1e-5));
        CHECK(nce[k] == Approx(sum).margin(1e-5));
      }
    }
    CHECK(hits > 0);
  }
}

TEST_CASE("sampled softmax: draws follow the key and the proposal") {
  ParameterCollection model;
  SampledSoftmaxBuilder uniform(model, {kRep, kClasses, 5000});
  SampledSoftmaxBuilder weighted(model, {kRep, kClasses, 5000, kWeights});
  for (const SampledSoftmaxBuilder* softmax : {&uniform, &weighted}) {
    const NegativeSamples drawn = softmax->draw(17);
    CHECK(drawn.classes == softmax->draw(17).classes);
    CHECK(drawn.classes != softmax->draw(18).classes);
    std::vector<double> counts(kClasses);
    double sum = 0;
    for (std::size_t i = 0; i < drawn.classes.size(); ++i) {
      REQUIRE(drawn.classes[i] < kClasses);
      ++counts[drawn.classes[i]];
    }
    for (unsigned c = 0; c < kClasses; ++c) {
      const double q = naive_q(softmax->settings(), c), n = 5000;
      sum += q;
      CHECK(std::abs(counts[c] - n * q) < 4.5 * std::sqrt(n * q * (1 - q)));
      CHECK(softmax->log_expected(c) == Approx(std::log(n * q)));
    }
    CHECK(sum == Approx(1));
    for (const std::size_t i : {std::size_t{0}, std::size_t{77}})
      CHECK(drawn.log_expected[i] == Approx(softmax->log_expected(drawn.classes[i])));
    CHECK_THROWS_AS(softmax->log_expected(kClasses), IndexError);
  }
  // The same on every machine.
  SampledSoftmaxBuilder few(model, {kRep, 1000, 8}), counted(model, {kRep, kClasses, 8, kWeights});
  CHECK(few.draw(1).classes == std::vector<unsigned>{446, 0, 0, 22, 555, 254, 39, 2});
  CHECK(counted.draw(1).classes == std::vector<unsigned>{5, 0, 1, 4, 5, 5, 4, 1});
}

TEST_CASE("sampled softmax: gradients, of the rows that a loss reads alone") {
  ParameterCollection model;
  SampledSoftmaxBuilder softmax(model, {kRep, 500, 6});
  const Parameter x = model.add_parameters({kRep});
  naive::spread_tables(model, 30);
  naive::spread(model);
  for (const bool noise : {false, true}) {
    ComputationGraph cg;
    cg.set_seed(2);
    softmax.new_graph(cg);
    const Expression rep =
        concatenate_to_batch({parameter(cg, x), input(cg, {kRep}, numbers(kRep, 4))});
    const Expression loss =
        sum_batches(noise ? softmax.nce_loss(rep, {400, 3}) : softmax.sampled_loss(rep, {400, 3}));
    check_slopes(loss, 3);
    model.reset_gradient();
    cg.backward(loss);
    const LookupParameter table = softmax.get_parameter_collection().lookup_parameters_list()[0];
    unsigned rows = 0;
    for (unsigned c = 0; c < 500; ++c) {
      const std::vector<float> g = table.row_gradient(c);
      rows += std::any_of(g.begin(), g.end(), [](float v) { return v != 0; });
    }
    CHECK((rows > 2 && rows <= 8));
    const std::vector<float> of_word = table.row_gradient(400);
    CHECK(std::any_of(of_word.begin(), of_word.end(), [](float v) { return v != 0; }));
    ComputationGraph fixed;
    softmax.new_graph(fixed, false);
    const Expression one = input(fixed, {kRep}, numbers(kRep, 4));
    CHECK(check_gradients(softmax.sampled_loss(one, {400})).parameters == 0);
    CHECK(check_gradients(softmax.neg_log_softmax(one, 400)).parameters == 0);
  }
}

TEST_CASE("sampled softmax: settings, and what is wrong") {
  ParameterCollection model;
  using Settings = SampledSoftmaxBuilder::Settings;
  const auto refused = [&](const Settings& s, const std::string& why) {
    CHECK_THROWS_WITH(SampledSoftmaxBuilder(model, s), Catch::Contains(why));
  };
  refused({0, 4, 1}, "got 0, 4 and 1");
  refused({4, 0, 1}, "got 4, 0 and 1");
  refused({4, 4, 0}, "got 4, 4 and 0");
  refused({4, 3, 1, {1, 2}}, "each of 3 classes, got 2");
  refused({4, 2, 1, {1, 0}}, "above zero");
  refused({4, 2, 1, {1, INFINITY}}, "above zero");
  CHECK(model.lookup_parameters_list().empty());
  SampledSoftmaxBuilder softmax(model, {kRep, kClasses, 3});
  ComputationGraph cg;
  const Expression rep = input(cg, {kRep}, numbers(kRep, 1));
  CHECK_THROWS_WITH(softmax.sampled_loss(rep, {1}), Catch::Contains("call new_graph first"));
  CHECK_THROWS_AS(softmax.nce_loss(rep, {1}), ArgumentError);
  naive::check_without_graph(softmax, rep);
  softmax.new_graph(cg);
  CHECK_THROWS_AS(softmax.sampled_loss(rep, {kClasses}), IndexError);
  CHECK_THROWS_WITH(softmax.sampled_loss(rep, {}), Catch::Contains("needs a word for each"));
  const Expression two = input(cg, Dim({kRep}, 2), numbers(2 * kRep, 1));
  CHECK_THROWS_AS(softmax.nce_loss(two, {1, 2, 3}), ArgumentError);
  CHECK_THROWS_AS(softmax.sampled_loss(rep, {1}, {}, {0}), ArgumentError);
  CHECK_THROWS_AS(softmax.sampled_loss(rep, {1}, {{1, 2}, {0}}, {0}), ArgumentError);
  CHECK_THROWS_AS(softmax.sampled_loss(rep, {1}, {{1, 2}, {0, 0}}, {0, 0}), ArgumentError);
  CHECK_THROWS_AS(softmax.sampled_loss(rep, {1}, {{1, kClasses}, {0, 0}}, {0}), IndexError);
  // At first every class has about the same probability, without normalization.
  for (const float score : as_vector(softmax.full_logits(zeros(cg, {kRep})).value()))
    CHECK(score == Approx(-std::log(double(kClasses))));
  // Several words of one vector.
  CHECK(softmax.sampled_loss(rep, {1, 2, 3}).dim() == Dim({1}, 3));
  CHECK(softmax.nce_loss(rep, {1, 2, 3}).dim() == Dim({1}, 3));
}

}  // namespace sampled_softmax_test
