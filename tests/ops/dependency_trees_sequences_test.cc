// Dependency trees of any size, with scores of any size.
#include "tests/ops/sequences.h"
#include "tests/support/all_trees.h"

namespace dependency_trees_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

std::vector<float> some_arcs(unsigned words, std::uint64_t key, double forbids = 0) {
  const RandomStream random(key);
  std::vector<float> arcs;
  for (unsigned i = 0; i < (words + 1) * (words + 1); ++i)
    arcs.push_back(random.uniform(2 * i + 1) < forbids
                       ? kForbidden
                       : static_cast<float>(2 * random.normal(2 * i)));
  return arcs;
}

double score(const std::vector<float>& arcs, const std::vector<unsigned>& heads) {
  double sum = 0;
  for (std::size_t d = 1; d <= heads.size(); ++d)
    sum += static_cast<double>(arcs[d * (heads.size() + 1) + heads[d - 1]]);
  return sum;
}

Dim arcs_of(unsigned words) { return Dim({words + 1, words + 1}); }

}  // namespace

TEST_CASE("dependency trees: with scores of zero the partition function counts trees") {
  for (unsigned n = 1; n <= 60; n += n < 8 ? 1 : 13)
    for (const DependencyRules rules : kRules) {
      INFO(n << " words, " << rules.projective << rules.single_root);
      const double k = n;
      double log_trees;
      if (!rules.projective) {
        log_trees = rules.single_root ? (k - 1) * std::log(k) : (k - 1) * std::log(k + 1);
      } else {  // C(3n-2, n-1) / n, and C(3n, n) / (2n+1)
        const double a = rules.single_root ? 3 * k - 2 : 3 * k, b = rules.single_root ? k - 1 : k;
        log_trees = std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(a - b + 1) -
                    std::log(rules.single_root ? k : 2 * k + 1);
      }
      ComputationGraph g;
      const Expression x = zeros(g, arcs_of(n));
      const Expression z = dependency_log_partition(x, rules);
      const Expression h = dependency_entropy(x, rules);
      CHECK(as_scalar(z.value()) == Approx(log_trees).epsilon(1e-5).margin(1e-5));
      CHECK(as_scalar(h.value()) == Approx(log_trees).epsilon(1e-4).margin(1e-5));
      InDouble value(g);
      CHECK(*value(z) == Approx(log_trees).epsilon(1e-12).margin(1e-12));
      CHECK(*value(h) == Approx(log_trees).epsilon(1e-11).margin(1e-11));
    }
}

TEST_CASE("dependency trees: only what is a tree by the rules has a probability") {
  ComputationGraph g;
  ParameterCollection model;
  const Parameter a = model.add_parameters(arcs_of(4));
  const Expression x = parameter(g, a);
  const auto log_p = [&](std::vector<unsigned> heads, DependencyRules rules) {
    const Expression e = dependency_log_prob(x, heads, rules);
    const float value = as_scalar(e.value());
    g.backward(e);
    const std::vector<float> slope = as_vector(*a.gradients());
    const bool flat = std::all_of(slope.begin(), slope.end(), [](float s) { return s == 0; });
    CHECK(flat == (value == kForbidden));
    model.reset_gradient();
    return value;
  };
  CHECK(log_p({0, 1, 2, 3}, {}) < 0);
  CHECK(log_p({2, 1, 0, 3}, {}) == kForbidden);              // a cycle
  CHECK(log_p({1, 0, 2, 3}, {false, false}) == kForbidden);  // its own head
  CHECK(log_p({0, 0, 2, 3}, {}) == kForbidden);
  CHECK(log_p({0, 0, 2, 3}, {true, false}) < 0);
  CHECK(log_p({0, 0, 2, 3}, {false, false}) < 0);
  CHECK(log_p({3, 0, 2, 2}, {}) == kForbidden);  // 3 to 1 covers the root of the tree
  CHECK(log_p({3, 0, 2, 2}, {false, true}) < 0);
  CHECK(log_p({3, 4, 0, 3}, {}) == kForbidden);  // two arcs cross
  CHECK(log_p({3, 4, 0, 3}, {true, false}) == kForbidden);
  CHECK(log_p({3, 4, 0, 3}, {false, true}) < 0);

  CHECK_THROWS_AS(dependency_log_prob(x, std::vector<unsigned>{0, 1, 2}), ArgumentError);
  CHECK_THROWS_AS(dependency_log_prob(x, std::vector<unsigned>{0, 1, 2, 5}), IndexError);
  CHECK_THROWS_WITH(dependency_log_partition(zeros(g, {3, 4})),
                    Catch::Contains("the arcs of n words must be {n+1,n+1}, got {3,4}"));
}

