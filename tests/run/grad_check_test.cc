#include "dynet-like/run/grad_check.h"

#include "tests/support/prelude.h"

namespace dynet::grad_check_test {
namespace {

/// Factors of the gradient of x^3: right, the factor 3 forgotten, one part in ten thousand too
/// much.
constexpr float kRight = 1, kWrong = 1 / 3.0f, kNearlyRight = 1.0001f;

GradientReport report_of(float factor) {
  ParameterCollection model;
  Parameter p = model.add_parameters({3}, "cubed"), q = model.add_parameters({3}, "added");
  p.set_value({1, 2, 3});
  ComputationGraph g;
  return check_gradients(
      sum_elems(cube(scale_gradient(parameter(g, p), factor)) + parameter(g, q)));
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
  Expression bad = sum_elems(cube(scale_gradient(parameter(g, q), kWrong))) + good;
  CHECK(check_grad(model, good));
  CHECK(check_grad(model, bad, 0));  // the mistake is in the other collection
  CHECK_FALSE(check_grad(other, bad, 2));
}

TEST_CASE("check_gradients looks at every row that is used, and at no other") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(9, {4});
  ComputationGraph g;
  const Expression loss =
      squared_norm(lookup(g, table, 7)) +
      sum_batches(squared_norm(lookup(g, table, std::vector<unsigned>{2, 5, 2})));
  GradientCheckOptions options;
  options.max_elements = 0;
  const GradientReport report = check_gradients(loss, options);
  CHECK(report.parameters == 1);
  CHECK(report.elements == 3 * 4);
  CHECK(report.ok());
}

TEST_CASE("check_gradients tells in which row the worst element is") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(6, {5});
  for (const unsigned wrong : {0u, 1u, 4u, 5u}) {
    ComputationGraph g;
    std::vector<Expression> parts;
    for (const unsigned row : {0u, 1u, 4u, 5u}) {
      const Expression x = lookup(g, table, row);
      parts.push_back(sum_elems(row == wrong ? nobackprop(x) : x));
    }
    const GradientReport report = check_gradients(sum(parts));
    CHECK_FALSE(report.ok());
    CHECK(report.worst_element / 5 == wrong);
    CHECK(report.worst_backward == 0);
    CHECK(report.worst_measured == Approx(1));
  }
}

TEST_CASE("check_gradients finds a NaN behind a parameter that is right") {
  ParameterCollection pc;
  auto right = pc.add_parameters({2}, ParameterInitConst(1.0f)),
       wrong = pc.add_parameters({1}, ParameterInitConst(0.0f)),
       last = pc.add_parameters({2}, ParameterInitConst(1.0f));
  ComputationGraph g;
  const Expression nothing = input(g, 0.0f);
  const Expression loss = squared_norm(parameter(g, right)) +
                          cmult(sqrt(parameter(g, wrong)), nothing) +
                          squared_norm(parameter(g, last));
  const GradientReport report = check_gradients(loss);
  CHECK(report.loss == Approx(4));
  CHECK(report.parameters == 3);
  CHECK(report.max_error == std::numeric_limits<double>::infinity());
  CHECK(report.worst_parameter == wrong.get_fullname());
  CHECK_FALSE(report.ok());
}

}  // namespace dynet::grad_check_test
