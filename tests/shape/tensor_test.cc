#include "dynet-like/shape/tensor.h"

#include <limits>
#include <sstream>
#include <vector>

#include "dynet-like/base/errors.h"
#include "tests/support/catch.h"

namespace tensor_test {

using namespace dynet;

namespace {

std::string printed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

}  // namespace

TEST_CASE("a tensor is a view") {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  Tensor t{Dim({2, 3}), memory.data()};
  CHECK(as_vector(t) == memory);
  memory[4] = 9;
  CHECK(as_vector(t)[4] == 9);
  CHECK(as_scale_vector(t, 2) == std::vector<float>{2, 4, 6, 8, 18, 12});
  CHECK(memory[0] == 1);
}

TEST_CASE("as_scalar wants exactly one value") {
  float x[2] = {7, 8};
  CHECK(as_scalar({Dim({1}), x}) == 7);
  CHECK(as_scalar({Dim(), x}) == 7);
  CHECK(as_scalar({Dim({1, 1}), x}) == 7);
  CHECK_THROWS_AS(as_scalar({Dim({2}), x}), ArgumentError);
  CHECK_THROWS_AS(as_scalar({Dim({1}, 2), x}), ArgumentError);
  CHECK_THROWS_WITH(as_scalar({Dim({2}), x}), "as_scalar: needs exactly one value, got {2}");
}

TEST_CASE("a tensor with a NaN or an infinity is not valid") {
  std::vector<float> memory{1, 2, 3, 4};
  const Tensor t{Dim({2}, 2), memory.data()};
  CHECK(t.is_valid());
  memory[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(t.is_valid());
  memory[3] = -std::numeric_limits<float>::infinity();
  CHECK_FALSE(t.is_valid());
  memory[3] = std::numeric_limits<float>::denorm_min();
  CHECK(t.is_valid());
  CHECK(Tensor{Dim({0}), nullptr}.is_valid());
}

TEST_CASE("a tensor prints as rows, batch elements apart") {
  std::vector<float> memory{1, 2, 3, 4, 5.5f, 6};
  CHECK(printed({Dim({2, 3}), memory.data()}) == "1 3 5.5\n2 4 6\n");
  CHECK(printed({Dim({3}, 2), memory.data()}) == "1\n2\n3\n\n4\n5.5\n6\n");
  CHECK(printed({Dim({1}), memory.data()}) == "1\n");
  CHECK(printed({Dim({0}), nullptr}).empty());
  CHECK(as_vector({Dim({0}), nullptr}).empty());
}

TEST_CASE("batch elements of a tensor are views, and the pointer of one serves any batch") {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  for (const unsigned batch : {1u, 2u, 3u}) {
    const Tensor t{Dim({2}, batch), memory.data()};
    const std::vector<Tensor> all = t.batch_elems();
    REQUIRE(all.size() == batch);
    for (unsigned b = 0; b < batch; ++b) {
      CHECK(t.batch_elem(b).v == memory.data() + 2 * b);
      CHECK(t.batch_elem(b).d == Dim({2}));
      CHECK(t.batch_ptr(b) == memory.data() + 2 * b);
      CHECK(as_vector(all[b]) == std::vector<float>{memory[2 * b], memory[2 * b + 1]});
    }
    for (const unsigned b : {batch, batch + 2, ~0u}) {
      CHECK_THROWS_AS(t.batch_elem(b), IndexError);
      // A batch of one stands for as many as are asked for.
      if (batch == 1)
        CHECK(t.batch_ptr(b) == memory.data());
      else
        CHECK_THROWS_AS(t.batch_ptr(b), IndexError);
    }
  }
}

}  // namespace tensor_test