TEST_CASE("dependency trees: words that can hang from few others") {
  for (std::uint64_t key = 0; key < 400; ++key)
    for (const DependencyRules rules : kRules) {
      const unsigned n = 2 + key % 4;
      const std::vector<float> arcs = some_arcs(n, 1000 + key, 0.6);
      INFO("key " << key << ", " << rules.projective << rules.single_root);
      double z = 0, most = static_cast<double>(kForbidden);
      std::vector<unsigned> best(n, 0);
      for (const auto& y : all_trees(n, rules)) {
        z += std::exp(score(arcs, y));
        if (score(arcs, y) > most) most = score(arcs, y), best = y;
      }
      ComputationGraph g;
      const Expression x = input(g, arcs_of(n), arcs);
      const float log_z = as_scalar(dependency_log_partition(x, rules).value());
      const float log_p = as_scalar(dependency_log_prob(x, best, rules).value());
      if (z == 0) {
        CHECK(log_z == kForbidden);
        continue;
      }
      CHECK(log_z == Approx(std::log(z)).epsilon(1e-5).margin(1e-5));
      CHECK(log_p == Approx(most - std::log(z)).epsilon(1e-5).margin(1e-5));
      CHECK(log_p <= 0);  // also where there is no other tree
    }
}

TEST_CASE("dependency trees: heads of the root and of a word itself may be anything") {
  const unsigned n = 9, nodes = n + 1;
  std::vector<float> arcs = some_arcs(n, 3), strange = arcs;
  for (unsigned h = 0; h < nodes; ++h)
    strange[h] = strange[h * nodes + h] = h % 2 ? std::nanf("") : 1 / 0.0f;
  std::vector<unsigned> heads;
  for (unsigned d = 1; d <= n; ++d) heads.push_back(d - 1);
  for (const DependencyRules rules : kRules) {
    const auto all = [&](const std::vector<float>& scores) {
      auto [model, a, g, x] = Variable(arcs_of(n), scores);
      const Expression p = dependency_marginals(x, rules),
                       y = dependency_log_partition(x, rules) + dependency_entropy(x, rules) +
                           dependency_log_prob(x, heads, rules) + squared_norm(p);
      std::vector<float> results = as_vector(p.value());
      results.push_back(as_scalar(y.value()));
      g.backward(y);
      for (const float v : as_vector(*a.gradients())) results.push_back(v);
      return results;
    };
    CHECK(all(arcs) == all(strange));
  }
}

TEST_CASE("dependency trees: one tree alone has all the probability, and no entropy") {
  for (const DependencyRules rules : kRules)
    for (const float size : {1.0f, 1e4f}) {
      const unsigned n = 7;
      std::vector<float> arcs(64, kForbidden);
      for (unsigned d = 1; d <= n; ++d) arcs[d * 8 + d - 1] = d % 2 ? size : -0.7f * size;
      arcs[2 * 8 + 3] = 50;  // an arc of no tree
      ComputationGraph g;
      const Expression x = input(g, arcs_of(n), arcs);
      CHECK(as_scalar(dependency_entropy(x, rules).value()) == 0);
      CHECK(as_scalar(dependency_log_prob(x, std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6}, rules)
                          .value()) == Approx(0).margin(1e-3));
      const std::vector<float> p = as_vector(dependency_marginals(x, rules).value());
      CHECK(p[8] == 1);
      CHECK(p[2 * 8 + 3] == 0);
    }
}

