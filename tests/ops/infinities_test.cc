// Infinite elements.

#include "tests/ops/infinities.h"

#include "tests/support/prelude.h"

namespace dynet::test {
namespace infinities_test {

using Floats = std::vector<float>;
using E = const Expression&;
using Prepare = std::function<void(ComputationGraph&)>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool same(float got, float expected) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) < 1e-5f;
}

void check_same(const char* what, const Floats& got, const Floats& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO(what << ", element " << k << ": " << got[k] << ", expected " << expected[k]);
    CHECK(same(got[k], expected[k]));
  }
}

/// An operation on x; y, and the gradient of y_1 + 2 y_2 + 3 y_3.
struct Case {
  const char* name;
  std::function<Expression(E)> build;
  Floats x, y, dx;
};

Expression row(E x) { return reshape(x, {1, 3}); }
Expression elements(E x) { return reshape(x, Dim({1}, 3)); }

/// Each of them along a column and along a row, where there are different kernels.
std::vector<Case> sums_of_exponentials() {
  std::vector<Case> all;
  const std::pair<const char*, std::function<Expression(E)>> log_sums[] = {
      {"logsumexp", OF_X(logsumexp({pick(x, 0u), pick(x, 1u), pick(x, 2u)}))},
      {"logsumexp_dim 0", OF_X(logsumexp_dim(x, 0))},
      {"logsumexp_dim 1", OF_X(logsumexp_dim(row(x), 1))}};
  for (const auto& [name, build] : log_sums) {
    all.push_back({name, build, {kInf, 0, 1}, {kInf}, {kNaN, 0, 0}});
    all.push_back({name, build, {0, kInf, kInf}, {kInf}, {0, kNaN, kNaN}});
    all.push_back({name, build, {kInf, -kInf, 0}, {kInf}, {kNaN, 0, 0}});
    all.push_back({name, build, {-kInf, -kInf, -kInf}, {-kInf}, {0, 0, 0}});
    all.push_back({name, build, {kNaN, kInf, 0}, {kNaN}, {kNaN, kNaN, kNaN}});
  }
  const std::pair<const char*, std::function<Expression(E)>> distributions[] = {
      {"softmax 0", OF_X(softmax(x))},
      {"softmax 1", OF_X(reshape(softmax(row(x), 1), {3}))},
      {"log_softmax", OF_X(log_softmax(x))},
      {"sparsemax", OF_X(sparsemax(x))},
      {"constrained_softmax", OF_X(constrained_softmax(x, constant(*x.pg, {3}, 0.75f)))}};
  for (const auto& [name, build] : distributions) {
    all.push_back({name, build, {kInf, 0, 1}, {kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN}});
    all.push_back({name, build, {0, kInf, kInf}, {kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN}});
    const float none = name == std::string("log_softmax") ? -kInf : 0;
    all.push_back({name, build, {-kInf, -kInf, -kInf}, {none, none, none}, {0, 0, 0}});
  }
  const auto some = OF_X(log_softmax(x, {1u}));
  all.push_back({"log_softmax of some", some, {0, -kInf, 0}, {-kInf, -kInf, -kInf}, {0, 0, 0}});
  const auto class_loss = OF_X(pickneglogsoftmax(x, 0u));
  const auto sparse_loss = OF_X(sparsemax_loss(x, std::vector<unsigned>{0}));
  all.push_back({"pickneglogsoftmax", class_loss, {kInf, 0, 1}, {kNaN}, {kNaN, kNaN, kNaN}});
  all.push_back({"pickneglogsoftmax", class_loss, {-kInf, 0, 0}, {kInf}, {0, 0.5f, 0.5f}});
  all.push_back({"pickneglogsoftmax", class_loss, {-kInf, -kInf, -kInf}, {kInf}, {0, 0, 0}});
  all.push_back({"sparsemax_loss", sparse_loss, {kInf, 0, 1}, {kNaN}, {kNaN, kNaN, kNaN}});
  all.push_back({"sparsemax_loss", sparse_loss, {-kInf, 0, 0}, {kInf}, {0, 0.5f, 0.5f}});
  return all;
}

