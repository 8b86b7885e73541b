// Linear chains and semi-Markov chains of any size, with scores of any size.
#include "tests/ops/sequences.h"

namespace crf_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

SegmentScores some_segments(unsigned labels, unsigned longest, unsigned length, std::uint64_t key) {
  const RandomStream random(key);
  std::uint64_t draws = 0;
  const auto fill = [&](std::size_t n) { return some_scores(n, random, draws); };
  return {labels,
          longest,
          length,
          fill(std::size_t{labels} * longest * length),
          fill(std::size_t{labels} * labels),
          fill(labels),
          fill(labels)};
}
/// The scores of a chain: segments of one word.
SegmentScores some_chain(unsigned tags, unsigned length, std::uint64_t key) {
  return some_segments(tags, 1, length, key);
}

/// The operands of the operations, and their results for a linear chain.
struct Scores {
  Expression x, a, s, p;

  Scores(ComputationGraph& g, const SegmentScores& c)
      : x(input(g, Dim({c.labels * c.longest, c.length}), c.scores)),
        a(input(g, Dim({c.labels, c.labels}), c.transitions)),
        s(input(g, Dim({c.labels}), c.start)),
        p(input(g, Dim({c.labels}), c.stop)) {}
  Expression log_z() const { return crf_log_partition(x, a, s, p); }
  Expression marginals() const { return crf_marginals(x, a, s, p); }
  Expression entropy() const { return crf_entropy(x, a, s, p); }
};

}  // namespace

TEST_CASE("crf: with scores of zero the partition function counts sequences") {
  for (const unsigned k : {1u, 2u, 7u, 100u, 512u, 513u, 600u})
    for (const unsigned n : {0u, 1u, 2u, 30u, 500u}) {
      if (k > 100 && n > 30) continue;  // which takes long
      CAPTURE(k, n);
      ComputationGraph g;
      const Expression z =
          crf_log_partition(zeros(g, {k, n}), zeros(g, {k, k}), zeros(g, {k}), zeros(g, {k}));
      CHECK(as_scalar(z.value()) == Approx(n * std::log(k)).epsilon(1e-5));
    }
}

TEST_CASE("crf: many tags, of which all but two are forbidden, are as those two") {
  const SegmentScores few = some_chain(2, 5, 1);
  ComputationGraph g;
  const Scores x(g, few);
  for (const unsigned k : {512u, 513u, 600u, 1025u}) {
    CAPTURE(k);
    SegmentScores many = some_chain(k, 5, 2);
    const auto place = [&](unsigned tag) { return tag == 0 ? 3 : k - 1; };
    for (std::vector<float>* v : {&many.scores, &many.start})
      std::fill(v->begin(), v->end(), kForbidden);
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned t = 0; t < 5; ++t) many.scores[t * k + place(i)] = few.scores[t * 2 + i];
      for (unsigned j = 0; j < 2; ++j)
        many.transitions[place(j) * k + place(i)] = few.transitions[j * 2 + i];
      many.start[place(i)] = few.start[i];
      many.stop[place(i)] = few.stop[i];
    }
    const Scores y(g, many);
    CHECK(as_scalar(y.log_z().value()) == Approx(as_scalar(x.log_z().value())).epsilon(1e-5));
    CHECK(as_scalar(y.entropy().value()) == Approx(as_scalar(x.entropy().value())).epsilon(1e-5));
    const std::vector<float> p = as_vector(x.marginals().value()),
                             q = as_vector(y.marginals().value());
    for (unsigned t = 0; t < 5; ++t)
      for (unsigned i = 0; i < 2; ++i)
        CHECK(q[t * k + place(i)] == Approx(p[t * 2 + i]).epsilon(1e-5));
  }
}

TEST_CASE("crf: a number added to all transitions changes log Z alone, however large it is") {
  for (const unsigned k : {3u, 40u, 513u}) {
    const SegmentScores plain = some_chain(k, 5, k);
    std::vector<float> before;
    for (const float more : {0.0f, 1e4f, -1e6f, 1e8f, -1e30f}) {
      INFO(k << " tags, " << more);
      SegmentScores c = plain;
      for (float& a : c.transitions) a = std::round(a) + more;
      if (std::abs(more) > 1e7f) std::fill(c.transitions.begin(), c.transitions.end(), more);
      ComputationGraph g;
      const Scores x(g, c);
      const std::vector<float> m = as_vector(x.marginals().value());
      for (unsigned t = 0; t < 5; ++t) {
        double sum = 0;
        for (unsigned j = 0; j < k; ++j) sum += static_cast<double>(m[t * k + j]);
        CHECK(sum == Approx(1).epsilon(1e-5));
      }
      if (more == 0.0f) before = m;
      if (std::abs(more) < 1e7f) CHECK(m == before);
      g.backward(x.log_z(), true);
      double pairs = 0;
      for (const float d : as_vector(x.a.gradient())) pairs += static_cast<double>(d);
      CHECK(pairs == Approx(4).epsilon(1e-5));
    }
  }
}

TEST_CASE("crf: the entropy of scores that are no numbers is none") {
  for (const float odd : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    SegmentScores c = some_chain(3, 4, 1);
    c.scores[5] = odd;
    ComputationGraph g;
    CHECK(std::isnan(as_scalar(Scores(g, c).entropy().value())));
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
        Approx(as_scalar(semi_crf_log_partition(x.x, x.a, x.s, x.p).value())).epsilon(1e-6));
  CHECK(as_scalar(x.entropy().value()) ==
        Approx(as_scalar(semi_crf_entropy(x.x, x.a, x.s, x.p).value())).epsilon(1e-5));
  check_equal(x.marginals(), semi_crf_marginals(x.x, x.a, x.s, x.p), 1e-5);
}

TEST_CASE("semi crf: each word is in one segment, however large the transitions are") {
  constexpr unsigned kLabels = 3, kLongest = 2, kWords = 6;
  for (const float all : {0.0f, 1e4f, -1e6f, 1e8f, -1e30f}) {
    INFO(all);
    SegmentScores c = some_segments(kLabels, kLongest, kWords, 7);
    std::fill(c.transitions.begin(), c.transitions.end(), all);
    ComputationGraph g;
    const Scores x(g, c);
    const std::vector<float> m = as_vector(semi_crf_marginals(x.x, x.a, x.s, x.p).value());
    std::vector<double> covered(kWords);
    for (unsigned t = 0; t < kWords; ++t)
      for (unsigned l = 1; l <= std::min(kLongest, t + 1); ++l)
        for (unsigned j = 0; j < kLabels; ++j)
          for (unsigned word = t + 1 - l; word <= t; ++word)
            covered[word] += static_cast<double>(m[(t * kLongest + l - 1) * kLabels + j]);
    for (const double sum : covered) CHECK(sum == Approx(1).epsilon(1e-5));
  }
}

}  // namespace crf_sequences_test