// The words of pairs like each other by far more than anything else, so that a Laplacian matrix is
// singular to all its digits; and yet the trees say how probable each arc is.
TEST_CASE("dependency trees: nothing cancels where words like each other") {
  for (const float liking : {20.0f, 100.0f, 1000.0f, 1e4f})
    for (const bool single_root : {true, false}) {
      INFO(liking << ", single root " << single_root);
      constexpr unsigned n = 6;
      std::vector<float> arcs = some_arcs(n, 5);
      for (float& s : arcs) s = std::round(4 * s) / 4;
      for (unsigned d = 1; d <= n; ++d) arcs[d * 7 + (d % 2 ? d + 1 : d - 1)] += liking;
      ComputationGraph g;
      const DependencyRules rules{false, single_root};
      const Expression x = input(g, arcs_of(n), arcs);
      const Expression z = dependency_log_partition(x, rules), m = dependency_marginals(x, rules);
      const Expression h = dependency_entropy(x, rules);
      InDouble value(g);
      const auto all = all_trees(n, rules);
      double most = -1e30, sum = 0, entropy = 0;
      std::vector<double> p(arcs.size(), 0.0);
      for (const auto& y : all) most = std::max(most, score(arcs, y));
      for (const auto& y : all) sum += std::exp(score(arcs, y) - most);
      for (const auto& y : all) {
        const double q = std::exp(score(arcs, y) - most) / sum;
        entropy -= q > 0 ? q * std::log(q) : 0;
        for (unsigned d = 1; d <= n; ++d) p[d * 7 + y[d - 1]] += q;
      }
      CHECK(*value(z) - most == Approx(std::log(sum)).epsilon(1e-10));
      CHECK(*value(h) == Approx(entropy).epsilon(liking < 5000 ? 1e-10 : 1e-7));
      for (std::size_t k = 0; k < p.size(); ++k)  // small ones to all their digits
        CHECK(value(m)[k] == Approx(p[k]).epsilon(1e-10).margin(1e-300));
    }
}

TEST_CASE("dependency trees: sums in float are those in double, however far apart the scores are") {
  std::uint64_t draws = 100;
  for (const DependencyRules rules : {kRules[2], kRules[3]})
    for (const float spread : {0.25f, 1.0f, 8.0f, 50.0f, 400.0f})
      for (const double forbids : {0.0, 0.6})
        for (const unsigned n : {1u, 2u, 7u, 30u, 45u}) {
          INFO(n << " words, " << rules.single_root << ", " << spread << ", " << forbids);
          std::vector<float> arcs = some_arcs(n, draws++, forbids);
          for (float& s : arcs) s *= spread;
          auto [model, a, g, x] = Variable(arcs_of(n), arcs);
          const Expression z = dependency_log_partition(x, rules);
          const std::vector<float> p = as_vector(dependency_marginals(x, rules).value());
          g.backward(z);
          CHECK(as_vector(*a.gradients()) == p);
          ComputationGraph other;
          const Expression y = input(other, arcs_of(n), arcs);
          const Expression log_z = dependency_log_partition(y, rules);
          const Expression marginals = dependency_marginals(y, rules);
          InDouble value(other);
          if (*value(log_z) == -std::numeric_limits<double>::infinity()) {
            CHECK(as_scalar(z.value()) == -std::numeric_limits<float>::infinity());
            continue;
          }
          CHECK(as_scalar(z.value()) == Approx(*value(log_z)).epsilon(1e-6).margin(1e-6));
          const double* const q = value(marginals);
          bool same = true;
          for (std::size_t k = 0; k < p.size(); ++k)
            same = same && std::abs(static_cast<double>(p[k]) - q[k]) <= 2e-6 * q[k] + 1e-37;
          CHECK(same);
        }
}

TEST_CASE("dependency trees: gradients of long sentences, and of scores far apart") {
  for (const DependencyRules rules : kRules)
    for (const unsigned n : {5u, 17u, 35u}) {
      INFO(n << " words, " << rules.projective << rules.single_root);
      std::vector<float> arcs = some_arcs(n, n);
      for (std::size_t k = 0; k < arcs.size() && n == 5; ++k)
        arcs[k] += k % 5 == 0 ? 200.0f : k % 5 == 1 ? -200.0f : 0.0f;
      auto [model, a, g, x] = Variable(arcs_of(n), arcs);
      std::vector<unsigned> heads(n);
      std::iota(heads.begin(), heads.end(), 0u);
      const Expression loss = dependency_entropy(x, rules) +
                              squared_norm(dependency_marginals(x, rules)) -
                              0.1f * dependency_log_prob(x, heads, rules);
      const GradientReport report = check_gradients(loss, {.max_elements = 20});
      INFO(report);
      CHECK(report.ok(5e-5));  // differences of the loss are no better
    }
}

}  // namespace dependency_trees_sequences_test
