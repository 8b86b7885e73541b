#include "tests/layers/decoding.h"
#include "tests/layers/naive_transformer.h"

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
  std::vector<ScoredSegments> open = {{{}, 0}}, done;
  while (!open.empty()) {
    std::vector<ScoredSegments> longer;
    for (const ScoredSegments& y : open) {
      unsigned t = 0;
      for (const Segment& segment : y.segments) t += segment.length;
      if (t == s.length) {
        done.push_back(y);
        continue;
      }
      for (unsigned j = 0; j < s.labels; ++j)
        for (unsigned l = 1; l <= s.longest && t + l <= s.length; ++l) {
          longer.push_back(y);
          longer.back().segments.push_back({j, l});
        }
    }
    open = longer;
  }
  for (ScoredSegments& y : done) {
    unsigned t = s.length;
    for (std::size_t k = y.segments.size(); k-- > 0;) {
      const auto [label, length] = y.segments[k];
      if (t == s.length) y.score += static_cast<double>(s.stop[label]);
      y.score += s.segment(t - 1, length, label);
      t -= length;
      y.score += k == 0 ? static_cast<double>(s.start[label])
                        : s.transition(y.segments[k - 1].label, label);
    }
  }
  std::erase_if(done, [](const ScoredSegments& y) { return y.score == double(kForbidden); });
  std::sort(done.begin(), done.end(), [](const ScoredSegments& a, const ScoredSegments& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::lexicographical_compare(a.segments.begin(), a.segments.end(), b.segments.begin(),
                                        b.segments.end(), [](const Segment& x, const Segment& y) {
                                          return x.label != y.label ? x.label < y.label
                                                                    : x.length < y.length;
                                        });
  });
  return done;
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
  const std::vector<ScoredSegments> all = all_ways(s);
  double z = 0;
  for (const ScoredSegments& y : all) z += std::exp(y.score);
  // By the place of its score, each segment.
  std::vector<double> expected(s.scores.size(), 0.0), seen = expected;
  const auto add = [&](const std::vector<Segment>& segments, double p, std::vector<double>& to) {
    unsigned t = 0;
    for (const Segment& y : segments) {
      t += y.length;
      to[((t - 1) * s.longest + y.length - 1) * s.labels + y.label] += p;
    }
    CHECK(t == s.length);
  };
  for (const ScoredSegments& y : all) add(y.segments, std::exp(y.score) / z, expected);
  constexpr unsigned kDraws = 20000;
  for (unsigned k = 0; k < kDraws; ++k) add(sample_segments(s, k), 1, seen);
  CHECK(sample_segments(s, 7) == sample_segments(s, 7));
  for (std::size_t e = 0; e < expected.size(); ++e) {
    const double deviation = std::sqrt(kDraws * expected[e] * (1 - expected[e]));
    CHECK(std::abs(seen[e] - kDraws * expected[e]) <= 4 * deviation);
  }
  // Those that end with each length, and each number of segments: chi-square.
  std::vector<double> chi_expected(6, 0.0), chi_seen = chi_expected;
  for (const ScoredSegments& y : all)
    chi_expected[y.segments.size()] += std::exp(y.score) / z * kDraws;
  for (unsigned k = 0; k < kDraws; ++k) ++chi_seen[sample_segments(s, k).size()];
  double chi = 0;
  for (unsigned k = 2; k <= 5; ++k)
    chi += (chi_seen[k] - chi_expected[k]) * (chi_seen[k] - chi_expected[k]) / chi_expected[k];
  CHECK(chi < 16.3);  // of three degrees of freedom, one time in a thousand
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
  SemiCrf crf(model, SemiCrf::Settings{2, 3}), empty;
  CHECK(model.parameter_count() == 4 + 2 + 2);
  ComputationGraph g;
  const SegmentScores s = some_scores(2, 3, 6, 9);
  const Expression x = input(g, {6, 6}, s.scores);
  CHECK_THROWS_WITH(crf.log_partition(x), Catch::StartsWith("log_partition: call new_graph first"));
  CHECK_THROWS_AS(empty.new_graph(g), ArgumentError);
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

TEST_CASE("SemiCrf: settings come back from a file") {
  const SemiCrf::Settings settings = naive::saved(SemiCrf::Settings{3, 7});
  CHECK((settings.labels == 3 && settings.longest == 7));
}

TEST_CASE("SemiCrf: learns how long segments are and which follow one another") {
  // Two words of label 0, three of label 1, by turns: words say nothing, lengths and transitions
  // do.
  ParameterCollection model;
  SemiCrf crf(model, SemiCrf::Settings{2, 4});
  const Parameter lengths = model.add_parameters({8}, ParameterInitConst(0.0f));
  SimpleSGDTrainer trainer(model, 0.5f);
  const std::vector<Segment> y = {{0, 2}, {1, 3}, {0, 2}, {1, 3}};
  float last = 0;
  for (int step = 0; step < 80; ++step) {
    ComputationGraph g;
    crf.new_graph(g);
    const Expression loss = -crf.log_prob(parameter(g, lengths) * ones(g, {1, 10}), y);
    last = as_scalar(loss.value());
    g.backward(loss);
    trainer.update();
  }
  CHECK(last < 0.1f);
  ComputationGraph g;
  crf.new_graph(g, false);
  const Expression x = const_parameter(g, lengths) * ones(g, {1, 15});
  CHECK(crf.best(x) == std::vector<Segment>{{0, 2}, {1, 3}, {0, 2}, {1, 3}, {0, 2}, {1, 3}});
}

}  // namespace semi_crf_test
