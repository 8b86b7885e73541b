// Scores by which nothing can be chosen are a typed error: no answer, and no empty one either.

#include "dynet-like/structures/ctc/ctc_decoding.h"
#include "tests/support/prelude.h"

namespace decoding_scores_test {

using namespace dynet;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kBad[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity};

}  // namespace

TEST_CASE("decoding: scores that are NaN or plus infinity") {
  for (const float bad : kBad) {
    for (const std::size_t n : {1, 2}) {
      for (unsigned which = 0; which < 4; ++which) {
        const auto scores = [&](unsigned k, std::size_t size) {
          std::vector<float> all(size, 0.5f);
          if (k == which) all.back() = bad;
          return all;
        };
        const ChainScores chain{2, 3, scores(0, 6), scores(1, 4), scores(2, 2), scores(3, 2)};
        CHECK_THROWS_AS(best_sequences(chain, n), NumericError);
        CHECK_THROWS_AS(sample_sequence(chain, n), NumericError);
        const SegmentScores cut{2, 2, 3, scores(0, 12), scores(1, 4), scores(2, 2), scores(3, 2)};
        CHECK_THROWS_AS(best_segments(cut, n), NumericError);
        CHECK_THROWS_AS(sample_segments(cut, n), NumericError);
      }
      for (const bool projective : {false, true}) {
        const DependencyRules rules{.projective = projective};
        ArcScores arcs{2, {0, 0, 0, 0, bad, 0, 0, 0, 0}};  // a word is never its own head
        CHECK(best_trees(arcs, n, rules).size() == n);
        arcs.scores[5] = bad;
        CHECK_THROWS_AS(best_trees(arcs, n, rules), NumericError);
        CHECK_THROWS_AS(best_tree(arcs, rules), NumericError);
        CHECK_THROWS_AS(sample_tree(arcs, n, rules), NumericError);
      }
      const SpanScores spans{2, 1, {0, 0, bad, 0}};
      CHECK_THROWS_AS(best_span_trees(spans, n), NumericError);
      CHECK_THROWS_AS(best_span_tree(spans), NumericError);
      CHECK_THROWS_AS(sample_span_tree(spans, n), NumericError);
      const CtcScores frames{2, 2, {-1, -1, -1, bad}, 0};
      CHECK_THROWS_AS(ctc_beam_search(frames), NumericError);
      CHECK_THROWS_AS(ctc_best_path(frames), NumericError);
      CHECK_THROWS_AS(ctc_best_alignment(frames, std::vector<unsigned>{1}), NumericError);
      CHECK_THROWS_AS(ctc_sample(frames, n), NumericError);
    }
  }
}

TEST_CASE("decoding: layers find no answer where all are forbidden") {
  ComputationGraph g;
  ParameterCollection pc;
  ChainCrf chain(pc, {.tags = 2});
  SemiCrf semi(pc, {.labels = 2, .longest = 1});
  chain.new_graph(g);
  semi.new_graph(g);
  const Expression never = input(g, {2, 3}, std::vector<float>(6, -kInfinity));
  CHECK_THROWS_AS(chain.best(never), NumericError);
  CHECK_THROWS_AS(chain.sample(never, 1), NumericError);
  CHECK(chain.best(never, 2).empty());
  CHECK_THROWS_AS(semi.best(never), NumericError);
  CHECK_THROWS_AS(semi.sample(never, 1), NumericError);
  CHECK(semi.best(never, 2).empty());
  CHECK_THROWS_AS(CtcDecoder().best(never), NumericError);
}

}  // namespace decoding_scores_test
