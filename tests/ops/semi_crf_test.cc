#include "tests/ops/cases.h"
#include "tests/ops/naive_structures.h"

namespace dynet::test {
namespace {

/// Segments of each batch element, where those of each begin, and where the last ones end.
struct SomeSegments {
  std::vector<Segment> all;
  std::vector<std::size_t> first = {0};
};
SomeSegments some_segments(const Dim& scores, unsigned labels, unsigned variant) {
  SomeSegments s;
  const unsigned longest = std::max(1u, scores.rows() / labels);
  for (unsigned e = 0; e < scores.bd; ++e) {
    for (unsigned t = 0; t < scores.cols(); t += s.all.back().length)
      s.all.push_back({(t * 3 + variant + e) % labels,
                       std::min(1 + (t + variant) % longest, scores.cols() - t)});
    s.first.push_back(s.all.size());
  }
  return s;
}

OpCase segments(const std::string& name, const std::function<Expression(const Operand&)>& build,
                const Reference& reference) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    const unsigned labels = std::min(s.positive(), 34u), length = std::min(s.size(), 20u);
    const auto longest = static_cast<unsigned>(1 + s.below(4));
    return std::vector{Dim({labels * longest, length}, s.full_batch()), Dim({labels, labels}),
                       Dim({labels}), Dim({labels})};
  };
  c.build = build;
  c.reference = reference;
  c.float_tolerance = 1e-4;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes(
      "{2,3,2} {2,2} {2} {2} | {5,3} {2,2} {2} {2} | {0,3} {2,2} {2} {2} | {6,3} {2,3} {2} {2} | "
      "{6,3} {2,2X2} {2} {2} | {6,3} {2,2} {3} {2} | {6,3} {2,2} {2} {2X2}");
  return c;
}

}  // namespace

std::vector<OpCase> semi_crf_cases() {
  return {segments(
              "semi_crf_log_partition",
              [](const Operand& x) { return semi_crf_log_partition(x[0], x[1], x[2], x[3]); },
              log_partitions(ways_to_cut)),
          segments(
              "semi_crf_log_prob",
              [](const Operand& x) {
                const SomeSegments y = some_segments(x[0].dim(), x[1].dim().rows(), x.variant);
                return semi_crf_log_prob(x[0], x[1], x[2], x[3], y.all);
              },
              of_elements([](const Arrays& x, unsigned e) {
                const SomeSegments y = some_segments(x[0].dim, x[1].dim.rows(), x.variant);
                const std::span<const Segment> own =
                    std::span(y.all).subspan(y.first[e], y.first[e + 1] - y.first[e]);
                return ways_to_cut(x, e).log_prob(score_of(x, e, own));
              })),
          segments(
              "semi_crf_marginals",
              [](const Operand& x) { return semi_crf_marginals(x[0], x[1], x[2], x[3]); },
              marginals(ways_to_cut)),
          segments(
              "semi_crf_entropy",
              [](const Operand& x) { return semi_crf_entropy(x[0], x[1], x[2], x[3]); },
              entropies(ways_to_cut))};
}

DYNET_OP_TESTS("semi crf", semi_crf_cases())

}  // namespace dynet::test
