// Shape rules at their edges: the last of many operands, one more than allowed, nothing left.

#include "tests/shape/rules.h"

namespace edges_test {

using namespace dynet;
using namespace dynet::test;

TEST_CASE("shape: a sum of products looks at every pair, at the bias and at all batches") {
  const Dim b({3}), w({3, 2}), x({2}), other({3, 4}), y({4});
  CHECK(shape::affine(List{b, w, x, other, y}) == Dim({3}));
  CHECK(shape::affine(List{b, w, x, w, x, other, Dim({4}, 5)}) == Dim({3}, 5));
  CHECK(shape::affine(List{Dim({3}, 5), w, x}) == Dim({3}, 5));
  CHECK_THROWS_AS(shape::affine(List{b, w, x, other, x}), RuleBroken);
  CHECK_THROWS_AS(shape::affine(List{b, w, x, w, x, other, x}), RuleBroken);
  CHECK_THROWS_AS(shape::affine(List{b, w, x, w, Dim({2, 2})}), RuleBroken);
  CHECK_THROWS_AS(shape::affine(List{b, w, x, w}), RuleBroken);
  CHECK_THROWS_AS(shape::affine(List{b, w, Dim({2}, 2), w, Dim({2}, 3)}), RuleBroken);
  const Dim many({2, 4});
  CHECK(shape::affine(List{b, w, many}) == Dim({3, 4}));
  CHECK(shape::affine(List{Dim({3, 4}), w, many}) == Dim({3, 4}));
  for (const unsigned columns : {0u, 2u, 3u, 5u})
    CHECK_THROWS_AS(shape::affine(List{Dim({3, columns}), w, many}), RuleBroken);
}

TEST_CASE("shape: a tree's gates have three parts and one for each child") {
  CHECK(shape::tree_output(Dim({2}), Dim({6})) == Dim({2}));
  CHECK(shape::tree_output(Dim({2}), Dim({10}, 3)) == Dim({2}, 3));
  for (const unsigned n : {0u, 2u, 4u, 5u, 7u})
    CHECK_THROWS_AS(shape::tree_output(Dim({2}), Dim({n})), RuleBroken);
  CHECK(shape::tree_output(Dim({0}), Dim({0})) == Dim({0}));
  CHECK_THROWS_AS(shape::tree_output(Dim({0}), Dim({3})), RuleBroken);
  CHECK(shape::tree_cell(List{Dim({2}), Dim({2}, 4)}, Dim({10})) == Dim({2}, 4));
  CHECK_THROWS_AS(shape::tree_cell(List{Dim({2}), Dim({3})}, Dim({10})), RuleBroken);
  CHECK_THROWS_AS(shape::tree_gates(Dim({9}), 1), RuleBroken);
}

TEST_CASE("shape: more elements than can be counted are refused, empty shapes are not") {
  const unsigned most = 4294967295u;
  CHECK_THROWS_AS(shape::checked(Dim({most, most})), RuleBroken);
  CHECK_THROWS_AS(shape::checked(Dim({most, most, 2})), RuleBroken);
  CHECK_THROWS_AS(shape::checked(Dim({1u << 30, 1u << 30})), RuleBroken);  // 2^60
  CHECK_THROWS_AS(shape::checked(Dim({1u << 28, 1u << 28}, 2)), RuleBroken);
  CHECK(shape::checked(Dim({1u << 28, 1u << 28})).nd == 2);
  CHECK_THROWS_AS(shape::checked(Dim({(1u << 28) + 1, 1u << 28})), RuleBroken);
  CHECK(shape::checked(Dim({most, most, 0})).size() == 0);
  CHECK(shape::checked(Dim({0, most, most})).size() == 0);
  CHECK_THROWS_AS(shape::checked(Dim({most, most, 1, 1})), RuleBroken);
}

TEST_CASE("shape: normalization takes the batch of any of its operands") {
  const Dim x({3}), many({3}, 4);
  CHECK(shape::layer_norm(x, x, x) == x);
  CHECK(shape::layer_norm(many, x, x) == many);
  CHECK(shape::layer_norm(x, many, x) == many);
  CHECK(shape::layer_norm(x, x, many) == many);
  CHECK_THROWS_AS(shape::layer_norm(many, x, Dim({3}, 2)), RuleBroken);
  CHECK_THROWS_AS(shape::layer_norm(x, x, Dim({2})), RuleBroken);
  CHECK(shape::weight_norm(x, Dim({1}, 4)) == many);
  CHECK_THROWS_AS(shape::weight_norm(x, Dim({2})), RuleBroken);
}

TEST_CASE("a shape that loses all of its sizes is one number") {
  Dim d({2, 3}, 4);
  d.delete_dims({0, 1}, false);
  CHECK(d == Dim({1}, 4));
  CHECK(d.nd == 1);
  Dim e({2, 3, 5}, 4);
  e.delete_dims({2, 0}, true);
  CHECK(e == Dim({3}));
  CHECK(e.bd == 1);
  CHECK_THROWS(e.delete_dims({1}, true));
}

TEST_CASE("shape: windows at the edges of what they slide over") {
  CHECK(shape::slide(5, 5, 3, true).out == 1);
  CHECK(shape::slide(6, 5, 1, true).out == 2);
  CHECK(shape::slide(7, 3, 2, true).out == 3);
  CHECK_THROWS_AS(shape::slide(4, 5, 1, true), RuleBroken);
  CHECK_THROWS_AS(shape::slide(4, 0, 1, true), RuleBroken);
  CHECK_THROWS_AS(shape::slide(4, 2, 0, true), RuleBroken);
  CHECK(shape::slide(5, 3, 2, false).out == 3);
  CHECK(shape::slide(5, 3, 2, false).before == 1);
  CHECK(shape::slide(5, 4, 1, false).before == 1);
  CHECK(shape::slide(2, 1, 5, false).before == 0);
  CHECK(shape::slide(0, 3, 1, false).out == 0);
}

}  // namespace edges_test
