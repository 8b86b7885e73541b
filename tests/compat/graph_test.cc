// Nodes made as DyNet's programs make them beside the functions of expr.h.

#include <cmath>
#include <vector>

#include "dynet/dict.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/nodes.h"
#include "tests/support/catch.h"

namespace dynet {
class Model;  // as in the headers of some programs
}

namespace graph_test {

using namespace dynet;
using Floats = std::vector<float>;

namespace {

Floats value(ComputationGraph& g, VariableIndex i) { return as_vector(g.get_value(i)); }

}  // namespace

TEST_CASE("members of the graph make inputs, parameters and lookups") {
  Model m;
  Parameter w = m.add_parameters({2}, ParameterInitConst(3));
  LookupParameter e = m.add_lookup_parameters(3, {2}, ParameterInitConst(4));
  e.initialize(1, {5, 6});
  ComputationGraph g;
  const float x = 7;
  const Floats data{1, 2};
  const unsigned row = 1;
  const std::vector<unsigned> rows{1, 2};
  CHECK(value(g, g.add_input(2.5f)) == Floats{2.5f});
  CHECK(value(g, g.add_input(&x)) == Floats{7});
  CHECK(value(g, g.add_input({2}, data)) == Floats{1, 2});
  CHECK(value(g, g.add_input({2}, &data)) == Floats{1, 2});
  CHECK(value(g, g.add_input({3}, {1}, Floats{8})) == Floats{0, 8, 0});
  CHECK(value(g, g.add_parameters(w)) == Floats{3, 3});
  CHECK(value(g, g.add_const_parameters(w)) == Floats{3, 3});
  CHECK(value(g, g.add_parameters(e)).size() == 6);
  CHECK(value(g, g.add_const_parameters(e)).size() == 6);
  CHECK(value(g, g.add_lookup(e, 1u)) == Floats{5, 6});
  CHECK(value(g, g.add_lookup(e, &row)) == Floats{5, 6});
  CHECK(value(g, g.add_lookup(e, rows)) == Floats{5, 6, 4, 4});
  CHECK(value(g, g.add_lookup(e, &rows)) == Floats{5, 6, 4, 4});
  CHECK(value(g, g.add_const_lookup(e, 1u)) == Floats{5, 6});
  CHECK(value(g, g.add_const_lookup(e, &row)) == Floats{5, 6});
  CHECK(value(g, g.add_const_lookup(e, rows)) == Floats{5, 6, 4, 4});
  const VariableIndex last = g.add_const_lookup(e, &rows);
  CHECK(value(g, last) == Floats{5, 6, 4, 4});
  CHECK_FALSE(g.nodes[last]->needs_gradient());
}

TEST_CASE("classes of nodes stand for operations") {
  ComputationGraph g;
  const Expression x = input(g, {2, 2}, {1, -2, 0.5f, 3});
  const Expression y = input(g, {2, 2}, {2, 1, 4, -1});
  const auto same = [&](VariableIndex i, const Expression& e) {
    return value(g, i) == as_vector(e.value());
  };
  CHECK(same(g.add_function<Tanh>({x.i}), tanh(x)));
  CHECK(same(g.add_function<Rectify>({x.i}), rectify(x)));
  CHECK(same(g.add_function<Identity>({x.i}), x));
  CHECK(same(g.add_function<Negate>({x.i}), -x));
  CHECK(same(g.add_function<Softmax>({x.i}), softmax(x)));
  CHECK(same(g.add_function<Softmax>({x.i}, 1u), softmax(x, 1)));
  CHECK(same(g.add_function<LogSoftmax>({x.i}), log_softmax(x)));
  CHECK(same(g.add_function<CwiseSum>({x.i, y.i}), x + y));
  CHECK(same(g.add_function<MatrixMultiply>({x.i, y.i}), x * y));
  CHECK(same(g.add_function<ConstantPlusX>({x.i}, 2.0f), x + 2.0f));
  CHECK(same(g.add_function<ConstantMinusX>({x.i}, 2.0f), 2.0f - x));
  CHECK(same(g.add_function<ConstScalarMultiply>({x.i}, 2.0f), x * 2.0f));
  CHECK(same(g.add_function<PickElement>({x.i}, 1u, 1u), pick(x, 1u, 1)));
  CHECK(same(g.add_function<PickRange>({x.i}, 0u, 1u), pick_range(x, 0, 1)));
  CHECK(same(g.add_function<Reshape>({x.i}, Dim({4})), reshape(x, {4})));
  CHECK(same(g.add_function<ExponentialLinearUnit>({x.i}, 2.0f, 0.5f), elu(x, 0.5f) * 2.0f));
  CHECK(same(g.add_function<HuberDistance>({x.i, y.i}, 1.0f), huber_distance(x, y, 1)));
  const std::vector<VariableIndex> list{x.i, y.i};
  CHECK(same(g.add_function<Concatenate>(list, 1u), concatenate({x, y}, 1)));
  CHECK(same(g.add_function<Sum>(list), sum({x, y})));
  CHECK(as_scalar(g.get_value(g.add_function<Constant>({}, Dim({1}), 3.0f))) == 3);
}

TEST_CASE("binary_log_loss takes the logarithm of DYNET_DEVICE_MIN at least") {
  ComputationGraph g;
  const Expression x = input(g, 0.0f), y = input(g, 1.0f);
  CHECK(as_scalar(binary_log_loss(x, y).value()) == Approx(-std::log(DYNET_DEVICE_MIN)));
}

TEST_CASE("graphs have numbers") {
  const int before = get_number_of_active_graphs();
  ComputationGraph one;
  CHECK(get_current_graph_id() == one.get_id());
  ComputationGraph two;
  CHECK(two.get_id() == one.get_id() + 1);
  CHECK(get_current_graph_id() == two.get_id());
  CHECK(get_number_of_active_graphs() == before + 2);
}

TEST_CASE("a list of indices from two iterators") {
  ComputationGraph g;
  const std::vector<unsigned> v{1, 0, 2};
  const std::vector<int> n{2, 1, 0};
  const Expression x = input(g, Dim({3}, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(as_vector(pick(x, {v.begin(), v.end()}).value()) == Floats{2, 4, 9});
  CHECK(as_vector(pick(x, {n.begin(), n.end()}).value()) == Floats{3, 5, 7});
  CHECK(as_vector(pick(x, {1, 0, 2}).value()) == Floats{2, 4, 9});
  CHECK_THROWS_AS(pick(x, {v.begin(), v.begin() + 2}), std::invalid_argument);
}

TEST_CASE("the gradient of the root is one, whether or not a parameter lies below it") {
  ComputationGraph g;
  const Expression x = input(g, 2.0f);
  const Expression y = x * 3.0f;
  g.backward(y);
  CHECK(as_scalar(y.gradient()) == 1);
  CHECK(as_scalar(x.gradient()) == 0);
  g.backward(x);
  CHECK(as_scalar(x.gradient()) == 1);
  ParameterCollection m;
  Parameter w = m.add_parameters({1}, ParameterInitConst(2));
  const Expression z = square(parameter(g, w));
  g.backward(z);
  CHECK(as_scalar(z.gradient()) == 1);
  CHECK(as_scalar(w.gradients()) == 4);
}

TEST_CASE("a dictionary's members are there for classes derived from it") {
  struct Frozen : Dict {
    using Dict::Dict;
    int lookup(const std::string& word) const {
      const auto at = d_.find(word);
      return at != d_.end() ? at->second : map_unk ? unk_id : -1;
    }
    void thaw() { frozen = false; }
  } d;
  CHECK(d.convert("a") == 0);
  CHECK(d.lookup("b") == -1);
  d.freeze();
  d.set_unk("<unk>");
  CHECK(d.lookup("b") == 1);
  d.thaw();
  CHECK(d.convert("b") == 2);
  const unsigned n = d.size();
  CHECK(n == 3);
}

}  // namespace graph_test
