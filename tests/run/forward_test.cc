#include "tests/support/prelude.h"

namespace forward_test {

using namespace dynet;

TEST_CASE("values are computed on request only") {
  ComputationGraph g;
  float number = 1;
  const Expression x = input(g, &number), y = x * 3.0f;
  number = 5;
  CHECK(as_scalar(y.value()) == 15);
}

TEST_CASE("values stay where they are while the graph grows and runs on") {
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, 2, 3});
  const Tensor t = tanh(x).value();
  const std::vector<float> before = as_vector(t);
  Expression y = x;
  for (int k = 0; k < 5000; ++k) {
    y = tanh(y + 0.1f);
    if (k % 100 == 0) y.value();
  }
  g.backward(sum_elems(y), true);
  CHECK(as_vector(t) == before);
}

TEST_CASE("an index out of range behind a pointer is an error at the node's line") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(4, {2}, ParameterInitConst(1.0f));
  for (const bool batched : {false, true}) {
    unsigned index[3] = {1, 1, 1};
    std::vector<unsigned> indices{0, 1};
    ComputationGraph g(batched);
    const Expression x = input(g, {3}, {1, 2, 3}), fine = x + 1.0f;
    const unsigned line = __LINE__ + 1;
    const Expression a = lookup(g, table, &index[0]);
    const Expression b = lookup(g, table, &indices);
    const Expression c = pick(x, &index[1]);
    const Expression d = pickneglogsoftmax(x, &index[2]);
    const Expression end = sum({sum_elems(a), sum_batches(sum_elems(b)), c, d, sum_elems(fine)});
    const float good = as_scalar(g.forward(end));
    unsigned* const places[] = {&index[0], &indices[1], &index[1], &index[2]};
    for (unsigned k = 0; k < 4; ++k) {
      *places[k] = 4;
      const auto error = thrown<IndexError>([&] { g.forward(end); });
      CHECK(error.where().line == line + k);
      CHECK(std::string(error.where().file) == __FILE__);
      CHECK_THAT(error.what(), Catch::Contains(" 4 is outside "));
      CHECK_THROWS_AS(end.value(), IndexError);
      CHECK_THROWS_AS(g.backward(end), IndexError);
      CHECK_THROWS_AS(end.gradient(), GradientError);
      CHECK(values(x) == std::vector<float>{1, 2, 3});
      CHECK(values(fine) == std::vector<float>{2, 3, 4});
      *places[k] = 1;
      CHECK(as_scalar(end.value()) == good);
      pc.reset_gradient();
      g.backward(end);
      CHECK(table.row_gradient(1) == std::vector<float>{2, 2});
    }
  }
}

TEST_CASE("a forward pass that fails repeatedly does not use up memory") {
  ComputationGraph g;
  unsigned index = 1;
  const Expression x = input(g, {1000}, std::vector<float>(1000, 1.0f));
  const Expression bad = pick(x + 1.0f, &index);
  const float* const before = g.forward(bad).v;
  index = 5000;
  g.invalidate();
  for (int k = 0; k < 1000; ++k) REQUIRE_THROWS_AS(bad.value(), IndexError);
  index = 1;
  CHECK(as_scalar(bad.value()) == 2);
  CHECK(bad.value().v == before);
}

}  // namespace forward_test
