// Span trees of any size, with scores of any size.
#include "tests/ops/sequences.h"
#include "tests/support/span_trees.h"

namespace span_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

Expression input_of(ComputationGraph& g, const SpanScores& s) {
  return input(g, Dim({s.words, s.words, s.labels}), s.spans);
}

std::vector<LabelledSpan> left_branching(unsigned words, unsigned label = kAnyLabel) {
  std::vector<LabelledSpan> spans;
  for (unsigned i = 0; i < words; ++i) spans.push_back({i, i, label});
  for (unsigned j = 1; j < words; ++j) spans.push_back({0, j, label});
  return spans;
}

}  // namespace

TEST_CASE("span trees: with scores of zero the partition function counts trees") {
  for (const unsigned labels : {1u, 2u, 40u})
    for (const unsigned n : {0u, 1u, 2u, 3u, 8u, 30u, 100u, 300u}) {
      INFO(n << " words, " << labels << " labels");
      ComputationGraph g;
      const double count = n == 0 ? 0 : (2 * n - 1) * std::log(labels), log_count = [n] {
        double sum = 0;  // Catalan numbers, which leave the range of double
        for (unsigned k = 1; k < n; ++k) sum += std::log((4.0 * k - 2) / (k + 1));
        return sum;
      }();
      const Expression x = zeros(g, {n, n, labels});
      CHECK(as_scalar(span_log_partition(x).value()) == Approx(log_count + count).epsilon(1e-6));
      CHECK(as_scalar(span_entropy(x).value()) == Approx(log_count + count).epsilon(1e-6));
    }
}

TEST_CASE("span trees: what no tree has is not read") {
  SpanScores s = some_span_scores(4, 2, 3);
  ComputationGraph g;
  const Expression before = input_of(g, s);
  for (unsigned k = 0; k < 2; ++k)
    for (unsigned j = 0; j < 4; ++j)
      for (unsigned i = j + 1; i < 4; ++i)
        s.spans[(k * 4 + j) * 4 + i] = std::numeric_limits<float>::quiet_NaN();
  const Expression after = input_of(g, s);
  for (const auto f : {span_log_partition, span_entropy})
    CHECK(as_scalar(f(before, SourceLocation::current()).value()) ==
          as_scalar(f(after, SourceLocation::current()).value()));
  CHECK(as_vector(span_marginals(before).value()) == as_vector(span_marginals(after).value()));
}

TEST_CASE("span trees: one tree that is allowed is certain") {
  for (const unsigned n : {1u, 2u, 7u, 40u}) {
    SpanScores s = some_span_scores(n, 2, n);
    std::vector<float> only(s.spans.size(), kForbidden);
    for (const LabelledSpan& y : left_branching(n, 1)) {
      const std::size_t at = (std::size_t{y.label} * n + y.last) * n + y.first;
      only[at] = 1000 * s.spans[at];
    }
    ComputationGraph g;
    const Expression x = input(g, {n, n, 2}, only);
    CHECK(as_scalar(span_entropy(x).value()) == 0);
    CHECK(as_scalar(span_log_prob(x, left_branching(n)).value()) == Approx(0).margin(1e-9));
    const std::vector<float> m = as_vector(span_marginals(x).value());
    for (std::size_t i = 0; i < m.size(); ++i) CHECK(m[i] == (only[i] > kForbidden ? 1 : 0));
  }
}

TEST_CASE("span trees: scores of any size, and of -1e30 where others would have minus infinity") {
  for (const float large : {100.0f, 1e4f, 1e6f, 1e12f}) {
    SpanScores s = some_span_scores(7, 2, 4);
    SpanScores t = s;
    // Words are in every tree, so that what they have makes no difference.
    for (unsigned k = 0; k < 2; ++k)
      for (unsigned i = 0; i < 7; ++i) {
        t.spans[(k * 7 + i) * 7 + i] = i % 2 == 0 ? large : -large;
        s.spans[(k * 7 + i) * 7 + i] = 0;
      }
    for (unsigned k = 0; k < 2; ++k) s.spans[(k * 7 + 5) * 7 + 2] = kForbidden;
    for (unsigned k = 0; k < 2; ++k) t.spans[(k * 7 + 5) * 7 + 2] = -1e30f;
    ComputationGraph g;
    const Expression x = input_of(g, s), y = input_of(g, t);
    CHECK(as_scalar(span_entropy(x).value()) ==
          Approx(as_scalar(span_entropy(y).value())).epsilon(1e-6));
    check_equal(span_marginals(x), span_marginals(y));
  }
}

