// CTC against all alignments, one by one, and against itself in other company.
#include "dynet-like/structures/ctc/ctc_decoding.h"
#include "tests/ops/sequences.h"

namespace ctc_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> frames_of(unsigned symbols, unsigned frames, std::uint64_t key,
                             bool forbids = false) {
  std::uint64_t draws = 0;
  return some_scores(std::size_t{symbols} * frames, RandomStream(key), draws, forbids ? 0.2 : 0);
}

struct Alignment {
  std::vector<unsigned> symbols;
  double score;
};

/// All alignments, by their labels.
std::map<std::vector<unsigned>, std::vector<Alignment>> alignments(
    unsigned symbols, unsigned frames, unsigned blank, const std::vector<float>& scores) {
  std::vector<Alignment> all = {{{}, 0}};
  for (unsigned t = 0; t < frames; ++t) {
    std::vector<Alignment> longer;
    for (const Alignment& a : all)
      for (unsigned v = 0; v < symbols; ++v) {
        longer.push_back(a);
        longer.back().symbols.push_back(v);
        longer.back().score += static_cast<double>(scores[t * symbols + v]);
      }
    all = longer;
  }
  std::map<std::vector<unsigned>, std::vector<Alignment>> by_labels;
  for (const Alignment& a : all) by_labels[ctc_collapse(a.symbols, blank)].push_back(a);
  return by_labels;
}

double log_binomial(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

TEST_CASE("ctc: all alignments, one by one, in double") {
  std::uint64_t key = 0;
  for (unsigned symbols = 1; symbols <= 3; ++symbols)
    for (unsigned frames = 0; frames <= 6; ++frames)
      for (const bool forbids : {false, true}) {
        const unsigned blank = static_cast<unsigned>(key % symbols);
        const std::vector<float> scores = frames_of(symbols, frames, key++, forbids);
        ComputationGraph g;
        const Expression x = input(g, Dim({symbols, frames}), scores);
        const auto all = alignments(symbols, frames, blank, scores);
        struct Three {
          Expression loss, alignment, entropy;
        };
        std::vector<Three> each;
        for (const auto& [y, _] : all)
          each.push_back({ctc_loss(x, y, {.blank = blank}), ctc_alignment(x, y, {.blank = blank}),
                          ctc_entropy(x, y, {.blank = blank})});
        InDouble value(g);
        double total = 0, product = 1;
        std::size_t k = 0;
        for (const auto& [y, some] : all) {
          INFO(symbols << " symbols, " << frames << " frames, " << forbids << ", labels " << k);
          const Listed sums(
              some, scores.size(), [](const Alignment& a) { return a.score; },
              [&](const Alignment& a) {
                std::vector<std::size_t> places;
                for (unsigned t = 0; t < frames; ++t) places.push_back(t * symbols + a.symbols[t]);
                return places;
              });
          const double loss = *value(each[k].loss);
          if (sums.z == 0)
            CHECK(loss == static_cast<double>(kInfinity));
          else
            CHECK(loss == Approx(-std::log(sums.z)).epsilon(1e-11).margin(1e-11));
          CHECK(*value(each[k].entropy) == Approx(sums.entropy).epsilon(1e-10).margin(1e-12));
          for (std::size_t i = 0; i < scores.size(); ++i)
            CHECK(value(each[k].alignment)[i] ==
                  Approx(sums.marginals[i]).epsilon(1e-10).margin(1e-13));
          total += std::exp(-loss);
          ++k;
        }
        // Sum over all labels, as the header states.
        for (unsigned t = 0; t < frames; ++t) {
          double sum = 0;
          for (unsigned v = 0; v < symbols; ++v)
            sum += std::exp(static_cast<double>(scores[t * symbols + v]));
          product *= sum;
        }
        CHECK(total == Approx(product).epsilon(1e-10).margin(1e-12));
      }
}

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

TEST_CASE("ctc: the gradient of the loss is minus the alignment, whose columns add up to one") {
  constexpr unsigned kSymbols = 5, kFrames = 40;
  const std::vector<unsigned> y = {1, 3, 3, 2, 4, 1, 1};
  auto [model, p, g, x] = Variable({kSymbols, kFrames}, frames_of(kSymbols, kFrames, 4));
  const Expression loss = ctc_loss(x, y);
  const std::vector<float> probabilities = as_vector(ctc_alignment(x, y).value());
  g.backward(loss);
  const std::vector<float> d = as_vector(*p.gradients());
  for (unsigned t = 0; t < kFrames; ++t) {
    double sum = 0;
    for (unsigned v = 0; v < kSymbols; ++v) {
      sum += static_cast<double>(probabilities[t * kSymbols + v]);
      CHECK(d[t * kSymbols + v] == -probabilities[t * kSymbols + v]);
    }
    CHECK(sum == Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("ctc: a constant added to all scores of a frame changes the loss alone") {
  std::vector<float> scores = frames_of(4, 9, 8);
  const std::vector<unsigned> y = {3, 1, 1};
  ComputationGraph g;
  const Expression before = input(g, {4, 9}, scores);
  for (unsigned v = 0; v < 4; ++v) scores[5 * 4 + v] += 2.5f;
  const Expression after = input(g, {4, 9}, scores);
  CHECK(as_scalar(ctc_loss(after, y).value()) ==
        Approx(as_scalar(ctc_loss(before, y).value()) - 2.5).epsilon(1e-6));
  CHECK(as_scalar(ctc_entropy(after, y).value()) ==
        Approx(as_scalar(ctc_entropy(before, y).value())).epsilon(1e-5));
  check_equal(ctc_alignment(before, y), ctc_alignment(after, y));
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

TEST_CASE("ctc: utterances of all lengths are one batch, and the same bits alone") {
  constexpr unsigned kSymbols = 9, kCount = 20;
  ParameterCollection model;
  Sentences all{.batches = 3 + 2 * kCount + 10};
  all.own.resize(kCount);
  std::vector<std::vector<unsigned>> labels(kCount);
  for (unsigned n = 0; n < kCount; ++n) {
    const unsigned frames = n * 7 % 41;
    if (frames > 0) all.own[n] = {model.add_parameters({kSymbols, frames})};
    for (unsigned k = 0; k < frames * (n % 3) / 4; ++k) labels[n].push_back(1 + k * n % 8);
  }
  all.build = [&](ComputationGraph& g, unsigned n) {
    const Expression x = all.own[n].empty() ? zeros(g, {kSymbols, 0}) : parameter(g, all.own[n][0]);
    return std::vector{ctc_loss(x, labels[n], {.zero_infinity = true}), ctc_alignment(x, labels[n]),
                       ctc_entropy(x, labels[n])};
  };
  all.loss = [](const std::vector<Expression>& x) {
    return x[0] + sum_elems(square(x[1])) + 3 * x[2];
  };
  check_alone_and_together(model, all);
}

}  // namespace ctc_sequences_test
