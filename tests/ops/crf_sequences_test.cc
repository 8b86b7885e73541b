// Linear chains against all their sequences, one by one, and against themselves in other company.
#include "tests/ops/sequences.h"

namespace crf_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

/// Scores of a chain, of which some may be forbidden.
struct Chain {
  unsigned tags, length;
  std::vector<float> emissions, transitions, start, stop;

  Chain(unsigned k, unsigned n, std::uint64_t key, bool forbids = false) : tags(k), length(n) {
    const RandomStream random(key);
    std::uint64_t draws = 0;
    const auto fill = [&](std::size_t count) {
      return some_scores(count, random, draws, forbids ? 0.2 : 0);
    };
    emissions = fill(std::size_t{k} * n);
    transitions = fill(std::size_t{k} * k);
    start = fill(k);
    stop = fill(k);
  }

  double score(const std::vector<unsigned>& y) const {
    if (length == 0) return 0;
    double sum = static_cast<double>(start[y[0]]);
    for (unsigned t = 0; t < length; ++t) {
      if (t > 0) sum += static_cast<double>(transitions[y[t] * tags + y[t - 1]]);
      sum += static_cast<double>(emissions[t * tags + y[t]]);
    }
    return sum + static_cast<double>(stop[y[length - 1]]);
  }
  /// All sequences, in lexicographic order.
  std::vector<std::vector<unsigned>> sequences() const {
    std::vector<std::vector<unsigned>> all = {{}};
    for (unsigned t = 0; t < length; ++t) {
      std::vector<std::vector<unsigned>> longer;
      for (const auto& y : all)
        for (unsigned j = 0; j < tags; ++j) {
          longer.push_back(y);
          longer.back().push_back(j);
        }
      all = longer;
    }
    return all;
  }
};

/// A chain in a graph.
struct Scores {
  Expression e, a, s, p;

  Scores(ComputationGraph& g, const Chain& c)
      : e(input(g, Dim({c.tags, c.length}), c.emissions)),
        a(input(g, Dim({c.tags, c.tags}), c.transitions)),
        s(input(g, Dim({c.tags}), c.start)),
        p(input(g, Dim({c.tags}), c.stop)) {}

  Expression log_z() const { return crf_log_partition(e, a, s, p); }
  Expression log_prob(const std::vector<unsigned>& y) const { return crf_log_prob(e, a, s, p, y); }
  Expression marginals() const { return crf_marginals(e, a, s, p); }
  Expression entropy() const { return crf_entropy(e, a, s, p); }
};

}  // namespace

TEST_CASE("crf: all sequences, one by one, in double") {
  unsigned chains = 0;
  for (unsigned k = 1; k <= 3; ++k)
    for (unsigned n = 0; n <= 6; ++n)
      for (const bool forbids : {false, true}) {
        const Chain c(k, n, chains++, forbids);
        INFO(k << " tags, " << n << " words, " << forbids);
        const auto all = c.sequences();
        const auto score = [&](const std::vector<unsigned>& y) { return c.score(y); };
        const Listed sums(all, std::size_t{k} * n, score, [&](const std::vector<unsigned>& y) {
          std::vector<std::size_t> places;
          for (unsigned t = 0; t < n; ++t) places.push_back(t * k + y[t]);
          return places;
        });
        ComputationGraph g;
        const Scores x(g, c);
        const Expression log_z = x.log_z(), m = x.marginals(), h = x.entropy();
        std::vector<Expression> each;
        std::vector<double> scores;
        for (const auto& y : all) each.push_back(x.log_prob(y)), scores.push_back(score(y));
        sums.check(g, log_z, m, h, each, scores);
      }
}

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

TEST_CASE("crf: the gradient of the log-partition is the marginals, which add up to one") {
  const Chain c(5, 9, 3);
  ParameterCollection model;
  Parameter e = model.add_parameters({5, 9}, ParameterInitFromVector(c.emissions));
  ComputationGraph g;
  Scores x(g, c);
  x.e = parameter(g, e);
  const std::vector<float> p = check_marginals(e, x.log_z(), x.marginals());
  for (unsigned t = 0; t < 9; ++t)
    CHECK(std::accumulate(p.begin() + t * 5, p.begin() + (t + 1) * 5, 0.0) ==
          Approx(1).epsilon(1e-6));
}

TEST_CASE("crf: a constant added to all scores of a word changes log Z alone") {
  Chain c(4, 6, 8);
  ComputationGraph g;
  const Scores before(g, c);
  for (unsigned j = 0; j < 4; ++j) c.emissions[3 * 4 + j] += 2.5f;
  const Scores after(g, c);
  check_added(before.log_z(), after.log_z(), before.marginals(), after.marginals());
}

