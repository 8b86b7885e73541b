#include "tests/shape/rules.h"

namespace rules_test {

using namespace dynet;
using namespace dynet::test;

TEST_CASE("shape: broadcast") {
  using shape::broadcast;
  check_written(broadcast(Dim({2, 3}), Dim({2, 3})), Dim({2, 3}));
  check_written(broadcast(Dim({2, 3}), Dim({2})), Dim({2, 3}));
  check_written(broadcast(Dim({2}), Dim({2, 3})), Dim({2, 3}));
  check_written(broadcast(Dim({2, 1}), Dim({1, 3})), Dim({2, 3}));
  check_written(broadcast(Dim({1}), Dim({4, 5, 6})), Dim({4, 5, 6}));
  check_written(broadcast(Dim({2}, 4), Dim({2, 3})), Dim({2, 3}, 4));
  check_written(broadcast(Dim({2}), Dim({2}, 4)), Dim({2}, 4));
  check_written(broadcast(Dim({3}), Dim({3, 1})), Dim({3, 1}));
  check_written(broadcast(Dim({0}), Dim({1})), Dim({0}));
  check_written(broadcast(Dim({1, 0}), Dim({2, 1})), Dim({2, 0}));
  check_written(broadcast(Dim(), Dim({2})), Dim({2}));
  BROKEN(shape, broadcast(Dim({2}), Dim({3})));
  BROKEN(shape, broadcast(Dim({2, 3}), Dim({3, 2})));
  BROKEN(shape, broadcast(Dim({0}), Dim({2})));
  BROKEN(shape, broadcast(Dim({2}, 2), Dim({2}, 3)));
  BROKEN(argument, broadcast(Dim({4000000000, 1, 4000000000}), Dim({1, 4000000000})));

  check_written(shape::broadcast_all(List{Dim({2, 1}), Dim({1, 3}), Dim({1}, 5)}), Dim({2, 3}, 5));
  check_written(shape::broadcast_all(List{Dim({2})}), Dim({2}));
  BROKEN(argument, shape::broadcast_all(List{}));
  BROKEN(shape, shape::broadcast_all(List{Dim({2}), Dim({1}), Dim({3})}));
}

TEST_CASE("shape: batch sizes") {
  CHECK(shape::common_batch(Dim({2}, 3), Dim({5})) == 3);
  CHECK(shape::common_batch(Dim({2}), Dim({5}, 3)) == 3);
  CHECK(shape::common_batch(Dim({2}, 3), Dim({5}, 3)) == 3);
  CHECK_THROWS_AS(shape::common_batch(Dim({2}, 2), Dim({5}, 3)), RuleBroken);
}

TEST_CASE("shape: checked throws for sizes that are too large") {
  CHECK(shape::checked(Dim({4000000000, 0, 4000000000, 4000000000})).size() == 0);
  CHECK(shape::checked(Dim({4000000000, 4000000000, 4000000000, 0})).size() == 0);
  CHECK(shape::checked(Dim({1 << 28, 1 << 28})).size() == std::size_t{1} << 56);
  BROKEN(argument, shape::checked(Dim({4000000000, 4000000000})));
  BROKEN(argument, shape::checked(Dim({4000000000, 4000000000, 4000000000, 4000000000})));
  BROKEN(argument, shape::checked(Dim({4000000000, 4000000000, 1, 1})));
  BROKEN(argument, shape::checked(Dim({4000000000}, 4000000000)));
  const unsigned most = 4294967295u;
  BROKEN(argument, shape::checked(Dim({most, most})));
  BROKEN(argument, shape::checked(Dim({most, most, 2})));
  CHECK(shape::checked(Dim({0, most, most})).size() == 0);
  BROKEN(argument, shape::checked(Dim({1 << 30, 1 << 30})));
  BROKEN(argument, shape::checked(Dim({1 << 28, 1 << 28}, 2)));
  BROKEN(argument, shape::checked(Dim({(1 << 28) + 1, 1 << 28})));
  Dim d({2});
  d.bd = 0;
  BROKEN(argument, shape::checked(d));
  d.bd = 1;
  d.nd = 9;
  BROKEN(argument, shape::checked(d));
}

TEST_CASE("shape: products") {
  using shape::matmul;
  check_written(matmul(Dim({2, 3}), Dim({3, 4})), Dim({2, 4}));
  check_written(matmul(Dim({2, 3}), Dim({3})), Dim({2}));
  check_written(matmul(Dim({2}), Dim({1, 4})), Dim({2, 4}));
  check_written(matmul(Dim({2}), Dim({1})), Dim({2}));
  check_written(matmul(Dim({2, 3}, 5), Dim({3})), Dim({2}, 5));
  check_written(matmul(Dim({2, 3}), Dim({3, 4}, 5)), Dim({2, 4}, 5));
  check_written(matmul(Dim({2, 0}), Dim({0, 4})), Dim({2, 4}));
  check_written(matmul(Dim({0, 3}), Dim({3})), Dim({0}));
  check_written(matmul(Dim({2, 3, 1}), Dim({3, 4, 1, 1})), Dim({2, 4}));
  BROKEN(shape, matmul(Dim({2, 3}), Dim({2})));
  BROKEN(shape, matmul(Dim({2}), Dim({2})));
  BROKEN(shape, matmul(Dim({2, 3, 2}), Dim({3})));
  BROKEN(shape, matmul(Dim({2, 3}), Dim({3, 1, 2})));
  BROKEN(shape, matmul(Dim({2, 3}, 2), Dim({3}, 4)));
  BROKEN(argument, matmul(Dim({4000000000, 1}), Dim({1, 4000000000})));

  using shape::affine;
  check_written(affine(List{Dim({2}), Dim({2, 3}), Dim({3})}), Dim({2}));
  check_written(affine(List{Dim({2}), Dim({2, 3}), Dim({3, 4})}), Dim({2, 4}));
  check_written(affine(List{Dim({2, 4}), Dim({2, 3}), Dim({3, 4})}), Dim({2, 4}));
  check_written(affine(List{Dim({2}), Dim({2, 3}), Dim({3}), Dim({2, 5}), Dim({5}, 6)}),
                Dim({2}, 6));
  check_written(affine(List{Dim({2}, 6), Dim({2, 3}), Dim({3})}), Dim({2}, 6));
  check_written(affine(List{Dim({2})}), Dim({2}));
  BROKEN(argument, affine(List{}));
  BROKEN(argument, affine(List{Dim({2}), Dim({2, 3})}));
  BROKEN(shape, affine(List{Dim({3}), Dim({2, 3}), Dim({3})}));
  BROKEN(shape, affine(List{Dim({2, 3}), Dim({2, 3}), Dim({3, 2})}));
  BROKEN(shape, affine(List{Dim({2, 2, 2}), Dim({2, 3}), Dim({3})}));
  BROKEN(shape, affine(List{Dim({2}), Dim({2, 3}), Dim({3}), Dim({2, 3}), Dim({3, 2})}));
  BROKEN(shape, affine(List{Dim({2}, 2), Dim({2, 3}), Dim({3}, 3)}));
  for (const unsigned columns : {0u, 2u, 3u, 5u})
    BROKEN(shape, affine(List{Dim({3, columns}), Dim({3, 2}), Dim({2, 4})}));

  // Every pair of a long sum, and all batches, are looked at.
  const Dim b({3}), w({3, 2}), x({2}), other({3, 4}), y({4});
  check_written(affine(List{b, w, x, other, y}), Dim({3}));
  check_written(affine(List{b, w, x, w, x, other, Dim({4}, 5)}), Dim({3}, 5));
  BROKEN(shape, affine(List{b, w, x, other, x}));
  BROKEN(shape, affine(List{b, w, x, w, x, other, x}));
  BROKEN(shape, affine(List{b, w, x, w, Dim({2, 2})}));
  BROKEN(argument, affine(List{b, w, x, w}));
  BROKEN(shape, affine(List{b, w, Dim({2}, 2), w, Dim({2}, 3)}));

  check_written(shape::colwise_add(Dim({2, 3}), Dim({2})), Dim({2, 3}));
  check_written(shape::colwise_add(Dim({2, 3}), Dim({2}, 4)), Dim({2, 3}, 4));
  check_written(shape::colwise_add(Dim({2}), Dim({2, 1})), Dim({2}));
  BROKEN(shape, shape::colwise_add(Dim({2, 3}), Dim({3})));
  BROKEN(shape, shape::colwise_add(Dim({2, 3}), Dim({2, 3})));
  BROKEN(shape, shape::colwise_add(Dim({2, 3, 4}), Dim({2})));
}

TEST_CASE("shape: reductions and losses") {
  check_written(shape::pairwise_scalar(Dim({2, 3}), Dim({2, 3})), Dim({1}));
  check_written(shape::pairwise_scalar(Dim({2}), Dim({2, 1}, 4)), Dim({1}, 4));
  BROKEN(shape, shape::pairwise_scalar(Dim({2, 3}), Dim({3, 2})));
  BROKEN(shape, shape::pairwise_scalar(Dim({2}, 2), Dim({2}, 3)));
  check_written(shape::elements(Dim({2, 3}, 4)), Dim({1}, 4));
  check_written(shape::batches(Dim({2, 3}, 4)), Dim({2, 3}));
  check_written(shape::softmax(Dim({2, 3}, 4), 1), Dim({2, 3}, 4));
  check_written(shape::softmax(Dim({2}), 0), Dim({2}));
  BROKEN(index, shape::softmax(Dim({2}), 2));
  check_written(shape::softmax(Dim({2}), 1), Dim({2}));
  check_written(shape::softmax(Dim({2, 3, 4}), 2), Dim({2, 3, 4}));
  BROKEN(index, shape::softmax(Dim({2, 3, 4}), 3));
  BROKEN(index, shape::softmax(Dim({2, 3, 4}), 7));
  check_written(shape::class_loss(Dim({5}), 1, 4), Dim({1}));
  check_written(shape::class_loss(Dim({5}, 3), 3, 4), Dim({1}, 3));
  BROKEN(index, shape::class_loss(Dim({5}), 1, 5));
  BROKEN(index, shape::class_loss(Dim({0}), 1, 0));
  BROKEN(argument, shape::class_loss(Dim({5}, 3), 1, 0));
  BROKEN(argument, shape::class_loss(Dim({5}), 2, 0));
  BROKEN(shape, shape::class_loss(Dim({5, 2}), 1, 0));
}

TEST_CASE("shape: selection") {
  check_written(shape::pick(Dim({5}), 1, 4, 0), Dim({1}));
  check_written(shape::pick(Dim({2, 3}), 1, 2, 1), Dim({2}));
  check_written(shape::pick(Dim({2, 3, 4}, 6), 6, 2, 1), Dim({2, 4}, 6));
  check_written(shape::pick(Dim({2, 3}, 6), 1, 1, 0), Dim({3}, 6));
  check_written(shape::pick(Dim({2, 3}), 4, 1, 0), Dim({3}, 4));
  check_written(shape::pick(Dim(), 1, 0, 0), Dim({1}));
  BROKEN(index, shape::pick(Dim({5}), 1, 5, 0));
  BROKEN(index, shape::pick(Dim({5}), 1, 0, 1));
  BROKEN(index, shape::pick(Dim({0}), 1, 0, 0));
  BROKEN(index, shape::pick(Dim({5}), 1, 0, 7));
  BROKEN(argument, shape::pick(Dim({5}), 0, 0, 0));
  BROKEN(argument, shape::pick(Dim({5}, 3), 2, 0, 0));

  check_written(shape::pick_range(Dim({5, 2}, 3), 1, 4, 0), Dim({3, 2}, 3));
  check_written(shape::pick_range(Dim({5, 2}), 2, 2, 1), Dim({5, 0}));
  check_written(shape::pick_range(Dim({5}), 0, 5, 0), Dim({5}));
  BROKEN(index, shape::pick_range(Dim({5}), 3, 2, 0));
  BROKEN(index, shape::pick_range(Dim({5}), 3, 6, 0));
  BROKEN(index, shape::pick_range(Dim({5}), 0, 1, 2));

  check_written(shape::pick_batch(Dim({5}, 3), 1, 2), Dim({5}));
  check_written(shape::pick_batch(Dim({5}, 3), 4, 2), Dim({5}, 4));
  BROKEN(index, shape::pick_batch(Dim({5}, 3), 1, 3));
  BROKEN(argument, shape::pick_batch(Dim({5}, 3), 0, 0));
}

TEST_CASE("shape: putting together") {
  using shape::concatenate;
  check_written(concatenate(List{Dim({2}), Dim({3})}, 0), Dim({5}));
  check_written(concatenate(List{Dim({2}), Dim({2})}, 1), Dim({2, 2}));
  check_written(concatenate(List{Dim({2}), Dim({2, 3}, 4), Dim({2, 0})}, 1), Dim({2, 4}, 4));
  check_written(concatenate(List{Dim({2, 3})}, 2), Dim({2, 3, 1}));
  check_written(concatenate(List{Dim({2, 3}), Dim({2, 3, 4})}, 2), Dim({2, 3, 5}));
  BROKEN(argument, concatenate(List{}, 0));
  BROKEN(index, concatenate(List{Dim({2})}, 7));
  BROKEN(shape, concatenate(List{Dim({2}), Dim({2, 3})}, 0));
  BROKEN(shape, concatenate(List{Dim({2}, 2), Dim({2}, 3)}, 0));
  BROKEN(argument, concatenate(List{Dim({4000000000}), Dim({4000000000})}, 0));

  check_written(shape::concatenate_batch(List{Dim({2}, 3), Dim({2}), Dim({2, 1}, 2)}), Dim({2}, 6));
  BROKEN(argument, shape::concatenate_batch(List{}));
  BROKEN(shape, shape::concatenate_batch(List{Dim({2}), Dim({3})}));
  BROKEN(argument, shape::concatenate_batch(List{Dim({2}, 4000000000), Dim({2}, 4000000000)}));
}

TEST_CASE("shape: reshape and transpose") {
  check_written(shape::reshape(Dim({2, 3}), Dim({6})), Dim({6}));
  check_written(shape::reshape(Dim({2, 3}, 4), Dim({6})), Dim({6}, 4));
  check_written(shape::reshape(Dim({2, 3}, 4), Dim({24})), Dim({24}));
  check_written(shape::reshape(Dim({24}), Dim({2, 3}, 4)), Dim({2, 3}, 4));
  check_written(shape::reshape(Dim({2, 3}, 4), Dim({3, 2}, 4)), Dim({3, 2}, 4));
  check_written(shape::reshape(Dim({0, 3}), Dim({5, 0})), Dim({5, 0}));
  BROKEN(shape, shape::reshape(Dim({2, 3}), Dim({7})));
  BROKEN(shape, shape::reshape(Dim({2, 3}, 4), Dim({6}, 3)));
  BROKEN(shape, shape::reshape(Dim({0}), Dim({1})));

  const auto transpose = [](const Dim& d, std::vector<unsigned> order) {
    return shape::transpose(d, order);
  };
  check_written(transpose(Dim({2, 3}, 4), {1, 0}), Dim({3, 2}, 4));
  check_written(transpose(Dim({2}), {1, 0}), Dim({1, 2}));
  check_written(transpose(Dim({2, 3, 4}), {2, 0, 1}), Dim({4, 2, 3}));
  check_written(transpose(Dim({2, 3, 1}), {1, 0}), Dim({3, 2}));
  check_written(transpose(Dim({2}), {0}), Dim({2}));
  BROKEN(argument, transpose(Dim({2, 3, 4}), {1, 0}));
  BROKEN(argument, transpose(Dim({2, 3}), {0, 0}));
  BROKEN(argument, transpose(Dim({2, 3}), {0, 2}));
  BROKEN(argument, transpose(Dim({2, 3}), {0}));
  BROKEN(argument, transpose(Dim({2, 3}), {0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("shape: LSTM") {
  check_written(shape::lstm_gates(Dim({8}, 3)), Dim({8}, 3));
  check_written(shape::lstm_gates(Dim({0})), Dim({0}));
  BROKEN(shape, shape::lstm_gates(Dim({7})));
  BROKEN(shape, shape::lstm_gates(Dim({8, 2})));
  check_written(shape::lstm_cell(Dim({2}), Dim({8}, 3)), Dim({2}, 3));
  check_written(shape::lstm_cell(Dim({2}, 3), Dim({8})), Dim({2}, 3));
  BROKEN(shape, shape::lstm_cell(Dim({3}), Dim({8})));
  BROKEN(shape, shape::lstm_cell(Dim({2, 2}), Dim({8})));
  BROKEN(shape, shape::lstm_cell(Dim({2}, 2), Dim({8}, 3)));
}

TEST_CASE("shape: the sums of a cell have three parts and one for each predecessor") {
  check_written(shape::lstm_cell(List{Dim({6}, 3)}, 0), Dim({2}, 3));
  check_written(shape::lstm_cell(List{Dim({2}), Dim({2}, 4), Dim({10})}, 2), Dim({2}, 4));
  check_written(shape::lstm_cell(List{Dim({0}), Dim({0})}, 1), Dim({0}));
  check_written(shape::lstm_cell(List{Dim({2}), Dim({2}), Dim({2}, 3)}, 0), Dim({2}, 3));
  BROKEN(shape, shape::lstm_cell(List{Dim({2}), Dim({3}), Dim({10})}, 2));
  BROKEN(shape, shape::lstm_cell(List{Dim({2}), Dim({9})}, 1));
  BROKEN(shape, shape::lstm_cell(List{Dim({2, 2}), Dim({8})}, 1));
}

TEST_CASE("shape: rules look past trailing ones") {
  CHECK(shape::softmax(Dim({3, 2, 1, 1}), 0) == Dim({3, 2}));
  CHECK(shape::class_loss(Dim({3, 1}), 1, 0) == Dim({1}));
  CHECK(shape::matmul(Dim({3, 2, 1}), Dim({2, 1})) == Dim({3}));
  CHECK(shape::colwise_add(Dim({3, 2, 1}), Dim({3, 1})) == Dim({3, 2}));
  CHECK(shape::lstm_cell(Dim({2, 1}), Dim({8, 1})) == Dim({2}));
}

}  // namespace rules_test
