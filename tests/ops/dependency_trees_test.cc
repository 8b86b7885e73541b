#include "tests/ops/cases.h"
#include "tests/support/all_trees.h"

namespace dynet::test {
namespace {

const std::vector<std::vector<unsigned>>& trees_of(unsigned n, DependencyRules rules) {
  thread_local std::map<unsigned, std::vector<std::vector<unsigned>>> known;
  const unsigned key = n * 4 + rules.projective * 2 + rules.single_root;
  if (!known.count(key)) known[key] = all_trees(n, rules);
  return known[key];
}

/// All trees of a batch element, with their probabilities.
struct NaiveDependencyTrees {
  const Array& arcs;
  unsigned element, words = arcs.dim.rows() - 1;
  const std::vector<std::vector<unsigned>>& trees;
  double log_z = -kInfinity;
  std::vector<double> p;

  NaiveDependencyTrees(const Arrays& x, unsigned e, DependencyRules rules)
      : arcs(x[0]), element(e), trees(trees_of(arcs.dim.rows() - 1, rules)) {
    double most = -kInfinity, sum = 0;
    for (const auto& y : trees) most = std::max(most, score(y));
    for (const auto& y : trees) p.push_back(most == -kInfinity ? 0 : std::exp(score(y) - most));
    for (const double e_score : p) sum += e_score;
    for (double& e_score : p) e_score /= sum == 0 ? 1 : sum;
    if (most > -kInfinity) log_z = most + std::log(sum);
  }
  double score(const std::vector<unsigned>& heads) const {
    double sum = 0;
    for (unsigned d = 1; d <= words; ++d) sum += arcs.at(heads[d - 1], d, element);
    return sum;
  }
  double marginal(unsigned h, unsigned d) const {
    double sum = 0;
    for (std::size_t k = 0; k < trees.size() && d > 0; ++k)
      if (trees[k][d - 1] == h) sum += p[k];
    return sum;
  }
  double entropy() const {
    double sum = 0;
    for (const double x : p) sum -= x > 0 ? x * std::log(x) : 0;
    return sum;
  }
};

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

constexpr DependencyRules kRules[] = {{true, true}, {true, false}, {false, true}, {false, false}};

}  // namespace

std::vector<OpCase> dependency_tree_cases() {
  std::vector<OpCase> all;
  for (const DependencyRules rules : kRules) {
    const auto add = [&](const std::string& op,
                         const std::function<Expression(const Operand&)>& build,
                         const std::function<Array(const Arrays&)>& reference) {
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
    const auto numbers = [rules](const std::function<double(const NaiveDependencyTrees&)>& f) {
      return [rules, f](const Arrays& x) {
        return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
          return f(NaiveDependencyTrees(x, p[kMaxTensorDim], rules));
        });
      };
    };
    add(
        "dependency_log_partition",
        [rules](const Operand& x) { return dependency_log_partition(x[0], rules); },
        numbers([](const NaiveDependencyTrees& t) { return t.log_z; }));
    add(
        "dependency_log_prob",
        [rules](const Operand& x) {
          const Dim& d = x[0].dim();
          return dependency_log_prob(
              x[0], d.rows() == 0 ? std::vector<unsigned>() : some_heads(d, x.variant, rules),
              rules);
        },
        [rules](const Arrays& x) {
          const std::vector<unsigned> heads = some_heads(x[0].dim, x.variant, rules);
          const auto n = static_cast<std::ptrdiff_t>(x[0].dim.rows() - 1);
          return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
            const NaiveDependencyTrees t(x, p[kMaxTensorDim], rules);
            const auto first = heads.begin() + n * static_cast<std::ptrdiff_t>(t.element);
            const double score = t.score(std::vector<unsigned>(first, first + n));
            return score == -kInfinity ? score : score - t.log_z;
          });
        });
    add(
        "dependency_marginals",
        [rules](const Operand& x) { return dependency_marginals(x[0], rules); },
        [rules](const Arrays& x) {
          std::vector<NaiveDependencyTrees> trees;
          for (unsigned e = 0; e < x[0].dim.bd; ++e) trees.emplace_back(x, e, rules);
          return fill(x[0].dim,
                      [&](const Place& p) { return trees[p[kMaxTensorDim]].marginal(p[0], p[1]); });
        });
    add(
        "dependency_entropy", [rules](const Operand& x) { return dependency_entropy(x[0], rules); },
        numbers([](const NaiveDependencyTrees& t) { return t.entropy(); }));
  }
  return all;
}

DYNET_OP_TESTS("dependency trees", dependency_tree_cases())

}  // namespace dynet::test
