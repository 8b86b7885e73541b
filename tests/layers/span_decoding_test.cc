#include "tests/layers/decoding.h"
#include "tests/support/span_trees.h"

namespace span_decoding_test {

using namespace dynet;
using namespace decoding;
using namespace dynet::test;

TEST_CASE("span decoding: the n best of all trees, in order, ties lexicographically") {
  Counts counts;
  for (std::uint64_t key = 0; key < 48; ++key) {
    const bool whole = key % 2 == 0;
    const auto labels = static_cast<unsigned>(1 + key % 3);
    const SpanScores s = some_span_scores(static_cast<unsigned>(key % (labels == 1 ? 7 : 5)),
                                          labels, key, whole, key % 5 == 0);
    const std::vector<ScoredSpans> all = best_first(all_span_trees(s));
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{50}, all.size() + 2}) {
      if (n > 3000) continue;
      check_n_best(best_span_trees(s, n), n, all, &ScoredSpans::spans, counts);
    }
    CHECK(best_span_tree(s) == (all.empty() ? std::vector<LabelledSpan>() : all[0].spans));
  }
  CHECK(counts.checked > 2000);
  CHECK(counts.ties > 500);
}

TEST_CASE("span decoding: the best of all trees of six words with labels") {
  for (std::uint64_t key = 0; key < 3; ++key) {
    const SpanScores s = some_span_scores(6, 2, key, key == 1);
    const std::vector<ScoredSpans> all = best_first(all_span_trees(s));
    CHECK(all.size() == 42 * 2048);
    const std::vector<ScoredSpans> best = best_span_trees(s, 200);
    REQUIRE(best.size() == 200);
    for (std::size_t k = 0; k < best.size(); ++k) CHECK(best[k].spans == all[k].spans);
  }
}

TEST_CASE("span decoding: samples come as often as they are probable") {
  const SpanScores s = some_span_scores(4, 2, 42);
  check_samples(best_first(all_span_trees(s)), &ScoredSpans::spans,
                [&](unsigned key) { return sample_span_tree(s, key); });
}

TEST_CASE("span decoding: where all is forbidden there is nothing, and of no words one tree") {
  SpanScores s = some_span_scores(3, 2, 1);
  for (unsigned k = 0; k < 2; ++k) s.spans[(k * 3 + 2) * 3] = kForbidden;
  CHECK(best_span_trees(s, 5).empty());
  CHECK(best_span_tree(s).empty());
  CHECK(sample_span_tree(s, 1).empty());
  s = some_span_scores(0, 2, 1);
  REQUIRE(best_span_trees(s, 5).size() == 1);
  CHECK(best_span_trees(s, 5)[0].spans.empty());
  CHECK(best_span_trees(s, 5)[0].score == 0);
  CHECK(sample_span_tree(s, 1).empty());
  s = some_span_scores(1, 3, 1);
  CHECK(best_span_trees(s, 5).size() == 3);
  CHECK(best_span_trees(s, 0).empty());
  CHECK(sample_span_tree(s, 1).size() == 1);
}

TEST_CASE("span decoding: scores of a graph, and mistakes") {
  ComputationGraph g;
  const SpanScores s = span_scores(input(g, {2, 2, 2}, {1, 0, 2, 3, 4, 0, 5, 6}));
  CHECK(s.words == 2);
  CHECK(s.labels == 2);
  CHECK(s.score(0, 1, 1) == 5);
  CHECK(best_span_tree(s) == std::vector<LabelledSpan>{{0, 1, 1}, {0, 0, 1}, {1, 1, 1}});
  CHECK(span_scores(zeros(g, {3, 3})).labels == 1);
  CHECK_THROWS_AS(span_scores(zeros(g, Dim({2, 2}, 2))), ArgumentError);
  CHECK_THROWS_AS(span_scores(zeros(g, {3, 2})), ArgumentError);
  CHECK_THROWS_WITH(span_scores(zeros(g, {2, 2, 0})),
                    Catch::StartsWith("span_scores: the scores of spans must be"));
}

}  // namespace span_decoding_test
