// Span trees against all trees, one by one, and against themselves in other company.
#include "tests/ops/sequences.h"
#include "tests/support/span_trees.h"

namespace span_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

Expression input_of(ComputationGraph& g, const SpanScores& s) {
  return input(g, Dim({s.words, s.words, s.labels}), s.spans);
}

/// The number of the trees of n words.
double catalan(unsigned n) {
  double c = 1;
  for (unsigned k = 1; k < n; ++k) c = c * (4 * k - 2) / (k + 1);
  return c;
}

std::vector<LabelledSpan> left_branching(unsigned words, unsigned label = kAnyLabel) {
  std::vector<LabelledSpan> spans;
  for (unsigned i = 0; i < words; ++i) spans.push_back({i, i, label});
  for (unsigned j = 1; j < words; ++j) spans.push_back({0, j, label});
  return spans;
}

}  // namespace

TEST_CASE("span trees: all trees, one by one, in double") {
  std::uint64_t key = 0;
  for (unsigned labels = 1; labels <= 3; ++labels)
    for (unsigned n = 0; n <= (labels == 1 ? 6u : 4u); ++n)
      for (const bool forbids : {false, true}) {
        const SpanScores s = some_span_scores(n, labels, key++, false, forbids);
        INFO(n << " words, " << labels << " labels, " << forbids);
        const std::vector<ScoredSpans> all = all_span_trees(s);
        const Listed sums(
            all, s.spans.size(), [](const ScoredSpans& t) { return t.score; },
            [&](const ScoredSpans& t) {
              std::vector<std::size_t> places;
              for (const LabelledSpan& y : t.spans)
                places.push_back((std::size_t{y.label} * n + y.last) * n + y.first);
              return places;
            });
        ComputationGraph g;
        const Expression x = input_of(g, s), log_z = span_log_partition(x), m = span_marginals(x),
                         h = span_entropy(x);
        std::vector<Expression> each, without_labels;
        std::vector<double> scores;
        for (std::size_t k = 0; k < all.size(); k += all.size() / 500 + 1) {
          each.push_back(span_log_prob(x, all[k].spans));
          scores.push_back(all[k].score);
        }
        for (const ScoredSpans& t : all_span_trees(s, false))
          without_labels.push_back(span_log_prob(x, t.spans));
        sums.check(g, log_z, m, h, each, scores);
        InDouble value(g);
        double sum = 0;
        for (const Expression& e : without_labels) sum += std::exp(*value(e));
        CHECK(sum == Approx(sums.z == 0 ? 0 : 1).epsilon(1e-10).margin(1e-12));
      }
}

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
      if (n > 0 && n < 100) CHECK(log_count == Approx(std::log(catalan(n))).margin(1e-12));
      const Expression x = zeros(g, {n, n, labels});
      CHECK(as_scalar(span_log_partition(x).value()) == Approx(log_count + count).epsilon(1e-6));
      CHECK(as_scalar(span_entropy(x).value()) == Approx(log_count + count).epsilon(1e-6));
    }
}

TEST_CASE("span trees: the gradient of the log-partition is the marginals, 2n - 1 spans a tree") {
  const SpanScores s = some_span_scores(9, 3, 5);
  auto [model, spans, g, x] = Variable({9, 9, 3}, s.spans);
  const std::vector<float> p = check_marginals(spans, span_log_partition(x), span_marginals(x));
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(17).epsilon(1e-6));
  for (unsigned i = 0; i < 9; ++i) {  // a word is in every tree
    double word = 0;
    for (unsigned k = 0; k < 3; ++k) word += static_cast<double>(p[(k * 9 + i) * 9 + i]);
    CHECK(word == Approx(1).epsilon(1e-6));
  }
  const std::vector<float> d = as_vector(*spans.gradients());
  for (unsigned j = 0; j < 9; ++j)
    for (unsigned i = j + 1; i < 9; ++i) CHECK(d[j * 9 + i] == 0);
}

