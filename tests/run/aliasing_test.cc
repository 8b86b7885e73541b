#include "tests/support/prelude.h"

namespace aliasing_test {

using namespace dynet;

TEST_CASE("the value of a parameter node is the parameter's memory") {
  ParameterCollection pc;
  auto p = pc.add_parameters({30, 30});
  auto e = pc.add_lookup_parameters(10, {30});
  const unsigned index = 4;
  const std::vector<unsigned> one{7};
  for (const bool batched : {false, true}) {
    ComputationGraph g(batched);
    CHECK(parameter(g, p).value().v == p.values().v);
    CHECK(const_parameter(g, p).value().v == p.values().v);
    CHECK(lookup(g, e, 3).value().v == e.row(3).v);
    CHECK(const_lookup(g, e, 3).value().v == e.row(3).v);
    CHECK(lookup(g, e, &index).value().v == e.row(4).v);
    CHECK(lookup(g, e, one).value().v == e.row(7).v);
    CHECK(parameter(g, e).value().v == e.row(0).v);
    CHECK(parameter(g, e).dim() == Dim({30, 10}));
    const Expression several = lookup(g, e, std::vector<unsigned>{3, 4});
    CHECK(several.value().v != e.row(3).v);
  }
}

TEST_CASE("a graph reads parameters when it runs") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p), y = x * 2.0f;
  p.set_value({5, 6});
  CHECK(as_vector(y.value()) == std::vector<float>{10, 12});
  p.set_value({7, 8});
  CHECK(as_vector(x.value()) == std::vector<float>{7, 8});
  CHECK(as_vector(y.value()) == std::vector<float>{10, 12});
  CHECK(as_vector(g.forward(y)) == std::vector<float>{14, 16});
}

TEST_CASE("the gradient of a parameter node is the memory that the trainer reads") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p);
  g.backward(sum_elems(square(x)));
  CHECK(x.gradient().v == p.gradients().v);
}

TEST_CASE("views of a node copy no value and share no gradient") {
  ComputationGraph g;
  const Expression x = input(g, {2, 2}, {1, 2, 3, 4});
  const Expression y = reshape(x, {4}), z = nobackprop(y);
  CHECK(y.value().v == x.value().v);
  CHECK(z.value().v == x.value().v);
  g.backward(sum_elems(cmult(y, z)) + sum_elems(x), true);
  CHECK(as_vector(y.gradient()) == std::vector<float>{1, 2, 3, 4});
  CHECK(as_vector(x.gradient()) == std::vector<float>{2, 3, 4, 5});
}

}  // namespace aliasing_test
