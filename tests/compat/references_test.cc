// Lifetimes of the references that DyNet's functions return.

#include <array>
#include <deque>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "dynet/cfsm-builder.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/gru.h"
#include "dynet/treelstm.h"
#include "tests/support/catch.h"

namespace references_test {

using namespace dynet;
using Floats = std::vector<float>;

TEST_CASE("a reference to a shape lives until the graph is cleared") {
  ComputationGraph g;
  const Expression x = input(g, {2, 3}, Floats(6, 1));
  auto& dim = x.dim();
  auto& same = g.get_dimension(x.i);
  g.checkpoint();
  for (unsigned n = 1; n < 10000; ++n) zeros(g, {n});  // nodes move, and shapes are many
  CHECK(dim == Dim({2, 3}));
  CHECK(&dim == &x.dim());
  CHECK(&same == &dim);
  g.revert();
  CHECK(dim == Dim({2, 3}));
  CHECK(&dim == &x.dim());
}

TEST_CASE("a reference to a value or a gradient lives until the graph is cleared") {
  ParameterCollection m;
  const Parameter w = m.add_parameters({2}, ParameterInitConst(2));
  ComputationGraph g;
  float factor = 3;
  const Expression x = parameter(g, w) * input(g, &factor), loss = sum_elems(x);
  auto& value = x.value();
  auto& number = g.forward(loss);
  const Tensor* const pointer = &g.incremental_forward(loss);
  g.backward(loss, true);
  auto& gradient = x.gradient();
  for (unsigned n = 1; n < 3000; ++n) (x * float(n)).value();
  CHECK(as_vector(value) == Floats{6, 6});
  CHECK(as_scalar(number) == 12);
  CHECK(pointer == &number);
  CHECK(as_vector(gradient) == Floats{1, 1});
  CHECK(&gradient == &g.get_gradient(x));
  const Tensor kept = value;
  factor = 5;
  g.forward(loss);
  CHECK(as_scalar(number) == 20);  // as it is now
  CHECK(&x.value() == &value);
  CHECK(as_vector(value) == Floats{10, 10});
  CHECK(kept.d == Dim({2}));
}

TEST_CASE("a gradient before backward is a std::runtime_error, as in DyNet") {
  ComputationGraph g;
  const Expression x = input(g, {2}, {1, 2});
  CHECK_THROWS_AS(x.gradient(), std::runtime_error);
  CHECK_THROWS_AS(g.get_gradient(x), std::runtime_error);
}

TEST_CASE("builders give the very collection that they keep, and lists may be named by auto&") {
  ParameterCollection m;
  GRUBuilder gru(1, 2, 3, m);
  ParameterCollection& of_gru = gru.get_parameter_collection();
  CHECK(&of_gru == &gru.get_parameter_collection());
  auto& parameters = of_gru.parameters_list();
  CHECK(parameters.size() == 9);
  for (auto& each : parameters) each.set_updated(false);
  CHECK(of_gru.updated_parameter_count() == 0);
  NaryTreeLSTMBuilder tree(2, 1, 2, 3, m);
  ParameterCollection& of_tree = tree.get_parameter_collection();
  CHECK(of_tree.size() > 0);
  StandardSoftmaxBuilder softmax(3, 4, m);
  ParameterCollection& of_softmax = softmax.get_parameter_collection();
  CHECK(of_softmax.size() == 2);
  auto& tables = m.lookup_parameters_list();
  CHECK(tables.empty());
  auto& devices = get_device_manager()->get_devices();
  CHECK(devices.at(0) == get_device_manager()->get(0));
}

TEST_CASE("operands come in any container") {
  ComputationGraph g;
  const std::deque<Expression> xs{input(g, {2}, {1, 4}), input(g, {2}, {3, 2})};
  const auto is = [](const Expression& e, const Floats& v) { return as_vector(e.value()) == v; };
  CHECK(is(sum(xs), {4, 6}));
  CHECK(is(average(xs), {2, 3}));
  CHECK(is(max(xs), {3, 4}));
  CHECK(is(min(xs), {1, 2}));
  CHECK(is(concatenate(xs), {1, 4, 3, 2}));
  CHECK(concatenate(xs, 1).dim() == Dim({2, 2}));
  CHECK(concatenate_cols(xs).dim() == Dim({2, 2}));
  CHECK(concatenate_to_batch(xs).dim() == Dim({2}, 2));
  CHECK(logsumexp(xs).dim() == Dim({2}));
  const std::array<Expression, 3> terms{xs[0], input(g, {2, 2}, {1, 0, 0, 1}), xs[1]};
  CHECK(is(affine_transform(terms), {4, 6}));
}

}  // namespace references_test