TEST_CASE("span trees: what is added to a word adds up, and changes nothing else") {
  SpanScores s = some_span_scores(6, 2, 8);
  ComputationGraph g;
  const Expression before = input_of(g, s);
  for (unsigned k = 0; k < 2; ++k) s.spans[(k * 6 + 3) * 6 + 3] += 2.5f;
  const Expression after = input_of(g, s);
  check_added(span_log_partition(before), span_log_partition(after), span_marginals(before),
              span_marginals(after));
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

TEST_CASE("span trees: log-probabilities are never above zero, however sure the scores are") {
  for (unsigned key = 0; key < 100; ++key) {
    SpanScores s = some_span_scores(12, 2, key);
    const std::vector<LabelledSpan> tree = left_branching(12, key % 2);
    for (const LabelledSpan& y : tree)
      s.spans[(y.label * 12 + y.last) * 12 + y.first] += 20.0f * static_cast<float>(key % 7);
    ComputationGraph g;
    const Expression x = input_of(g, s);
    CHECK(as_scalar(span_log_prob(x, tree).value()) <= 0);
    CHECK(as_scalar(span_log_prob(x, left_branching(12)).value()) <= 0);
  }
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

TEST_CASE("span trees: where all is forbidden marginals, entropy and gradients are zero") {
  SpanScores s = some_span_scores(4, 2, 6);
  for (unsigned k = 0; k < 2; ++k) s.spans[(k * 4 + 2) * 4 + 2] = kForbidden;  // a word
  auto [model, spans, g, x] = Variable({4, 4, 2}, s.spans);
  const Expression each[] = {span_log_partition(x), span_log_prob(x, left_branching(4, 1)),
                             span_log_prob(x, left_branching(4)), sum_elems(span_marginals(x)),
                             span_entropy(x)};
  for (const Expression& e : each) {
    CHECK(as_scalar(e.value()) == (&e - each < 3 ? kForbidden : 0));
    g.backward(e);
    for (const float d : as_vector(*spans.gradients())) CHECK(d == 0);
    model.reset_gradient();
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

TEST_CASE("span trees: sentences of all lengths are one batch, and the same bits alone") {
  constexpr unsigned kLabels = 3, kSentences = 24;
  ParameterCollection model;
  Sentences all{.batches = 4 + 2 * kSentences + 10};
  all.own.resize(kSentences);
  std::vector<std::vector<LabelledSpan>> gold;
  for (unsigned n = 0; n < kSentences; ++n) {
    const unsigned words = n * 5 % kSentences + (n == 0 ? 0 : 1);
    if (words > 0) all.own[n] = {model.add_parameters({words, words, kLabels})};
    gold.push_back(left_branching(words, n % 2 == 0 ? kAnyLabel : n % kLabels));
  }
  all.build = [&](ComputationGraph& g, unsigned n) {
    const Expression x =
        all.own[n].empty() ? zeros(g, {0, 0, kLabels}) : parameter(g, all.own[n][0]);
    return std::vector{span_log_partition(x), span_log_prob(x, gold[n]), span_marginals(x),
                       span_entropy(x)};
  };
  check_alone_and_together(model, all);
}

TEST_CASE("span trees: gradients of more words and labels than a vector has lanes") {
  for (const unsigned n : {8u, 17u}) {
    const SpanScores s = some_span_scores(n, 3, n);
    auto [model, spans, g, x] = Variable({n, n, 3}, s.spans);
    const Expression loss = span_entropy(x) + squared_norm(span_marginals(x)) -
                            span_log_prob(x, left_branching(n)) -
                            span_log_prob(x, left_branching(n, 1));
    CHECK(check_gradients(loss, {.max_elements = 60}).ok(1e-6));
  }
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
  const auto with = [&](const std::vector<LabelledSpan>& tree) {
    return [&x, tree] { (void)span_log_prob(x, tree); };
  };
  const auto says = [](const auto& f, const std::string& sentence) {
    std::string message;
    try {
      f();
    } catch (const ArgumentError& e) {
      message = e.what();
    }
    INFO(message);
    return message.rfind("span_log_prob: " + sentence + "\n", 0) == 0;
  };
  CHECK(says(with({{0, 2}, {0, 0}}), "a binary tree of 3 words has 5 spans, got 2"));
  CHECK(says(with({{0, 2}, {0, 1}, {0, 0}, {1, 1}, {3, 3}}),
             "the span [3, 3] is not one of 3 words"));
  CHECK(says(with({{0, 2}, {1, 0}, {0, 0}, {1, 1}, {2, 2}}),
             "the span [1, 0] is not one of 3 words"));
  const std::string tree = "the spans must be those of a binary tree of 3 words, but ";
  CHECK(says(with({{0, 1}, {1, 2}, {0, 0}, {1, 1}, {2, 2}}), tree + "[0, 2] is missing"));
  CHECK(says(with({{0, 2}, {0, 1}, {0, 1}, {1, 1}, {2, 2}}),
             tree + "a left part of [0, 1] is missing"));
  CHECK(says(with({{0, 2}, {0, 0}, {1, 1}, {2, 2}, {2, 2}}), tree + "[1, 2] is missing"));
  CHECK(says(with({{0, 2}, {0, 1}, {1, 2}, {0, 0}, {2, 2}}), tree + "[1, 1] is missing"));
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
