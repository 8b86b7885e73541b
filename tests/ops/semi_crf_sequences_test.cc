// Semi-Markov chains against all ways to cut, one by one, and against themselves in other company.
#include "dynet-like/exec/executor.h"
#include "tests/support/prelude.h"

namespace semi_crf_sequences_test {

using namespace dynet;

namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

SegmentScores some_scores(unsigned labels, unsigned longest, unsigned length, std::uint64_t key,
                          bool forbids = false) {
  const RandomStream random(key);
  std::uint64_t draws = 0;
  const auto fill = [&](std::size_t n) {
    std::vector<float> v;
    for (std::size_t i = 0; i < n; ++i) {
      const auto score = static_cast<float>(2 * random.normal(draws++));
      v.push_back(forbids && random.uniform(draws++) < 0.2 ? kForbidden : score);
    }
    return v;
  };
  return {labels,
          longest,
          length,
          fill(std::size_t{labels} * longest * length),
          fill(std::size_t{labels} * labels),
          fill(labels),
          fill(labels)};
}

std::size_t place(const SegmentScores& s, unsigned end, const Segment& y) {
  return (std::size_t{end} * s.longest + y.length - 1) * s.labels + y.label;
}

double score(const SegmentScores& s, const std::vector<Segment>& y) {
  double sum = 0;
  unsigned t = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    sum += k == 0 ? static_cast<double>(s.start[y[k].label])
                  : s.transition(y[k - 1].label, y[k].label);
    t += y[k].length;
    sum += static_cast<double>(s.scores[place(s, t - 1, y[k])]);
    if (t == s.length) sum += static_cast<double>(s.stop[y[k].label]);
  }
  return sum;
}

void all_ways(const SegmentScores& s, unsigned t, std::vector<Segment>& y,
              std::vector<std::vector<Segment>>& all) {
  if (t == s.length) return all.push_back(y);
  for (unsigned j = 0; j < s.labels; ++j)
    for (unsigned l = 1; l <= s.longest && t + l <= s.length; ++l) {
      y.push_back({j, l});
      all_ways(s, t + l, y, all);
      y.pop_back();
    }
}

struct Scores {
  Expression x, a, s, p;

  Scores(ComputationGraph& g, const SegmentScores& c)
      : x(input(g, Dim({c.labels * c.longest, c.length}), c.scores)),
        a(input(g, Dim({c.labels, c.labels}), c.transitions)),
        s(input(g, Dim({c.labels}), c.start)),
        p(input(g, Dim({c.labels}), c.stop)) {}

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
          const SegmentScores c = some_scores(labels, longest, n, key++, forbids);
          INFO(labels << " labels, up to " << longest << " words of " << n << ", " << forbids);
          std::vector<std::vector<Segment>> all;
          std::vector<Segment> none;
          all_ways(c, 0, none, all);
          double z = 0, entropy = 0;
          std::vector<double> marginals(c.scores.size(), 0.0);
          for (const auto& y : all) z += std::exp(score(c, y));
          for (const auto& y : all) {
            const double p = z == 0 ? 0 : std::exp(score(c, y)) / z;
            if (p > 0) entropy -= p * std::log(p);
            unsigned t = 0;
            for (const Segment& segment : y) {
              t += segment.length;
              marginals[place(c, t - 1, segment)] += p;
            }
          }
          ComputationGraph g;
          const Scores x(g, c);
          const Expression log_z = x.log_z(), m = x.marginals(), h = x.entropy();
          std::vector<Expression> each;
          for (const auto& y : all) each.push_back(x.log_prob(y));
          Executor<double> in_double(g.store());
          in_double.forward(static_cast<NodeId>(g.size() - 1));
          const auto value = [&](const Expression& e) { return in_double.value(e.i); };
          if (z == 0)
            CHECK(*value(log_z) == static_cast<double>(kForbidden));
          else
            CHECK(*value(log_z) == Approx(std::log(z)).epsilon(1e-12).margin(1e-12));
          CHECK(*value(h) == Approx(entropy).epsilon(1e-10).margin(1e-12));
          for (std::size_t i = 0; i < marginals.size(); ++i)
            CHECK(value(m)[i] == Approx(marginals[i]).epsilon(1e-10).margin(1e-13));
          double sum = 0, most = -1;
          for (std::size_t i = 0; i < all.size(); ++i) {
            most = std::max(most, *value(each[i]));
            sum += std::exp(*value(each[i]));
          }
          CHECK(most <= 0);
          CHECK(sum == Approx(z == 0 ? 0 : 1).epsilon(1e-10).margin(1e-12));
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
  const SegmentScores c = some_scores(4, 1, 9, 5);
  ComputationGraph g;
  const Scores x(g, c);
  CHECK(as_scalar(x.log_z().value()) ==
        Approx(as_scalar(crf_log_partition(x.x, x.a, x.s, x.p).value())).epsilon(1e-6));
  CHECK(as_scalar(x.entropy().value()) ==
        Approx(as_scalar(crf_entropy(x.x, x.a, x.s, x.p).value())).epsilon(1e-5));
  const std::vector<float> m = as_vector(x.marginals().value());
  const std::vector<float> chain = as_vector(crf_marginals(x.x, x.a, x.s, x.p).value());
  for (std::size_t i = 0; i < m.size(); ++i) CHECK(m[i] == Approx(chain[i]).margin(1e-5));
}

