#include "tests/layers/naive_transformer.h"

namespace biaffine_test {

using namespace dynet;

namespace {

/// Vectors of this size.
std::vector<std::vector<float>> some_vectors(unsigned count, unsigned size, unsigned seed) {
  std::vector<std::vector<float>> vectors;
  for (unsigned i = 0; i < count; ++i) vectors.push_back(naive::numbers(size, seed + i));
  return vectors;
}

std::vector<Expression> inputs(ComputationGraph& cg, const std::vector<std::vector<float>>& xs) {
  std::vector<Expression> all;
  for (const std::vector<float>& x : xs)
    all.push_back(input(cg, Dim({static_cast<unsigned>(x.size())}), x));
  return all;
}

/// By its formula.
double score(const ParameterCollection& model, const BiaffineScorer::Settings& s, unsigned k,
             const std::vector<float>& h, const std::vector<float>& d) {
  std::vector<std::vector<float>> p;
  for (const Parameter& each : model.parameters_list()) p.push_back(as_vector(each.values()));
  double sum = 0;
  for (unsigned i = 0; i < s.heads; ++i) {
    const unsigned row = i * s.outputs + k;
    sum += double(h[i]) * double(p[1][row]);
    for (unsigned j = 0; j < s.dependents; ++j)
      sum += double(h[i]) * double(p[0][j * s.outputs * s.heads + row]) * double(d[j]);
  }
  if (!s.dependent_bias) return sum;
  for (unsigned j = 0; j < s.dependents; ++j) sum += double(p[2][j * s.outputs + k]) * double(d[j]);
  return sum + double(p[3][k]);
}

}  // namespace

TEST_CASE("biaffine scorer: the scores of its formula") {
  for (const bool bias : {true, false})
    for (const unsigned outputs : {1u, 3u}) {
      const BiaffineScorer::Settings settings{3, 2, outputs, bias};
      ParameterCollection model;
      BiaffineScorer scorer(model, settings);
      CHECK(model.parameters_list().size() == (bias ? 4 : 2));
      naive::spread(model, 100);
      ComputationGraph cg;
      scorer.new_graph(cg);
      const auto hs = some_vectors(4, 3, 1), ds = some_vectors(2, 2, 20);
      const std::vector<Expression> h = inputs(cg, hs), d = inputs(cg, ds);
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          const std::vector<float> scores = as_vector(scorer.pair(h[i], d[j]).value());
          REQUIRE(scores.size() == outputs);
          for (unsigned k = 0; k < outputs; ++k)
            CHECK(scores[k] == Approx(score(model, settings, k, hs[i], ds[j])).epsilon(1e-5));
        }
      if (outputs > 1) {
        CHECK_THROWS_WITH(scorer.all_pairs(h, d),
                          Catch::Contains("makes one score of a pair, got 3 outputs"));
        continue;
      }
      const Expression all = scorer.all_pairs(h, d);
      CHECK(all.dim() == Dim({4, 2}));
      const std::vector<float> scores = as_vector(all.value());
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 2; ++j)
          CHECK(scores[j * 4 + i] == Approx(score(model, settings, 0, hs[i], ds[j])).epsilon(1e-5));
    }
}

TEST_CASE("biaffine scorer: gradients, and none without update") {
  ParameterCollection model;
  BiaffineScorer arcs(model, {3, 2}), labels(model, {2, 3, 4});
  Parameter x = model.add_parameters({3}), y = model.add_parameters({2});
  naive::spread(model, 100);
  const auto loss = [&](ComputationGraph& cg, bool update) {
    arcs.new_graph(cg, update);
    labels.new_graph(cg, update);
    const Expression a = parameter(cg, x), b = parameter(cg, y);
    return sum_elems(tanh(arcs.all_pairs({a, a * 2, -a}, {b, b * 3}))) +
           pickneglogsoftmax(labels.pair(b, a), 2u);
  };
  check_slopes(loss, 4 + 4 + 2, 2);
}

TEST_CASE("biaffine scorer: what is wrong is said, and changes nothing") {
  ParameterCollection model;
  CHECK_THROWS_WITH(BiaffineScorer(model, {0, 2}), Catch::Contains("sizes must be above zero"));
  CHECK_THROWS_AS(BiaffineScorer(model, {3, 0}), ArgumentError);
  CHECK_THROWS_AS(BiaffineScorer(model, {3, 2, 0}), ArgumentError);
  CHECK(model.parameters_list().empty());
  BiaffineScorer scorer(model, {3, 2}), two(model, {3, 2, 2});
  ComputationGraph cg;
  const Expression h = input(cg, Dim({3}), {1, 2, 3}), d = input(cg, Dim({2}), {1, 2});
  scorer.new_graph(cg);
  CHECK_THROWS_WITH(scorer.all_pairs({}, {d}), Catch::Contains("needs a vector"));
  CHECK_THROWS_WITH(scorer.all_pairs({h}, {}), Catch::Contains("needs a vector"));
  CHECK_THROWS_AS(scorer.pair(d, h), ShapeError);
  two.new_graph(cg);
  CHECK_THROWS_WITH(two.all_pairs({h}, {d}), Catch::Contains("makes one score of a pair"));
  CHECK(scorer.pair(h, d).dim() == Dim({1}));
}

TEST_CASE("biaffine scorer: begins without a preference for a head alone") {
  ParameterCollection model;
  BiaffineScorer scorer(model, {3, 2, 2});
  const auto parameters = scorer.get_parameter_collection().parameters_list();
  REQUIRE(parameters.size() == 4);
  const auto is_zero = [&](std::size_t k) {
    const std::vector<float> x = as_vector(parameters[k].values());
    return std::all_of(x.begin(), x.end(), [](float v) { return v == 0; });
  };
  CHECK_FALSE(is_zero(0));
  CHECK(is_zero(1));
  CHECK_FALSE(is_zero(2));
  CHECK(is_zero(3));
}

}  // namespace biaffine_test
