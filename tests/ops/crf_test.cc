#include "tests/ops/cases.h"
#include "tests/ops/naive_structures.h"

namespace dynet::test {
namespace {

/// Some tags for each position, of which some are not known.
std::vector<unsigned> some_tags(const Dim& emissions, unsigned variant, bool partly) {
  std::vector<unsigned> tags;
  for (unsigned k = 0; k < emissions.cols() * emissions.bd; ++k)
    tags.push_back(partly && (k + variant) % 3 != 0 ? kAnyTag
                                                    : (k * 7 + variant) % emissions.rows());
  return tags;
}

OpCase chain(const std::string& name, const std::function<Expression(const Operand&)>& build,
             const Reference& reference) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    const unsigned tags = std::min(s.positive(), 40u), length = std::min(s.size(), 70u);
    const bool by_position = length > 2 && s.coin();
    return std::vector{Dim({tags, length}, s.full_batch()),
                       by_position ? Dim({tags, tags, length - 1}) : Dim({tags, tags}), Dim({tags}),
                       Dim({tags})};
  };
  c.build = build;
  c.reference = reference;
  c.float_tolerance = 1e-4;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes(
      "{2,3,2} {2,2} {2} {2} | {2,3} {3,3} {2} {2} | {2,3} {2,2X2} {2} {2} | {2,4} {2,2,4} {2} {2} "
      "| {2,3} {2,2} {3} {2} | {2,3} {2,2} {2} {2X2}");
  return c;
}

OpCase log_prob(bool partly) {
  return chain(
      partly ? "crf_log_prob, partly known" : "crf_log_prob",
      [partly](const Operand& x) {
        return crf_log_prob(x[0], x[1], x[2], x[3], some_tags(x[0].dim(), x.variant, partly));
      },
      [partly](const Arrays& x) {
        const std::vector<unsigned> tags = some_tags(x[0].dim, x.variant, partly);
        const std::size_t rows = x[0].dim.rows();
        Arrays known = x;  // without the other tags
        for (std::size_t k = 0; k < x[0].v.size(); ++k)
          if (const unsigned y = tags[k / rows]; y != k % rows && y != kAnyTag)
            known[0].v[k] = -kInfinity;
        return of_elements([&](const Arrays& all, unsigned e) {
          return ways_to_cut(all, e).log_prob(ways_to_cut(known, e).log_z());
        })(x);
      });
}

}  // namespace

std::vector<OpCase> crf_cases() {
  return {
      chain(
          "crf_log_partition",
          [](const Operand& x) { return crf_log_partition(x[0], x[1], x[2], x[3]); },
          log_partitions(ways_to_cut)),
      log_prob(false), log_prob(true),
      chain(
          "crf_marginals", [](const Operand& x) { return crf_marginals(x[0], x[1], x[2], x[3]); },
          marginals(ways_to_cut)),
      chain(
          "crf_entropy", [](const Operand& x) { return crf_entropy(x[0], x[1], x[2], x[3]); },
          entropies(ways_to_cut))};
}

DYNET_OP_TESTS("crf", crf_cases())

}  // namespace dynet::test
