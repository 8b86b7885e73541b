#include "dynet-like/run/grad_check.h"

#include "dynet-like/ops/form.h"
#include "tests/support/prelude.h"

namespace dynet::grad_check_test {
namespace {

template <class T>
void cube_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t k = 0; k < b.dim().size(); ++k)
      b.out(i)[k] = b.in(0, i)[k] * b.in(0, i)[k] * b.in(0, i)[k];
}

// x^3 with a slope that is right, forgets its factor, or is one part in ten thousand too large.
template <class T>
void slope(const GradientBatch<T>& b, T factor) {
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t k = 0; k < b.dim().size(); ++k) {
      const T g = factor * b.in(0, i)[k] * b.in(0, i)[k] * b.d_out(i)[k];
      b.d_in(0, i)[k] = b.add(0, i) ? b.d_in(0, i)[k] + g : g;
    }
  }
}
template <class T>
void right(const GradientBatch<T>& b) {
  slope<T>(b, T(3));
}
template <class T>
void wrong(const GradientBatch<T>& b) {
  slope<T>(b, T(1));
}
template <class T>
void nearly_right(const GradientBatch<T>& b) {
  slope<T>(b, T(3.0003));
}

constexpr OpForm cube_with(Backward backward) {
  return {.name = "my_cube",
          .shape = [](const Operands& x) { return x[0]; },
          .batch = BatchRule::each(),
          .reads = Reads::inputs,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cube_forward),
          .backward = backward,
          .cuda = CudaRule::never("a test")};
}
const OpForm kRight = cube_with(DYNET_BACKWARD(right));
const OpForm kWrong = cube_with(DYNET_BACKWARD(wrong));
const OpForm kNearlyRight = cube_with(DYNET_BACKWARD(nearly_right));

GradientReport report_of(const OpForm& form) {
  ParameterCollection model;
  Parameter p = model.add_parameters({3}, "cubed"), q = model.add_parameters({3}, "added");
  p.set_value({1, 2, 3});
  ComputationGraph g;
  return check_gradients(
      sum_elems(add_node(form, parameter(g, p), {}, SourceLocation::current()) + parameter(g, q)));
}

}  // namespace

TEST_CASE("check_gradients tells right from wrong") {
  CHECK(report_of(kRight).ok(1e-7));
  CHECK_FALSE(report_of(kWrong).ok(0.5));
  CHECK_FALSE(report_of(kNearlyRight).ok());
  CHECK(report_of(kNearlyRight).ok(1e-3));
}

TEST_CASE("check_gradients names the worst element") {
  const GradientReport r = report_of(kWrong);
  CHECK(r.parameters == 2);
  CHECK(r.elements == 6);
  CHECK(r.worst_parameter == "/cubed");
  CHECK(r.max_error == Approx(2.0 / 3));
  CHECK(r.worst_measured == Approx(3 * r.worst_backward));
  std::ostringstream out;
  out << r;
  CHECK(out.str().find("6 elements of 2 parameters, largest error 0.66") == 0);
  CHECK(out.str().find("\"/cubed\"") != std::string::npos);
}