TEST_CASE("semi crf: the gradient of the log-partition is the marginals, one segment a word") {
  const SegmentScores c = some_scores(3, 4, 9, 3);
  ParameterCollection model;
  Parameter e = model.add_parameters({12, 9}, ParameterInitFromVector(c.scores));
  ComputationGraph g;
  Scores x(g, c);
  x.x = parameter(g, e);
  const Expression m = x.marginals(), log_z = x.log_z();
  const std::vector<float> p = as_vector(m.value());
  for (unsigned word = 0; word < 9; ++word) {
    double sum = 0;
    for (unsigned t = word; t < 9; ++t)
      for (unsigned l = t - word + 1; l <= 4 && l <= t + 1; ++l)
        for (unsigned j = 0; j < 3; ++j) sum += static_cast<double>(p[place(c, t, {j, l})]);
    CHECK(sum == Approx(1).epsilon(1e-5));
  }
  g.backward(log_z);
  const std::vector<float> d = as_vector(*e.gradients());
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(d[i] == Approx(p[i]).epsilon(1e-5).margin(1e-7));
}

TEST_CASE("semi crf: what is added to all segments over a word adds up, and changes nothing else") {
  SegmentScores c = some_scores(2, 3, 7, 8);
  ComputationGraph g;
  const Scores before(g, c);
  constexpr unsigned kWord = 4;
  for (unsigned t = kWord; t < 7; ++t)
    for (unsigned l = t - kWord + 1; l <= 3; ++l)
      for (unsigned j = 0; j < 2; ++j) c.scores[place(c, t, {j, l})] += 2.5f;
  const Scores after(g, c);
  CHECK(as_scalar(after.log_z().value()) ==
        Approx(as_scalar(before.log_z().value()) + 2.5).epsilon(1e-6));
  const std::vector<float> p = as_vector(before.marginals().value());
  const std::vector<float> q = as_vector(after.marginals().value());
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == Approx(q[i]).margin(1e-6));
}

TEST_CASE("semi crf: log-probabilities are never above zero, however sure the scores are") {
  for (std::uint64_t key = 0; key < 100; ++key) {
    SegmentScores c = some_scores(3, 3, 12, key);
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
  const Parameter a = model.add_parameters({kLabels, kLabels}), s = model.add_parameters({kLabels}),
                  p = model.add_parameters({kLabels});
  std::vector<Parameter> scores;
  std::vector<std::vector<Segment>> segments(kCount);
  for (unsigned n = 0; n < kCount; ++n) {
    const unsigned length = n * 7 % 20;
    scores.push_back(length == 0 ? Parameter()
                                 : model.add_parameters({kLabels * kLongest, length}));
    for (unsigned t = 0; t < length; t += segments[n].back().length)
      segments[n].push_back({(t + n) % kLabels, std::min(1 + (t + n) % kLongest, length - t)});
  }
  const auto build = [&](ComputationGraph& g, unsigned n) {
    const Expression x = scores[n] ? parameter(g, scores[n]) : zeros(g, {kLabels * kLongest, 0});
    const Expression A = parameter(g, a), S = parameter(g, s), P = parameter(g, p);
    return std::vector{semi_crf_log_partition(x, A, S, P),
                       semi_crf_log_prob(x, A, S, P, segments[n]), semi_crf_marginals(x, A, S, P),
                       semi_crf_entropy(x, A, S, P)};
  };
  const auto loss_of = [](const std::vector<Expression>& x) {
    return x[0] - 2 * x[1] + sum_elems(square(x[2])) + 3 * x[3];
  };
  const auto gradient_of = [&](const Parameter& e) { return as_vector(*e.gradients()); };
  std::vector<std::vector<std::vector<float>>> values(kCount);
  std::vector<std::vector<float>> gradients(kCount);
  for (unsigned n = 0; n < kCount; ++n) {
    ComputationGraph g;
    const std::vector<Expression> x = build(g, n);
    const Expression loss = loss_of(x);
    loss.value();
    for (const Expression& e : x) values[n].push_back(as_vector(e.value()));
    g.backward(loss);
    if (scores[n]) gradients[n] = gradient_of(scores[n]);
    model.reset_gradient();
  }
  for (const bool inference : {false, true}) {
    INFO("inference " << inference);
    ComputationGraph g;
    g.set_inference(inference);
    std::vector<std::vector<Expression>> all;
    std::vector<Expression> losses;
    for (unsigned n = 0; n < kCount; ++n) {
      all.push_back(build(g, n));
      losses.push_back(loss_of(all.back()));
    }
    const Expression loss = sum(losses);
    loss.value();
    for (unsigned n = 0; n < kCount; ++n)
      for (unsigned k = 0; k < 4; ++k) CHECK(as_vector(all[n][k].value()) == values[n][k]);
    if (inference) continue;
    // Each operation is one batch; squares and sums of marginals are one for each length.
    CHECK(g.statistics().batches < 4 + 2 * kCount + 10);
    for (const bool full : {false, true}) {
      g.backward(loss, full);
      for (unsigned n = 0; n < kCount; ++n)
        if (scores[n]) CHECK(gradient_of(scores[n]) == gradients[n]);
      model.reset_gradient();
    }
  }
}

}  // namespace semi_crf_sequences_test