/// Twice each: with one infinity, and with both.
struct Pair {
  const char* name;
  std::function<Expression(E)> build;
  Floats y, dx;            // of {inf, 0, 1}
  Floats y_both, dx_both;  // of {-inf, 0, inf}
};

const Floats kNone = {kNaN, kNaN, kNaN};
const Floats kThirds = {1 / 3.0f, 1 / 3.0f, 1 / 3.0f};

std::vector<Pair> reductions() {
  const Floats inf = {kInf}, nan = {kNaN}, ones_each = {1, 1, 1};
  const Floats mean_square = {kInf, 0, 2 / 3.0f}, counts = {6, 5, 3};
  const Floats squares = {-kInf, 0, kInf};  // the slope of squares of {-inf, 0, inf}
  const auto parts = OF_X(std::vector{pick(x, 0u), pick(x, 1u), pick(x, 2u)});
  const auto zero = OF_X(zeros(*x.pg, {3}));
  return {
      {"sum_elems", OF_X(sum_elems(x)), inf, ones_each, nan, ones_each},
      {"sum_dim", OF_X(sum_dim(row(x), {1})), inf, ones_each, nan, ones_each},
      {"sum_batches", OF_X(sum_batches(elements(x))), inf, ones_each, nan, ones_each},
      {"mean_elems", OF_X(mean_elems(x)), inf, kThirds, nan, kThirds},
      {"mean_dim", OF_X(mean_dim(row(x), {1})), inf, kThirds, nan, kThirds},
      {"mean_batches", OF_X(mean_batches(elements(x))), inf, kThirds, nan, kThirds},
      {"average", OF_X(average(parts(x))), inf, kThirds, nan, kThirds},
      {"moment_elems 2", OF_X(moment_elems(x, 2)), inf, mean_square, inf, squares},
      {"moment_dim 3", OF_X(moment_dim(row(x), {1}, 3)), inf, {kInf, 0, 1}, nan, {kInf, 0, kInf}},
      {"moment_batches 2", OF_X(moment_batches(elements(x), 2)), inf, mean_square, inf, squares},
      {"std_elems", OF_X(std_elems(x)), nan, kNone, nan, kNone},
      {"std_dim", OF_X(std_dim(row(x), {1})), nan, kNone, nan, kNone},
      {"std_batches", OF_X(std_batches(elements(x))), nan, kNone, nan, kNone},
      {"squared_norm", OF_X(squared_norm(x)), inf, {kInf, 0, 2}, inf, squares},
      {"l2_norm", OF_X(l2_norm(x)), inf, {kNaN, 0, 0}, inf, {kNaN, 0, kNaN}},
      {"max_dim 0", OF_X(max_dim(x, 0)), inf, {1, 0, 0}, inf, {0, 0, 1}},
      {"max_dim 1", OF_X(max_dim(row(x), 1)), inf, {1, 0, 0}, inf, {0, 0, 1}},
      {"min_dim 0", OF_X(min_dim(x, 0)), {0}, {0, 1, 0}, {-kInf}, {1, 0, 0}},
      {"min_dim 1", OF_X(min_dim(row(x), 1)), {0}, {0, 1, 0}, {-kInf}, {1, 0, 0}},
      {"max", OF_X(max(parts(x))), inf, {1, 0, 0}, inf, {0, 0, 1}},
      {"cumsum", OF_X(cumsum(x, 0)), {kInf, kInf, kInf}, counts, {-kInf, -kInf, kNaN}, counts},
      {"l1_distance", OF_X(l1_distance(x, zero(x))), inf, {1, 0, 1}, inf, {-1, 0, 1}},
      {"squared_distance", OF_X(squared_distance(x, zero(x))), inf, {kInf, 0, 2}, inf, squares},
      {"huber_distance",
       OF_X(huber_distance(x, zero(x), 1.5f)),
       inf,
       {1.5f, 0, 1},
       inf,
       {-1.5f, 0, 1.5f}},
      {"hinge", OF_X(hinge(x, 1u)), inf, {1, -2, 1}, inf, {0, -1, 1}},
      {"layer_norm", OF_X(layer_norm(x, ones(*x.pg, {3}), zero(x))), kNone, kNone, kNone, kNone},
  };
}

