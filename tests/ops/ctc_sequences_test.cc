// Alignments of any size, and labels that have none.
#include "tests/ops/sequences.h"

namespace ctc_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> frames_of(unsigned symbols, unsigned frames, std::uint64_t key) {
  std::uint64_t draws = 0;
  return some_scores(std::size_t{symbols} * frames, RandomStream(key), draws);
}

double log_binomial(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

TEST_CASE("ctc: the loss counts alignments when probabilities are equal") {
  for (const unsigned frames : {1u, 2u, 7u, 60u, 400u})
    for (const unsigned labels : {0u, 1u, 5u, 20u, 60u}) {
      if (labels > frames) continue;
      const unsigned symbols = labels + 3;
      std::vector<unsigned> y;
      for (unsigned k = 0; k < labels; ++k) y.push_back(k + 1);  // all different
      ComputationGraph g;
      const Expression x = log_softmax(zeros(g, {symbols, frames}));
      const double expected =
          frames * std::log(symbols) - log_binomial(frames + labels, 2 * labels);
      INFO(frames << " frames, " << labels << " labels");
      CHECK(as_scalar(ctc_loss(x, y).value()) == Approx(expected).epsilon(1e-5).margin(1e-5));
      CHECK(as_scalar(ctc_entropy(x, y).value()) ==
            Approx(log_binomial(frames + labels, 2 * labels)).epsilon(1e-5).margin(1e-5));
    }
}

TEST_CASE("ctc: labels that do not fit") {
  using V = std::vector<unsigned>;
  for (const auto& [labels, fits] :
       {std::pair{V{1, 1}, false}, {V{1, 2, 1}, false}, {V{1, 2}, true}, {V{1}, true}, {V{}, true}})
    for (const bool zero : {false, true}) {
      auto [model, p, g, scores] = Variable({3, 2}, ParameterInitConst(0));
      const Expression x = log_softmax(scores);
      const Expression loss = ctc_loss(x, labels, {.zero_infinity = zero});
      const float value = as_scalar(loss.value());
      CHECK((value > 0) == (fits || !zero));
      CHECK(std::isinf(value) == (!fits && !zero));
      g.backward(loss);
      const std::vector<float> d = as_vector(*p.gradients());
      CHECK(std::any_of(d.begin(), d.end(), [](float v) { return v != 0; }) == fits);
      CHECK(std::none_of(d.begin(), d.end(), [](float v) { return std::isnan(v); }));
    }
  ComputationGraph g;
  CHECK(as_scalar(ctc_loss(zeros(g, {3, 0}), V{}).value()) == 0);
  CHECK(as_scalar(ctc_loss(zeros(g, {3, 0}), V{1}).value()) == kInfinity);
}

TEST_CASE("ctc: probabilities of exactly zero and one") {
  // One alignment is certain: 1 1 0 2.
  std::vector<float> sure(3 * 4, kForbidden);
  sure[1] = sure[3 + 1] = sure[6] = sure[9 + 2] = 0;
  auto [model, p, g, x] = Variable({3, 4}, sure);
  const std::vector<unsigned> y = {1, 2}, other = {2, 1};
  const Expression loss = ctc_loss(x, y), entropy = ctc_entropy(x, y);
  CHECK(as_scalar(loss.value()) == 0);
  CHECK(as_scalar(entropy.value()) == 0);
  std::vector<float> used(12, 0.0f);
  used[1] = used[4] = used[6] = used[11] = 1;
  CHECK(as_vector(ctc_alignment(x, y).value()) == used);
  CHECK(as_vector(ctc_alignment(x, other).value()) == std::vector<float>(12, 0.0f));
  CHECK(as_scalar(ctc_loss(x, other).value()) == kInfinity);
  CHECK(as_scalar(ctc_entropy(x, other).value()) == 0);
  g.backward(loss + entropy + squared_norm(ctc_alignment(x, y)) + ctc_loss(x, other) +
             ctc_entropy(x, other));
  const std::vector<float> d = as_vector(*p.gradients());
  for (std::size_t i = 0; i < 12; ++i) CHECK(d[i] == -used[i]);
}

TEST_CASE("ctc: long utterances lose nothing") {
  // In float as in double, where losses are in the thousands.
  constexpr unsigned kSymbols = 20, kFrames = 2000;
  std::vector<unsigned> y;
  for (unsigned k = 0; k < 300; ++k) y.push_back(1 + k * 7 % 19);
  auto [model, p, g, x] = Variable({kSymbols, kFrames}, frames_of(kSymbols, kFrames, 5));
  const Expression loss = ctc_loss(log_softmax(3 * x), y);
  Executor<double> in_double(g.store());
  Executor<float> in_float(g.store());
  in_double.backward(loss.i);
  in_float.backward(loss.i);
  const double exact = *in_double.value(loss.i);
  CHECK(exact > 5000);
  CHECK(static_cast<double>(*in_float.value(loss.i)) == Approx(exact).epsilon(1e-6));
  const double* const d = in_double.gradient(0);
  const float* const f = in_float.gradient(0);
  double worst = 0;
  for (std::size_t i = 0; i < std::size_t{kSymbols} * kFrames; ++i)
    worst = std::max(worst, std::abs(d[i] - static_cast<double>(f[i])));
  CHECK(worst < 1e-2);
}

TEST_CASE("ctc: mistakes") {
  using V = std::vector<unsigned>;
  ComputationGraph g;
  const Expression x = zeros(g, {4, 5}), two = zeros(g, Dim({4, 5}, 2));
  const std::size_t size = g.size();
  CHECK_THROWS_WITH(ctc_loss(x, V{1, 4}),
                    Catch::StartsWith("ctc_loss: label 4 is outside the 4 symbols"));
  CHECK_THROWS_AS(ctc_loss(x, V{4}), IndexError);
  CHECK_THROWS_WITH(ctc_alignment(x, V{1, 0}),
                    Catch::StartsWith("ctc_alignment: label 0 is the blank"));
  CHECK_THROWS_AS(ctc_loss(x, V{2}, {.blank = 2}), ArgumentError);
  CHECK_THROWS_WITH(ctc_entropy(x, V{1}, {.blank = 4}),
                    Catch::StartsWith("ctc_entropy: the blank 4 is outside the 4 symbols"));
  CHECK_THROWS_WITH(
      ctc_loss(two, V{1, 2, 3}),
      Catch::StartsWith("ctc_loss: needs labels for each of 2 batch elements, got 3 labels"));
  CHECK_THROWS_WITH(
      ctc_loss(two, std::vector<V>{{1}}),
      Catch::StartsWith("ctc_loss: needs labels for each of 2 batch elements, got those of 1"));
  CHECK_THROWS_AS(ctc_loss(x, std::vector<V>{}), ArgumentError);
  CHECK_THROWS_AS(ctc_loss(zeros(g, {4, 5, 2}), V{1}), ShapeError);
  CHECK(g.size() == size + 1);
  // As many for each element, or a list for each.
  CHECK(as_vector(ctc_loss(two, V{1, 2, 3, 1}).value()) ==
        as_vector(ctc_loss(two, std::vector<V>{{1, 2}, {3, 1}}).value()));
}

}  // namespace ctc_sequences_test
