// Log-probabilities of what minus infinity forbids.

#include "tests/ops/forbidden.h"

#include "tests/support/prelude.h"

namespace dynet::test {
namespace forbidden_test {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// A log-probability of a structure over scores, and one score without which it is not possible.
struct Structure {
  const char* name;
  std::vector<Dim> scores;
  std::function<Expression(const std::vector<Expression>&)> build;
  std::size_t needed;            // an element of the first scores, of what is asked for
  std::vector<std::size_t> all;  // and some without which nothing is possible
};

std::vector<Structure> structures() {
  using Xs = const std::vector<Expression>&;
  const std::vector<Dim> chain = {{2, 3}, {2, 2}, {2}, {2}};
  const std::vector<Dim> segments = {{4, 3}, {2, 2}, {2}, {2}};
  const auto tags = [](std::vector<unsigned> y) {
    return [y](Xs x) { return crf_log_prob(x[0], x[1], x[2], x[3], y); };
  };
  const auto tree = [](unsigned label) {
    return [label](Xs x) {
      return span_log_prob(
          x[0], std::vector<LabelledSpan>{
                    {0, 2, label}, {0, 1, label}, {0, 0, label}, {1, 1, label}, {2, 2, label}});
    };
  };
  const auto heads = [](DependencyRules rules) {
    return [rules](Xs x) {
      return dependency_log_prob(x[0], std::vector<unsigned>{2, 0, 2}, rules);
    };
  };
  return {
      {"crf_log_prob", chain, tags({1, 0, 1}), 2, {2, 3}},
      {"crf_log_prob in part", chain, tags({kAnyTag, 0, kAnyTag}), 2, {2, 3}},
      {"semi_crf_log_prob",
       segments,
       [](Xs x) {
         return semi_crf_log_prob(x[0], x[1], x[2], x[3], std::vector<Segment>{{1, 1}, {0, 2}});
       },
       10,
       {8, 9, 10, 11}},
      {"span_log_prob", {{3, 3, 2}}, tree(1), 9, {0, 9}},
      {"span_log_prob of any labels", {{3, 3}}, tree(kAnyLabel), 3, {3, 7}},
      {"dependency_log_prob", {{4, 4}}, heads({}), 6, {4, 6, 7}},
      {"dependency_log_prob, projective", {{4, 4}}, heads({.projective = true}), 6, {4, 6, 7}},
      {"ctc_loss",
       {{3, 2}},
       [](Xs x) {
         return -ctc_loss(x[0], std::vector<unsigned>{1, 2});
       },
       1,
       {0, 1}},
  };
}

void check_zero(const Structure& s, const std::vector<std::size_t>& forbidden,
                const std::function<void(ComputationGraph&)>& prepare) {
  INFO(s.name << ", " << forbidden.size() << " forbidden");
  ParameterCollection model;
  ComputationGraph g;
  prepare(g);
  std::vector<Parameter> scores;
  std::vector<Expression> x;
  for (const Dim& d : s.scores) {
    std::vector<float> values(d.size());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = 0.1f * static_cast<float>(k);
    if (scores.empty())
      for (const std::size_t k : forbidden) values[k] = kForbidden;
    scores.push_back(model.add_parameters(d));
    scores.back().set_value(values);
    x.push_back(parameter(g, scores.back()));
  }
  const Expression y = s.build(x);
  CHECK(as_scalar(y.value()) == kForbidden);
  g.backward(y * 4.0f);
  for (const Parameter& p : scores)
    for (const float d : as_vector(*p.gradients())) CHECK(d == 0);
}

}  // namespace forbidden_test

void check_forbidden(const std::function<void(ComputationGraph&)>& prepare) {
  using namespace forbidden_test;
  for (const Structure& s : structures()) {
    check_zero(s, s.all, prepare);
    check_zero(s, {s.needed}, prepare);
  }
}

}  // namespace dynet::test

TEST_CASE("log-probabilities of what is forbidden have no gradient") {
  dynet::test::check_forbidden([](dynet::ComputationGraph&) {});
}
