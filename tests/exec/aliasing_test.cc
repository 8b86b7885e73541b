#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

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

TEST_CASE("nodes of in-place batches can be read, used and differentiated afterwards") {
  ParameterCollection pc;
  auto W = pc.add_parameters({16, 16});
  struct Values {
    std::vector<float> x, z, of_x, of_w;
    std::size_t bytes;
  };
  const auto run = [&](bool batching, bool twice) {
    ComputationGraph g(batching);
    const Expression w = parameter(g, W);
    std::vector<Expression> xs, ys;
    for (unsigned k = 0; k < 10; ++k) {
      xs.push_back(w * input(g, {16}, std::vector<float>(16, 0.1f * static_cast<float>(k))));
      ys.push_back(tanh(xs[k]));
    }
    if (twice) ys.push_back(tanh(xs[3]));
    Expression all = sum(ys);
    all.value();
    const std::size_t bytes = g.statistics().value_bytes;
    const Expression late = all + logistic(xs[4]) + xs[5];  // the memory of x is overwritten by now
    Values v{{}, as_vector(late.value()), {}, {}, bytes};
    v.x = as_vector(xs[7].value());
    pc.reset_gradient();
    g.backward(sum_elems(square(late)));
    v.of_w = as_vector(W.gradients());
    v.of_x = as_vector(xs[4].gradient());
    return v;
  };
  for (const bool twice : {false, true}) {
    const Values in_place = run(true, twice), apart = run(false, twice);
    CHECK(in_place.x == apart.x);
    CHECK(in_place.z == apart.z);
    for (std::size_t k = 0; k < 16; ++k)
      CHECK(in_place.of_x[k] == Approx(apart.of_x[k]).epsilon(1e-5));
    for (std::size_t k = 0; k < 256; ++k)
      CHECK(in_place.of_w[k] == Approx(apart.of_w[k]).epsilon(1e-4));
    CHECK((in_place.bytes < apart.bytes) == !twice);
  }
}

}  // namespace aliasing_test
