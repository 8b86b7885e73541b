#include "tests/layers/decoding.h"

namespace semi_crf_test {

using namespace dynet;
using namespace decoding;

namespace {

SegmentScores some_scores(unsigned labels, unsigned longest, unsigned length, std::uint64_t key,
                          bool whole = false, bool forbids = false) {
  auto fill = score_source(key, whole, forbids);
  return {labels,
          longest,
          length,
          fill(std::size_t{labels} * longest * length),
          fill(std::size_t{labels} * labels),
          fill(labels),
          fill(labels)};
}

/// All ways that are not forbidden, the best first, of equal ones the lexicographically first.
std::vector<ScoredSegments> all_ways(const SegmentScores& s) {
  std::vector<ScoredSegments> all;
  for (const std::vector<Segment>& segments : test::all_ways(s.labels, s.longest, s.length)) {
    ScoredSegments y{segments, 0};
    unsigned t = s.length;
    for (std::size_t k = segments.size(); k-- > 0;) {
      const auto [label, length] = segments[k];
      if (t == s.length) y.score += static_cast<double>(s.stop[label]);
      y.score += s.segment(t - 1, length, label);
      t -= length;
      y.score +=
          k == 0 ? static_cast<double>(s.start[label]) : s.transition(segments[k - 1].label, label);
    }
    all.push_back(y);
  }
  return best_first(all);
}

}  // namespace

TEST_CASE("segment decoding: the n best of all ways, in order, ties lexicographically") {
  Counts counts;
  for (std::uint64_t key = 0; key < 60; ++key) {
    const bool whole = key % 2 == 0;  // numbers of which many sums are equal
    const SegmentScores s = some_scores(1 + key % 3, 1 + key % 4, static_cast<unsigned>(key % 6),
                                        key, whole, key % 5 == 0);
    const std::vector<ScoredSegments> all = all_ways(s);
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, all.size(), all.size() + 2}) {
      check_n_best(best_segments(s, n), n, all, &ScoredSegments::segments, counts);
    }
  }
  CHECK(counts.checked > 3000);
  CHECK(counts.ties > 400);
}

TEST_CASE("segment decoding: samples come as often as they are probable") {
  const SegmentScores s = some_scores(2, 3, 5, 42);
  check_samples(all_ways(s), &ScoredSegments::segments,
                [&](unsigned key) { return sample_segments(s, key); });
}

TEST_CASE("segment decoding: where all is forbidden there is nothing, of no words one way") {
  SegmentScores s = some_scores(2, 2, 3, 1);
  s.start = {kForbidden, kForbidden};
  CHECK(best_segments(s, 5).empty());
  CHECK(sample_segments(s, 1).empty());
  s = some_scores(2, 2, 0, 1);
  REQUIRE(best_segments(s, 5).size() == 1);
  CHECK(best_segments(s, 5)[0].segments.empty());
  CHECK(best_segments(s, 0).empty());
  CHECK(sample_segments(s, 1).empty());
}

TEST_CASE("SemiCrf: finds what the functions find, and mistakes leave it as it was") {
  ParameterCollection model;
  CHECK_THROWS_AS(SemiCrf(model, SemiCrf::Settings{0, 2}), ArgumentError);
  CHECK_THROWS_AS(SemiCrf(model, SemiCrf::Settings{2, 0}), ArgumentError);
  CHECK(model.parameter_count() == 0);
  SemiCrf crf(model, SemiCrf::Settings{2, 3});
  CHECK(model.parameter_count() == 4 + 2 + 2);
  ComputationGraph g;
  const SegmentScores s = some_scores(2, 3, 6, 9);
  const Expression x = input(g, {6, 6}, s.scores);
  crf.new_graph(g);
  CHECK_THROWS_AS(crf.best(zeros(g, Dim({6, 3}, 2))), ArgumentError);
  CHECK_THROWS_AS(crf.entropy(zeros(g, {4, 3})), ArgumentError);
  CHECK_THROWS_AS(crf.log_prob(x, std::vector<Segment>{{2, 3}, {0, 3}}), IndexError);
  CHECK_THROWS_AS(crf.log_prob(x, std::vector<Segment>{{1, 4}, {0, 2}}), ArgumentError);
  CHECK_THROWS_AS(crf.log_prob(x, std::vector<Segment>{{1, 0}, {0, 3}, {0, 3}}), ArgumentError);
  CHECK_THROWS_AS(crf.log_prob(x, std::vector<Segment>{{1, 3}, {0, 2}}), ArgumentError);
  CHECK_THROWS_AS(crf.log_prob(x, std::vector<Segment>{{1, 3}, {0, 2}, {0, 2}}), ArgumentError);

  SegmentScores plain = s;
  plain.transitions.assign(4, 0.0f);
  plain.start = plain.stop = {0, 0};
  const std::vector<ScoredSegments> all = all_ways(plain);
  CHECK(crf.best(x) == all[0].segments);
  CHECK(crf.sample(x, 3) == sample_segments(plain, 3));
  const std::vector<ScoredSegments> best = crf.best(x, 100000);
  CHECK(best.size() == all.size());
  double sum = 0;
  const auto log_z = static_cast<double>(as_scalar(crf.log_partition(x).value()));
  for (std::size_t k = 0; k < best.size(); k += 1) sum += std::exp(best[k].score - log_z);
  CHECK(sum == Approx(1).epsilon(1e-5));
  CHECK(static_cast<double>(as_scalar(crf.log_prob(x, best[1].segments).value())) ==
        Approx(best[1].score - log_z).epsilon(1e-5));
  CHECK(as_scalar(crf.entropy(x).value()) > 0);
  CHECK(crf.marginals(x).dim() == Dim({6, 6}));
}

}  // namespace semi_crf_test
