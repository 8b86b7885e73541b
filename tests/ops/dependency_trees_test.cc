#include "tests/ops/cases.h"
#include "tests/ops/naive_structures.h"
#include "tests/support/all_trees.h"

namespace dynet::test {
namespace {

const std::vector<std::vector<unsigned>>& trees_of(unsigned n, DependencyRules rules) {
  thread_local std::map<unsigned, std::vector<std::vector<unsigned>>> known;
  const unsigned key = n * 4 + rules.projective * 2 + rules.single_root;
  if (!known.count(key)) known[key] = all_trees(n, rules);
  return known[key];
}

double score_of(const Arrays& x, unsigned element, std::span<const unsigned> heads) {
  double sum = 0;
  for (unsigned d = 1; d <= heads.size(); ++d) sum += x[0].at(heads[d - 1], d, element);
  return sum;
}

Lister listed(DependencyRules rules) {
  return [rules](const Arrays& x, unsigned element) {
    const unsigned nodes = x[0].dim.rows();
    Listed all(x[0].dim.batch_size());
    for (const std::vector<unsigned>& heads : trees_of(nodes - 1, rules)) {
      std::vector<std::size_t> places;
      for (unsigned d = 1; d < nodes; ++d) places.push_back(std::size_t{d} * nodes + heads[d - 1]);
      all.add(score_of(x, element, heads), places);
    }
    all.end();
    return all;
  };
}

std::vector<unsigned> some_heads(const Dim& arcs, unsigned variant, DependencyRules rules) {
  std::vector<unsigned> heads;
  const unsigned n = arcs.rows() - 1;
  for (unsigned e = 0; e < arcs.bd; ++e) {
    if (n > 4) {  // too many trees to choose from: a chain of words
      for (unsigned d = 0; d < n; ++d) heads.push_back(d);
      continue;
    }
    const auto& trees = trees_of(n, rules);
    const auto& y = trees[(variant * 7 + e * 3) % trees.size()];
    heads.insert(heads.end(), y.begin(), y.end());
  }
  return heads;
}

}  // namespace

std::vector<OpCase> dependency_tree_cases() {
  std::vector<OpCase> all;
  for (const DependencyRules rules : kRules) {
    const auto add = [&](const std::string& op,
                         const std::function<Expression(const Operand&)>& build,
                         const Reference& reference) {
      OpCase c;
      c.name = op + (rules.projective ? ", projective" : ", any") +
               (rules.single_root ? ", one root" : ", roots");
      c.shapes = [rules](Shapes& s) {
        // Larger ones are not compared with all their trees.
        const bool large = s.kind() == Shapes::borders || s.kind() == Shapes::large;
        const unsigned n = std::min(s.size(), large ? (rules.projective ? 20u : 14u) : 4u) + 1;
        return std::vector{Dim({n, n}, s.full_batch())};
      };
      c.build = build;
      c.reference = reference;
      c.low = -3, c.high = 3;
      c.float_tolerance = 2e-5;
      c.draws = 18;
      c.extremes = {-1e4, 1e4, 0, -kInfinity};
      c.bad = bad_shapes("{2,3} | {3} | {0,0} | {2,2,2}");
      all.push_back(c);
    };
    add(
        "dependency_log_partition",
        [rules](const Operand& x) { return dependency_log_partition(x[0], rules); },
        log_partitions(listed(rules)));
    add(
        "dependency_log_prob",
        [rules](const Operand& x) {
          const Dim& d = x[0].dim();
          return dependency_log_prob(
              x[0], d.rows() == 0 ? std::vector<unsigned>() : some_heads(d, x.variant, rules),
              rules);
        },
        of_elements([rules](const Arrays& x, unsigned e) {
          const std::vector<unsigned> heads = some_heads(x[0].dim, x.variant, rules);
          const std::size_t n = x[0].dim.rows() - 1;
          const double score = score_of(x, e, std::span(heads).subspan(n * e, n));
          return listed(rules)(x, e).log_prob(score);
        }));
    add(
        "dependency_marginals",
        [rules](const Operand& x) { return dependency_marginals(x[0], rules); },
        marginals(listed(rules)));
    add(
        "dependency_entropy", [rules](const Operand& x) { return dependency_entropy(x[0], rules); },
        entropies(listed(rules)));
  }
  return all;
}

DYNET_OP_TESTS("dependency trees", dependency_tree_cases())

}  // namespace dynet::test
