// Linear chains against all their sequences, one by one, and against themselves in other company.
#include "tests/ops/segments.h"

namespace crf_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

/// Scores of a chain, of which some may be forbidden.
SegmentScores some_chain(unsigned tags, unsigned length, std::uint64_t key, bool forbids = false) {
  return some_segments(tags, 1, length, key, forbids);
}

std::vector<unsigned> tags_of(const std::vector<Segment>& words) {
  std::vector<unsigned> tags;
  for (const Segment& word : words) tags.push_back(word.label);
  return tags;
}

struct Scores : SegmentOperands {
  using SegmentOperands::SegmentOperands;

  Expression log_z() const { return crf_log_partition(x, a, s, p); }
  Expression log_prob(const std::vector<unsigned>& y) const { return crf_log_prob(x, a, s, p, y); }
  Expression marginals() const { return crf_marginals(x, a, s, p); }
  Expression entropy() const { return crf_entropy(x, a, s, p); }
};

}  // namespace

TEST_CASE("crf: all sequences, one by one, in double") {
  unsigned chains = 0;
  for (unsigned k = 1; k <= 3; ++k)
    for (unsigned n = 0; n <= 6; ++n)
      for (const bool forbids : {false, true}) {
        INFO(k << " tags, " << n << " words, " << forbids);
        check_all_ways<Scores>(
            some_chain(k, n, chains++, forbids),
            [](const Scores& x, const std::vector<Segment>& y) { return x.log_prob(tags_of(y)); });
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
  const SegmentScores c = some_chain(5, 9, 3);
  auto [model, e, g, emissions] = Variable({5, 9}, c.scores);
  Scores x(g, c);
  x.x = emissions;
  const std::vector<float> p = check_marginals(e, x.log_z(), x.marginals());
  for (unsigned t = 0; t < 9; ++t)
    CHECK(std::accumulate(p.begin() + t * 5, p.begin() + (t + 1) * 5, 0.0) ==
          Approx(1).epsilon(1e-6));
}

TEST_CASE("crf: a constant added to all scores of a word changes log Z alone") {
  SegmentScores c = some_chain(4, 6, 8);
  ComputationGraph g;
  const Scores before(g, c);
  for (unsigned j = 0; j < 4; ++j) c.scores[3 * 4 + j] += 2.5f;
  const Scores after(g, c);
  check_added(before.log_z(), after.log_z(), before.marginals(), after.marginals());
}

TEST_CASE("crf: log-probabilities are never above zero, however sure the scores are") {
  for (std::uint64_t key = 0; key < 200; ++key) {
    SegmentScores c = some_chain(3, 12, key);
    const std::vector<unsigned> y(12, static_cast<unsigned>(key % 3));
    for (unsigned t = 0; t < 12; ++t) c.scores[t * 3 + y[t]] += 20.0f * static_cast<float>(key % 7);
    ComputationGraph g;
    const Scores x(g, c);
    CHECK(as_scalar(x.log_prob(y).value()) <= 0);
    CHECK(as_scalar(x.log_prob(std::vector<unsigned>(12, kAnyTag)).value()) == 0);
  }
}

TEST_CASE("crf: sentences of all lengths are one batch, and the same bits alone") {
  const auto [tag_count, longest] = GENERATE(std::pair(6u, 24u), std::pair(130u, 90u));
  CAPTURE(tag_count);
  ParameterCollection model;
  const SegmentParameters shared(model, tag_count);
  Sentences all{.shared = {shared.a, shared.s, shared.p}, .batches = 4 + 2 * 24 + 10};
  std::vector<std::vector<unsigned>> tags;
  for (unsigned n = 0; n < 24; ++n) {
    const unsigned length = n * 5 % longest + (n == 0 ? 0 : 1);
    all.own.emplace_back();
    if (length > 0) all.own.back() = {model.add_parameters({tag_count, length})};
    tags.emplace_back(length);
    for (unsigned t = 0; t < length; ++t)
      tags.back()[t] = n % 2 && t % 3 ? kAnyTag : (t + n) % tag_count;
  }
  all.build = [&, k = tag_count](ComputationGraph& g, unsigned n) {
    const Expression e = all.own[n].empty() ? zeros(g, {k, 0}) : parameter(g, all.own[n][0]);
    const Scores y(e, shared);
    return std::vector{y.log_z(), y.log_prob(tags[n]), y.marginals(), y.entropy()};
  };
  check_alone_and_together(model, all);
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

TEST_CASE("crf: gradients of many tags") {
  for (const unsigned k : {17u, 130u, 512u, 513u}) {
    INFO(k << " tags");
    const SegmentScores c = some_chain(k, 4, k, k % 2 == 1);
    ParameterCollection model;
    ComputationGraph g;
    const auto add = [&](const Dim& d, const std::vector<float>& values) {
      Parameter p = model.add_parameters(d);
      std::vector<float> finite = values;  // what is forbidden has no slope to be measured
      for (float& v : finite) v = v == kForbidden ? -12.0f : v;
      p.set_value(finite);
      return parameter(g, p);
    };
    Scores x(g, c);
    x.x = add({k, 4}, c.scores);
    x.a = add({k, k}, c.transitions);
    x.s = add({k}, c.start);
    x.p = add({k}, c.stop);
    const Expression loss = x.entropy() + squared_norm(x.marginals()) -
                            x.log_prob({1, kAnyTag, 0, 2}) - x.log_prob({1, 1, 0, 2});
    const GradientReport report = check_gradients(loss, {.max_elements = k > 200 ? 1u : 20u});
    INFO(report);
    CHECK(report.ok(k > 200 ? 1e-5 : 1e-6));
  }
}

}  // namespace crf_sequences_test