TEST_CASE("check_gradients runs a whole model and changes nothing") {
  ParameterCollection model;
  LookupParameter words = model.add_lookup_parameters(20, {4}, "words");
  Parameter W = model.add_parameters({6, 4}), V = model.add_parameters({6, 6});
  Parameter b = model.add_parameters({6});
  Parameter frozen = model.add_parameters({6});
  frozen.set_updated(false);
  const std::vector<float> before = as_vector(W.values());
  ComputationGraph g;
  Expression h = zeros(g, {6}), loss = input(g, 0);
  for (unsigned t : {3u, 7u, 3u, 19u}) {
    const Expression x = dropout(lookup(g, words, t), 0.25f);
    h = tanh(affine_transform({parameter(g, b), parameter(g, W), x, parameter(g, V), h}) +
             parameter(g, frozen));
    loss = loss + pickneglogsoftmax(h, t % 6);
  }
  GradientCheckOptions options;
  options.max_elements = 0;
  const GradientReport all = check_gradients(loss, options);
  INFO(all);
  CHECK(all.ok(1e-6));
  CHECK(all.parameters == 4);
  CHECK(all.elements == 3 * 4 + 24 + 36 + 6);  // rows 3, 7 and 19
  CHECK(as_vector(W.values()) == before);
  CHECK(model.gradient_l2_norm() == 0);

  options.max_elements = 5;
  const GradientReport some = check_gradients(loss, options);
  CHECK(some.elements == 4 * 5);
  CHECK(some.ok());
  const GradientReport same = check_gradients(loss, options);
  CHECK(same.worst_parameter == some.worst_parameter);
  CHECK(same.worst_element == some.worst_element);
  CHECK(same.max_error == some.max_error);
}

TEST_CASE("check_gradients covers a table used as a whole and batches of rows") {
  ParameterCollection model;
  LookupParameter words = model.add_lookup_parameters(4, {2});
  ComputationGraph g;
  const Expression rows = lookup(g, words, std::vector<unsigned>{1, 1, 2});
  const Expression loss = sum_batches(squared_norm(rows)) + sum_elems(cube(parameter(g, words)));
  const GradientReport r = check_gradients(loss);
  INFO(r);
  CHECK(r.elements == 8);
  CHECK(r.ok(1e-7));
}

TEST_CASE("check_gradients near kinks and at zero") {
  ParameterCollection model;
  Parameter p = model.add_parameters({4});
  p.set_value({1e-5f, -3e-6f, 0.5f, -1});
  ComputationGraph g;
  const Expression x = parameter(g, p);
  CHECK(check_gradients(sum_elems(rectify(x)) + sum_elems(abs(x))).ok());
  CHECK(check_gradients(sum_elems(x * 0.0f)).ok());
  CHECK(check_gradients(sum_elems(x * 1e-6f)).ok(1e-4));
  CHECK(check_gradients(sum_elems(x * 1e6f)).ok());
}

TEST_CASE("check_gradients shows what backward leaves out on purpose") {
  ParameterCollection model;
  Parameter p = model.add_parameters({2}, ParameterInitConst(1));
  ComputationGraph g;
  const Expression loss = dot_product(parameter(g, p), const_parameter(g, p));
  CHECK(check_gradients(loss).max_error == Approx(0.5));
}

TEST_CASE("check_gradients without anything to check") {
  ComputationGraph g;
  const GradientReport r = check_gradients(input(g, 2));
  CHECK(r.elements == 0);
  CHECK(r.ok());
  CHECK(r.loss == 2);
}

TEST_CASE("check_gradients finds a NaN") {
  ParameterCollection model;
  Parameter p = model.add_parameters({2}, ParameterInitConst(-1));
  ComputationGraph g;
  CHECK_FALSE(check_gradients(sum_elems(log(parameter(g, p)))).ok(1e30));
}

TEST_CASE("check_gradients refuses what is no loss") {
  ComputationGraph g;
  const Expression x = constant(g, {2}, 1);
  CHECK_THROWS_AS(check_gradients(x), ShapeError);
  CHECK_THROWS_AS(check_gradients(Expression()), StaleExpressionError);
}

TEST_CASE("check_grad: DyNet's form") {
  ParameterCollection model, other;
  Parameter p = model.add_parameters({3}), q = other.add_parameters({3});
  ComputationGraph g;
  Expression good = squared_norm(parameter(g, p));
  Expression bad =
      sum_elems(add_node(kWrong, parameter(g, q), {}, SourceLocation::current())) + good;
  CHECK(check_grad(model, good));
  CHECK(check_grad(model, bad, 0));  // the mistake is in the other collection
  CHECK_FALSE(check_grad(other, bad, 2));
}

}  // namespace dynet::grad_check_test