TEST_CASE("span trees: the sum over one tree is its score, whatever its size") {
  for (const float score : {1e-30f, 1.0f, 88.0f, 1e4f, 3e9f, 1e16f, 1e20f, 2e25f, 1e30f, 3e38f})
    for (const float x : {score, -score}) {
      ComputationGraph g;
      const Expression spans = input(g, {1, 1}, {x});
      CHECK(as_scalar(span_log_partition(spans).value()) == Approx(x).epsilon(1e-6).margin(1e-12));
      CHECK(as_scalar(span_marginals(spans).value()) == 1);
      CHECK(as_scalar(span_entropy(spans).value()) == 0);
    }
}

TEST_CASE("span trees: the log-probability of a tree with an infinite score is no number") {
  ComputationGraph g;
  const Expression spans = input(g, {1, 1}, {std::numeric_limits<float>::infinity()});
  const std::vector<LabelledSpan> tree = {{0, 0, 0}};
  CHECK(std::isnan(as_scalar(span_log_prob(spans, tree).value())));
}

TEST_CASE("span trees: pieces of columns are put together") {
  // More words than a piece has spans; scores that leave one tree but for the label of a word.
  constexpr unsigned kWords = 300;
  std::vector<float> scores(std::size_t{kWords} * kWords * 2, kForbidden);
  for (const LabelledSpan& y : left_branching(kWords, 1))
    scores[(std::size_t{y.label} * kWords + y.last) * kWords + y.first] = 0.5f;
  scores[(std::size_t{299}) * kWords + 299] = 0.5f + std::log(3.0f);
  auto [model, spans, g, x] = Variable({kWords, kWords, 2}, scores);
  const Expression log_z = span_log_partition(x);
  CHECK(as_scalar(log_z.value()) == Approx(599 * 0.5 + std::log(4.0)).epsilon(1e-6));
  CHECK(as_scalar(span_entropy(x).value()) ==
        Approx(0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0)).epsilon(1e-6));
  g.backward(log_z);
  const std::vector<float> d = as_vector(*spans.gradients());
  CHECK(d[std::size_t{299} * kWords + 299] == Approx(0.75).epsilon(1e-6));
  CHECK(d[(std::size_t{kWords} + 299) * kWords + 299] == Approx(0.25).epsilon(1e-6));
  CHECK(std::accumulate(d.begin(), d.end(), 0.0) == Approx(599).epsilon(1e-6));
}

TEST_CASE("span trees: what is no tree is refused in one sentence") {
  ComputationGraph g;
  const Expression x = zeros(g, {3, 3, 2});
  const std::string tree = "the spans must be those of a binary tree of 3 words, but ";
  const std::pair<std::vector<LabelledSpan>, std::string> wrong[] = {
      {{{0, 2}, {0, 0}}, "a binary tree of 3 words has 5 spans, got 2"},
      {{{0, 2}, {0, 1}, {0, 0}, {1, 1}, {3, 3}}, "the span [3, 3] is not one of 3 words"},
      {{{0, 2}, {1, 0}, {0, 0}, {1, 1}, {2, 2}}, "the span [1, 0] is not one of 3 words"},
      {{{0, 1}, {1, 2}, {0, 0}, {1, 1}, {2, 2}}, tree + "[0, 2] is missing"},
      {{{0, 2}, {0, 1}, {0, 1}, {1, 1}, {2, 2}}, tree + "a left part of [0, 1] is missing"},
      {{{0, 2}, {0, 0}, {1, 1}, {2, 2}, {2, 2}}, tree + "[1, 2] is missing"},
      {{{0, 2}, {0, 1}, {1, 2}, {0, 0}, {2, 2}}, tree + "[1, 1] is missing"}};
  for (const auto& [spans, sentence] : wrong)
    CHECK_THAT(message<ArgumentError>([&, &of = spans] { span_log_prob(x, of); }),
               Catch::StartsWith("span_log_prob: " + sentence + "\n"));
  CHECK_THROWS_AS(span_log_prob(x, left_branching(3, 2)), IndexError);
  const Expression two = zeros(g, Dim({3, 3}, 2));
  CHECK_THROWS_WITH(span_log_prob(two, left_branching(3)),
                    Catch::StartsWith("span_log_prob: a binary tree of 3 words has 5 spans, and 2 "
                                      "trees are needed, got 5\n"));
  std::vector<LabelledSpan> both = left_branching(3, 0);
  for (const LabelledSpan& y : std::vector<LabelledSpan>{{0, 2}, {1, 2}, {0, 0}, {1, 1}, {2, 2}})
    both.push_back(y);
  CHECK(as_vector(span_log_prob(two, both).value()) == std::vector{std::log(0.5f), std::log(0.5f)});
  CHECK(as_scalar(span_log_prob(zeros(g, {0, 0}), {}).value()) == 0);
}

}  // namespace span_sequences_test
