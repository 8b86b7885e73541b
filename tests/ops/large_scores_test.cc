// Scores shared by all readings of a sentence, however large, must not cost an entropy's gradient
// its digits.

#include "tests/ops/large_scores.h"

#include <cstdio>

#include "tests/support/prelude.h"

namespace dynet::test {
namespace large_scores_test {

using Operands = std::vector<Expression>;

struct Case {
  const char* name;
  std::vector<Dim> operands;
  std::function<Expression(const Operands&)> build;
  /// Addend by row of the first operand; its sum is equal for all readings of a sentence.
  std::function<float(unsigned)> level;
};

const std::vector<Case>& cases() {
  constexpr float kLevel = 1000;
  constexpr unsigned kLabels = 3, kLongest = 4, kLength = 40;
  const auto same = [](unsigned) { return kLevel; };
  static const std::vector<Case> all = {
      {"crf_entropy",
       {{kLabels, kLength}, {kLabels, kLabels}, {kLabels}, {kLabels}},
       [](const Operands& x) { return crf_entropy(x[0], x[1], x[2], x[3]); },
       same},
      {"semi_crf_entropy",
       {{kLabels * kLongest, kLength}, {kLabels, kLabels}, {kLabels}, {kLabels}},
       [](const Operands& x) { return semi_crf_entropy(x[0], x[1], x[2], x[3]); },
       [](unsigned row) { return static_cast<float>(row / kLabels + 1) * kLevel / kLongest; }},
      {"ctc_entropy",
       {{5, kLength}},
       [](const Operands& x) {
         return ctc_entropy(x[0], std::vector<unsigned>{1, 2, 2, 4, 3});
       },
       same},
      {"span_entropy", {{20, 20}}, [](const Operands& x) { return span_entropy(x[0]); }, same},
      {"dependency_entropy, projective",
       {{15, 15}},
       [](const Operands& x) { return dependency_entropy(x[0], {.projective = true}); },
       same},
      {"dependency_entropy, any",
       {{15, 15}},
       [](const Operands& x) { return dependency_entropy(x[0]); },
       same},
  };
  return all;
}

template <class T>
std::vector<std::vector<double>> gradients(const ComputationGraph& g, const Expression& loss,
                                           const Operands& of, Backend<T> backend) {
  Executor<T> e(g.store(), PlanPolicy::in_batches, std::move(backend));
  e.backward(loss.i);
  std::vector<std::vector<double>> all;
  for (const Expression& x : of) {
    const std::size_t n = x.dim().size();
    const T* const d = e.backend(x.i).read(e.gradient(x.i), n);
    all.emplace_back(d, d + n);
  }
  for (const auto& bank : g.store().banks) bank->gradients.clear();
  return all;
}

void check(const MakeRunner<float>& make) {
  for (const Case& c : cases()) {
    const RandomStream random(7);
    std::uint64_t drawn = 0;
    ParameterCollection model;
    ComputationGraph g;
    Operands x;
    for (const Dim& d : c.operands) {
      std::vector<float> scores(d.size());
      for (std::size_t k = 0; k < scores.size(); ++k)
        scores[k] = static_cast<float>(random.normal(drawn++)) +
                    (x.empty() ? c.level(static_cast<unsigned>(k) % d.rows()) : 0);
      Parameter p = model.add_parameters(d, ParameterInitFromVector(scores));
      x.push_back(parameter(g, p));
    }
    const Expression entropy = c.build(x);
    const auto exact = gradients<double>(g, entropy, x, {});
    const auto got = gradients<float>(g, entropy, x, make());
    double most = 0, largest = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      for (std::size_t i = 0; i < exact[k].size(); ++i) {
        most = std::max(most, std::abs(got[k][i] - exact[k][i]));
        largest = std::max(largest, std::abs(exact[k][i]));
      }
    std::printf("%s: gradients up to %g, off by %g at most\n", c.name, largest, most);
    INFO(c.name);
    CHECK(largest > 0.05);
    CHECK(most < 2e-3 * largest);
  }
}

}  // namespace large_scores_test

void check_large_scores(const MakeRunner<float>& make) { large_scores_test::check(make); }

}  // namespace dynet::test

TEST_CASE("entropies of structures with large scores keep their gradients' digits") {
  dynet::test::check_large_scores([] { return dynet::Backend<float>(); });
}
