#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace forward_test {

using namespace dynet;

namespace {

std::vector<float> values(const Expression& e) { return as_vector(e.value()); }

}  // namespace

TEST_CASE("values are computed on request only") {
  ComputationGraph g;
  float number = 1;
  const Expression x = input(g, &number), y = x * 3.0f;
  number = 5;
  CHECK(as_scalar(y.value()) == 15);
}

TEST_CASE("forward reads pointers again, incremental_forward does not") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(4, {2});
  for (unsigned i = 0; i < 4; ++i)
    table.initialize(i, {static_cast<float>(i), static_cast<float>(10 * i)});
  float number = 1;
  std::vector<float> vector{1, 2};
  unsigned row = 1, class_index = 0;
  std::vector<unsigned> rows{0, 1}, picks{0, 1};
  ComputationGraph g;
  const Expression s = input(g, &number);
  const Expression v = input(g, {2}, &vector);
  const Expression one = lookup(g, table, &row);
  const Expression several = lookup(g, table, &rows);
  const Expression fixed = const_lookup(g, table, &row);
  const Expression picked = pick(v, &class_index);
  const Expression each = pick(several, &picks);
  const Expression loss = pickneglogsoftmax(v * 0.0f, &class_index);
  const Expression all =
      sum({s, picked, sum_elems(one), sum_elems(fixed), sum_batches(each), loss * 0.0f});
  const auto expected = [&] {
    return number + vector[class_index] + 2 * 11.0f * static_cast<float>(row) +
           static_cast<float>(rows[0] * (picks[0] ? 10 : 1) + rows[1] * (picks[1] ? 10 : 1));
  };
  const float first = expected();
  CHECK(as_scalar(g.forward(all)) == first);
  number = 7;
  vector = {8, 9};
  row = 3;
  rows = {3, 2};
  picks = {1, 0};
  class_index = 1;
  CHECK(expected() != first);
  CHECK(as_scalar(g.incremental_forward(all)) == first);
  CHECK(as_scalar(all.value()) == first);
  CHECK(as_scalar(g.get_value(all)) == first);
  CHECK(as_scalar(g.forward(all)) == expected());
  CHECK(values(several) == std::vector<float>{3, 30, 2, 20});
  number = 0;
  g.invalidate();
  CHECK(as_scalar(all.value()) == expected());
}

TEST_CASE("a vector behind a pointer may move but not change its length") {
  std::vector<float> data{1, 2, 3};
  std::vector<unsigned> indices{0, 1};
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(4, {2}, ParameterInitConst(1.0f));
  ComputationGraph g;
  const Expression x = input(g, {3}, &data), y = lookup(g, table, &indices);
  g.forward(y);
  data = std::vector<float>{4, 5, 6};
  data.reserve(1000);
  g.forward(y);
  CHECK(values(x) == std::vector<float>{4, 5, 6});
  indices.push_back(2);
  CHECK_THROWS_AS(g.forward(y), IndexError);
  indices.pop_back();
  data.pop_back();
  CHECK_THROWS_AS(g.forward(y), Error);
  data.push_back(9);
  CHECK(as_vector(g.forward(x)) == std::vector<float>{4, 5, 9});
}

TEST_CASE("values may be requested in any order and at any time") {
  for (const bool batched : {false, true}) {
    ComputationGraph g(batched);
    std::vector<Expression> x{input(g, {2}, {1, 2})};
    for (int k = 1; k < 30; ++k) {
      x.push_back(x.back() + 1.0f);
      if (k % 7 == 0) CHECK(values(x[k / 2])[0] == 1.0f + static_cast<float>(k / 2));
    }
    for (const int k : {20, 5, 29, 0, 13}) CHECK(values(x[k])[1] == 2.0f + static_cast<float>(k));
    g.backward(sum_elems(x[10]), true);
    CHECK(values(x[29])[0] == 30);
    const Expression later = square(x[29]);
    CHECK(values(later)[0] == 900);
    CHECK(as_vector(x[3].gradient()) == std::vector<float>{1, 1});
    g.forward(x[2]);
    CHECK(values(later)[0] == 900);
  }
}

TEST_CASE("values stay at their addresses while the graph grows and runs") {
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
      try {
        g.forward(end);
        FAIL("nothing was thrown");
      } catch (const IndexError& e) {
        CHECK(e.where().line == line + k);
        CHECK(std::string(e.where().file) == __FILE__);
        CHECK(std::string(e.what()).find(" 4 is outside ") != std::string::npos);
      }
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

TEST_CASE("operations on tensors without elements have empty values and gradients") {
  ComputationGraph g;
  const Expression x = input(g, {0}, std::vector<float>{});
  const Expression y = tanh(x) + 1.0f, z = sum_elems(y);
  CHECK(values(y).empty());
  CHECK(as_scalar(z.value()) == 0);
  g.backward(z, true);
  CHECK(as_vector(x.gradient()).empty());
}

}  // namespace forward_test