void check(const Case& c, const Prepare& prepare) {
  INFO(c.name << " of " << c.x[0] << ", " << c.x[1] << ", " << c.x[2]);
  ParameterCollection model;
  Parameter p = model.add_parameters({3}, ParameterInitFromVector(c.x));
  ComputationGraph g;
  prepare(g);
  const Expression y = c.build(parameter(g, p));
  check_same("value", as_vector(y.value()), c.y);
  const Dim d = y.dim();
  Floats weights(d.size());
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<float>(k + 1);
  g.backward(sum_elems(cmult(y, input(g, d, weights))));
  check_same("gradient", as_vector(*p.gradients()), c.dx);
}

/// Infinity in lines of any length, at any place.
void check_long(const Prepare& prepare, unsigned length, unsigned place) {
  INFO("place " << place << " of " << length);
  Floats x(length, 1.0f);
  x[place] = kInf;
  x[length - 1 - place] = -kInf;
  for (const unsigned along : {0u, 1u}) {
    ParameterCollection model;
    Parameter p = model.add_parameters({length}, ParameterInitFromVector(x));
    ComputationGraph g;
    prepare(g);
    const Expression y =
        logsumexp_dim(along == 0 ? parameter(g, p) : reshape(parameter(g, p), {1, length}), along);
    CHECK(as_scalar(y.value()) == kInf);
    g.backward(y);
    Floats dx(length, 0.0f);
    dx[place] = kNaN;
    check_same("gradient", as_vector(*p.gradients()), dx);
  }
}

}  // namespace infinities_test

void check_infinities(const std::function<void(ComputationGraph&)>& prepare) {
  using namespace infinities_test;
  for (const Case& c : sums_of_exponentials()) check(c, prepare);
  for (const Pair& p : reductions()) {
    check({p.name, p.build, {kInf, 0, 1}, p.y, p.dx}, prepare);
    check({p.name, p.build, {-kInf, 0, kInf}, p.y_both, p.dx_both}, prepare);
  }
  for (const unsigned length : {2u, 40u, 1100u})
    for (const unsigned place : {0u, length - 1}) check_long(prepare, length, place);
}

}  // namespace dynet::test

TEST_CASE("infinities: a NaN among the operands shows") {
  using namespace dynet;
  using namespace dynet::test::infinities_test;
  const auto check = [](const char* name, const std::function<Expression(E)>& build) {
    for (const unsigned place : {0u, 1u, 2u}) {
      INFO(name << ", place " << place);
      ComputationGraph g;
      Floats x = {1, 3, 2};
      x[place] = kNaN;
      const Floats y = values(build(input(g, {3}, x)));
      CHECK(std::any_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
    }
  };
  for (const Case& c : sums_of_exponentials())
    if (c.name != std::string("log_softmax of some")) check(c.name, c.build);
  for (const Pair& p : reductions()) check(p.name, p.build);
  check("min", OF_X(min({pick(x, 0u), pick(x, 1u), pick(x, 2u)})));
  check("hinge_dim", OF_X(hinge_dim(x, {2})));
  check("poisson_loss", OF_X(sum_batches(poisson_loss(reshape(x, Dim({1}, 3)), 2u))));
  check("pairwise_rank_loss", OF_X(pairwise_rank_loss(x, x)));
  check("l1_distance of equal operands", OF_X(l1_distance(x, x)));
  check("huber_distance of equal operands", OF_X(huber_distance(x, x)));
}

TEST_CASE("infinities: reductions and softmaxes handle infinite operands") {
  dynet::test::check_infinities([](dynet::ComputationGraph&) {});
}
