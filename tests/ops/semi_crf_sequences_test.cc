// Semi-Markov chains against all ways to cut, one by one, and against themselves in other company.
#include "tests/ops/segments.h"

namespace semi_crf_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

struct Scores : SegmentOperands {
  using SegmentOperands::SegmentOperands;

  Expression log_z() const { return semi_crf_log_partition(x, a, s, p); }
  Expression log_prob(const std::vector<Segment>& y) const {
    return semi_crf_log_prob(x, a, s, p, y);
  }
  Expression marginals() const { return semi_crf_marginals(x, a, s, p); }
  Expression entropy() const { return semi_crf_entropy(x, a, s, p); }
};

}  // namespace

TEST_CASE("semi crf: all ways to cut, one by one, in double") {
  std::uint64_t key = 0;
  for (const unsigned labels : {1u, 2u, 3u})
    for (const unsigned longest : {1u, 2u, 3u, 8u})
      for (unsigned n = 0; n <= (labels == 3 ? 4 : 6); ++n)
        for (const bool forbids : {false, true}) {
          INFO(labels << " labels, up to " << longest << " words of " << n << ", " << forbids);
          check_all_ways<Scores>(
              some_segments(labels, longest, n, key++, forbids),
              [](const Scores& x, const std::vector<Segment>& y) { return x.log_prob(y); });
        }
}

TEST_CASE("semi crf: with scores of zero the partition function counts ways to cut") {
  for (const unsigned k : {1u, 2u, 7u, 40u})
    for (const unsigned longest : {1u, 3u, 10u})
      for (const unsigned n : {0u, 1u, 2u, 30u, 200u}) {
        // f(t) = K (f(t-1) + ... + f(t-L)), the largest made one.
        std::vector<double> f = {1};
        double scale = 0;
        for (unsigned t = 1; t <= n; ++t) {
          double sum = 0;
          for (unsigned l = 1; l <= longest && l <= t; ++l) sum += f[t - l];
          f.push_back(k * sum);
          scale += std::log(f.back());
          const double largest = f.back();
          for (double& v : f) v /= largest;
        }
        ComputationGraph g;
        const Expression z = semi_crf_log_partition(zeros(g, {k * longest, n}), zeros(g, {k, k}),
                                                    zeros(g, {k}), zeros(g, {k}));
        CHECK(as_scalar(z.value()) == Approx(scale).epsilon(1e-5));
      }
}

TEST_CASE("semi crf: segments of one word are a linear chain") {
  const SegmentScores c = some_segments(4, 1, 9, 5);
  ComputationGraph g;
  const Scores x(g, c);
  CHECK(as_scalar(x.log_z().value()) ==
        Approx(as_scalar(crf_log_partition(x.x, x.a, x.s, x.p).value())).epsilon(1e-6));
  CHECK(as_scalar(x.entropy().value()) ==
        Approx(as_scalar(crf_entropy(x.x, x.a, x.s, x.p).value())).epsilon(1e-5));
  check_equal(x.marginals(), crf_marginals(x.x, x.a, x.s, x.p), 1e-5);
}

TEST_CASE("semi crf: the gradient of the log-partition is the marginals, one segment a word") {
  const SegmentScores c = some_segments(3, 4, 9, 3);
  auto [model, e, g, segments] = Variable({12, 9}, c.scores);
  Scores x(g, c);
  x.x = segments;
  const std::vector<float> p = check_marginals(e, x.log_z(), x.marginals());
  for (unsigned word = 0; word < 9; ++word) {
    double sum = 0;
    for (unsigned t = word; t < 9; ++t)
      for (unsigned l = t - word + 1; l <= 4 && l <= t + 1; ++l)
        for (unsigned j = 0; j < 3; ++j) sum += static_cast<double>(p[place(c, t, {j, l})]);
    CHECK(sum == Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("semi crf: what is added to all segments over a word adds up, and changes nothing else") {
  SegmentScores c = some_segments(2, 3, 7, 8);
  ComputationGraph g;
  const Scores before(g, c);
  constexpr unsigned kWord = 4;
  for (unsigned t = kWord; t < 7; ++t)
    for (unsigned l = t - kWord + 1; l <= 3; ++l)
      for (unsigned j = 0; j < 2; ++j) c.scores[place(c, t, {j, l})] += 2.5f;
  const Scores after(g, c);
  check_added(before.log_z(), after.log_z(), before.marginals(), after.marginals());
}

TEST_CASE("semi crf: each word is in one segment, however large the transitions are") {
  constexpr unsigned kLabels = 3, kLongest = 2, kWords = 6;
  for (const float all : {0.0f, 1e4f, -1e6f, 1e8f, -1e30f}) {
    INFO(all);
    SegmentScores c = some_segments(kLabels, kLongest, kWords, 7, false);
    std::fill(c.transitions.begin(), c.transitions.end(), all);
    ComputationGraph g;
    const std::vector<float> m = as_vector(Scores(g, c).marginals().value());
    std::vector<double> covered(kWords);
    for (unsigned t = 0; t < kWords; ++t)
      for (unsigned l = 1; l <= std::min(kLongest, t + 1); ++l)
        for (unsigned j = 0; j < kLabels; ++j)
          for (unsigned word = t + 1 - l; word <= t; ++word)
            covered[word] += static_cast<double>(m[(t * kLongest + l - 1) * kLabels + j]);
    for (const double sum : covered) CHECK(sum == Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("semi crf: log-probabilities are never above zero, however sure the scores are") {
  for (std::uint64_t key = 0; key < 100; ++key) {
    SegmentScores c = some_segments(3, 3, 12, key);
    const auto label = static_cast<unsigned>(key % 3);
    const std::vector<Segment> y(4, {label, 3});
    for (unsigned t = 2; t < 12; t += 3)
      c.scores[place(c, t, {label, 3})] += 20.0f * static_cast<float>(key % 7);
    ComputationGraph g;
    CHECK(as_scalar(Scores(g, c).log_prob(y).value()) <= 0);
  }
}

TEST_CASE("semi crf: sentences of all lengths are one batch, and the same bits alone") {
  constexpr unsigned kLabels = 3, kLongest = 4, kCount = 20;
  ParameterCollection model;
  const SegmentParameters shared(model, kLabels);
  Sentences all{.shared = {shared.a, shared.s, shared.p}, .batches = 4 + 2 * kCount + 10};
  all.own.resize(kCount);
  std::vector<std::vector<Segment>> segments(kCount);
  for (unsigned n = 0; n < kCount; ++n) {
    const unsigned length = n * 7 % 20;
    if (length > 0) all.own[n] = {model.add_parameters({kLabels * kLongest, length})};
    for (unsigned t = 0; t < length; t += segments[n].back().length)
      segments[n].push_back({(t + n) % kLabels, std::min(1 + (t + n) % kLongest, length - t)});
  }
  all.build = [&](ComputationGraph& g, unsigned n) {
    const Expression x =
        all.own[n].empty() ? zeros(g, {kLabels * kLongest, 0}) : parameter(g, all.own[n][0]);
    const Scores y(x, shared);
    return std::vector{y.log_z(), y.log_prob(segments[n]), y.marginals(), y.entropy()};
  };
  check_alone_and_together(model, all);
}

}  // namespace semi_crf_sequences_test