TEST_CASE("crf: log-probabilities are never above zero, however sure the scores are") {
  for (std::uint64_t key = 0; key < 200; ++key) {
    Chain c(3, 12, key);
    const std::vector<unsigned> y(12, static_cast<unsigned>(key % 3));
    for (unsigned t = 0; t < 12; ++t)
      c.emissions[t * 3 + y[t]] += 20.0f * static_cast<float>(key % 7);
    ComputationGraph g;
    const Scores x(g, c);
    CHECK(as_scalar(x.log_prob(y).value()) <= 0);
    CHECK(as_scalar(x.log_prob(std::vector<unsigned>(12, kAnyTag)).value()) == 0);
  }
}

TEST_CASE("crf: sentences of all lengths are one batch, and the same bits alone") {
  constexpr unsigned kTags = 6;
  ParameterCollection model;
  const Parameter a = model.add_parameters({kTags, kTags}), s = model.add_parameters({kTags}),
                  p = model.add_parameters({kTags});
  Sentences all{.own = {},
                .shared = {a, s, p},
                .build = {},
                .loss = structure_loss,
                .batches = 4 + 2 * 24 + 10};
  std::vector<std::vector<unsigned>> tags;
  for (unsigned n = 0; n < 24; ++n) {
    const unsigned length = n * 5 % 24 + (n == 0 ? 0 : 1);
    all.own.emplace_back();
    if (length > 0) all.own.back() = {model.add_parameters({kTags, length})};
    tags.emplace_back(length);
    for (unsigned t = 0; t < length; ++t)
      tags.back()[t] = n % 2 && t % 3 ? kAnyTag : (t + n) % kTags;
  }
  all.build = [&](ComputationGraph& g, unsigned n) {
    const Expression e = all.own[n].empty() ? zeros(g, {kTags, 0}) : parameter(g, all.own[n][0]);
    const Expression A = parameter(g, a), S = parameter(g, s), P = parameter(g, p);
    return std::vector{crf_log_partition(e, A, S, P), crf_log_prob(e, A, S, P, tags[n]),
                       crf_marginals(e, A, S, P), crf_entropy(e, A, S, P)};
  };
  check_alone_and_together(model, all);
}

TEST_CASE("crf: many tags, of which all but two are forbidden, are as those two") {
  const Chain few(2, 5, 1);
  ComputationGraph g;
  const Scores x(g, few);
  for (const unsigned k : {512u, 513u, 600u, 1025u}) {
    CAPTURE(k);
    Chain many(k, 5, 2);
    const auto place = [&](unsigned tag) { return tag == 0 ? 3 : k - 1; };
    for (std::vector<float>* v : {&many.emissions, &many.start})
      std::fill(v->begin(), v->end(), kForbidden);
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned t = 0; t < 5; ++t) many.emissions[t * k + place(i)] = few.emissions[t * 2 + i];
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

TEST_CASE("crf: gradients of many tags") {
  for (const unsigned k : {17u, 130u, 512u, 513u}) {
    INFO(k << " tags");
    const Chain c(k, 4, k, k % 2 == 1);
    ParameterCollection model;
    const auto add = [&](const Dim& d, const std::vector<float>& values) {
      Parameter p = model.add_parameters(d);
      std::vector<float> finite = values;  // what is forbidden has no slope to be measured
      for (float& v : finite) v = v == kForbidden ? -12.0f : v;
      p.set_value(finite);
      return p;
    };
    const Parameter e = add({k, 4}, c.emissions), a = add({k, k}, c.transitions),
                    s = add({k}, c.start), p = add({k}, c.stop);
    ComputationGraph g;
    const Expression E = parameter(g, e), A = parameter(g, a), S = parameter(g, s),
                     P = parameter(g, p);
    const Expression loss = crf_entropy(E, A, S, P) + squared_norm(crf_marginals(E, A, S, P)) -
                            crf_log_prob(E, A, S, P, std::vector<unsigned>{1, kAnyTag, 0, 2}) -
                            crf_log_prob(E, A, S, P, std::vector<unsigned>{1, 1, 0, 2});
    const GradientReport report = check_gradients(loss, {.max_elements = k > 200 ? 1u : 20u});
    INFO(report);
    CHECK(report.ok(k > 200 ? 1e-5 : 1e-6));
  }
}

}  // namespace crf_sequences_test
