#include "tests/shape/rules.h"

namespace structure_rules_test {

using namespace dynet;
using namespace dynet::test;

namespace {

void check_sliding(const shape::Sliding& s, unsigned out, unsigned before) {
  CHECK(s.out == out);
  CHECK(s.before == before);
}

constexpr unsigned kOne[2] = {1, 1}, kTwo[2] = {2, 2}, kThree[2] = {3, 3};

}  // namespace

TEST_CASE("shape: windows") {
  using shape::slide;
  check_sliding(slide(5, 3, 1, true), 3, 0);
  check_sliding(slide(5, 5, 1, true), 1, 0);
  check_sliding(slide(5, 5, 3, true), 1, 0);
  check_sliding(slide(6, 5, 1, true), 2, 0);
  check_sliding(slide(6, 3, 2, true), 2, 0);
  check_sliding(slide(7, 3, 2, true), 3, 0);
  check_sliding(slide(5, 3, 1, false), 5, 1);
  check_sliding(slide(5, 3, 2, false), 3, 1);
  check_sliding(slide(5, 4, 1, false), 5, 1);  // the odd zero goes behind
  check_sliding(slide(6, 3, 2, false), 3, 0);
  check_sliding(slide(7, 3, 2, false), 4, 1);
  check_sliding(slide(2, 9, 1, false), 2, 4);
  check_sliding(slide(5, 1, 3, false), 2, 0);
  check_sliding(slide(2, 1, 5, false), 1, 0);
  check_sliding(slide(0, 3, 1, false), 0, 0);
  check_sliding(slide(4294967295u, 1, 1, false), 4294967295u, 0);
  BROKEN(shape, slide(2, 3, 1, true));
  BROKEN(shape, slide(2, 0, 1, true));
  BROKEN(shape, slide(2, 0, 1, false));
  BROKEN(argument, slide(2, 1, 0, true));
  BROKEN(argument, slide(2, 1, 0, false));
}

TEST_CASE("shape: convolution and pooling") {
  using shape::conv2d;
  CHECK(conv2d(List{Dim({5, 6, 2}, 3), Dim({2, 3, 2, 7})}, kOne, true) == Dim({4, 4, 7}, 3));
  CHECK(conv2d(List{Dim({5, 6, 2}, 3), Dim({2, 3, 2, 7})}, kTwo, false) == Dim({3, 3, 7}, 3));
  CHECK(conv2d(List{Dim({5, 6}), Dim({2, 3}, 4)}, kOne, true) == Dim({4, 4}, 4));
  CHECK(conv2d(List{Dim({5, 6}), Dim({2, 3}), Dim({1}, 4)}, kOne, true) == Dim({4, 4}, 4));
  CHECK(conv2d(List{Dim({5, 6, 0}), Dim({2, 3, 0, 2})}, kOne, true) == Dim({4, 4, 2}));
  BROKEN(shape, conv2d(List{Dim({5, 6, 2}), Dim({2, 3, 1, 7})}, kOne, true));
  BROKEN(shape, conv2d(List{Dim({5, 6, 2}), Dim({6, 3, 2, 7})}, kOne, true));
  BROKEN(shape, conv2d(List{Dim({5, 6, 2}), Dim({2, 3, 2, 7}), Dim({6})}, kOne, true));
  BROKEN(shape, conv2d(List{Dim({5, 6}, 2), Dim({2, 3}), Dim({1}, 3)}, kOne, true));
  BROKEN(argument, conv2d(List{Dim({1, 1}), Dim({1, 1})}, {1, 0}, true));

  using shape::maxpooling2d;
  CHECK(maxpooling2d(Dim({5, 6, 2}, 3), kThree, kTwo, true) == Dim({2, 2, 2}, 3));
  CHECK(maxpooling2d(Dim({5, 6, 2}), kThree, kTwo, false) == Dim({3, 3, 2}));
  CHECK(maxpooling2d(Dim({5}), {3, 1}, kOne, true) == Dim({3}));
  BROKEN(shape, maxpooling2d(Dim({2, 6}), kThree, kTwo, true));
  BROKEN(shape, maxpooling2d(Dim({5, 6, 2, 2}), kThree, kTwo, true));

  using shape::filter1d_narrow;
  CHECK(filter1d_narrow(Dim({3, 5}), Dim({3, 2})) == Dim({1, 4}));
  CHECK(filter1d_narrow(Dim({3, 5}, 2), Dim({3, 2, 6})) == Dim({6, 4}, 2));
  BROKEN(shape, filter1d_narrow(Dim({3, 5}), Dim({2, 2})));
  BROKEN(shape, filter1d_narrow(Dim({3, 5}), Dim({3, 6})));
}

TEST_CASE("shape: k largest, sums of rows and columns") {
  using namespace shape;
  CHECK(kmax_pooling(Dim({3, 5, 2}, 4), 2, 1) == Dim({3, 2, 2}, 4));
  CHECK(kmax_pooling(Dim({3}), 3, 0) == Dim({3}));
  BROKEN(argument, kmax_pooling(Dim({3}), 4, 0));
  BROKEN(argument, kmax_pooling(Dim({3}), 0, 0));
  BROKEN(index, kmax_pooling(Dim({3}), 1, 1));
  CHECK(fold_rows(Dim({6, 5}, 2), 3) == Dim({2, 5}, 2));
  CHECK(fold_rows(Dim({0, 5}), 3) == Dim({0, 5}));
  BROKEN(shape, fold_rows(Dim({5}), 3));
  BROKEN(argument, fold_rows(Dim({5}), 0));
  CHECK(kmh_ngram(Dim({6, 5}, 2), 3) == Dim({6, 3}, 2));
  CHECK(kmh_ngram(Dim({6}), 1) == Dim({6}));
  BROKEN(shape, kmh_ngram(Dim({6, 2}), 3));
  BROKEN(argument, kmh_ngram(Dim({6, 2}), 0));
}

TEST_CASE("shape: slices with a stride") {
  using shape::strided_select;
  const Dim x({5, 4}, 3);
  const auto select = [&](std::vector<int> strides, std::vector<int> from, std::vector<int> to) {
    return strided_select(x, strides, from, to);
  };
  CHECK(select({}, {}, {}) == x);
  CHECK(select({2, 3}, {}, {}) == Dim({3, 2}, 3));
  CHECK(select({2, 3, 2}, {1, 1, 1}, {}) == Dim({2, 1}, 1));
  CHECK(select({1}, {1}, {3, 2}) == Dim({2, 2}, 3));
  CHECK(select({1}, {5}, {}) == Dim({0, 4}, 3));
  CHECK(select({100}, {}, {}) == Dim({1, 4}, 3));
  BROKEN(argument, select({1, 1, 1, 1}, {}, {}));
  BROKEN(argument, select({}, {}, {1, 1, 1, 1}));
  BROKEN(argument, select({0}, {}, {}));
  BROKEN(argument, select({1, -1}, {}, {}));
  BROKEN(index, select({1}, {-1}, {}));
  BROKEN(index, select({1}, {6}, {}));
  BROKEN(index, select({1}, {}, {6}));
  BROKEN(index, select({1}, {3}, {2}));
  BROKEN(index, select({1}, {0, 0, 3}, {}));  // an empty batch

  CHECK(shape::select(Dim({3, 4}, 2), 5, 3, 1) == Dim({3, 5}, 2));
  CHECK(shape::select(Dim({3, 4}), 0, 0, 0) == Dim({0, 4}));
  BROKEN(index, shape::select(Dim({3, 4}), 1, 4, 1));
  BROKEN(index, shape::select(Dim({3}), 1, 0, 1));
  BROKEN(index, shape::along(Dim({3}), 1));
  BROKEN(index, shape::along(Dim({3}), 7));
}

TEST_CASE("shape: matrices as a whole, contractions, norms") {
  using namespace shape;
  CHECK(square(Dim({3, 3}, 2)) == Dim({3, 3}, 2));
  CHECK(square(Dim({1})) == Dim({1}));
  BROKEN(shape, square(Dim({3})));
  BROKEN(shape, square(Dim({2, 2, 2})));
  CHECK(circular(Dim({3}), Dim({3}, 2)) == Dim({3}, 2));
  BROKEN(shape, circular(Dim({3, 3}), Dim({3, 3})));
  BROKEN(shape, circular(Dim({3}), Dim({2})));
  CHECK(contract3d_1d(List{Dim({2, 3, 4}), Dim({4}, 2)}) == Dim({2, 3}, 2));
  CHECK(contract3d_1d(List{Dim({2, 3, 4}), Dim({4}), Dim({2, 3}, 5)}) == Dim({2, 3}, 5));
  CHECK(contract3d_1d(List{Dim({2}), Dim({1})}) == Dim({2}));
  BROKEN(shape, contract3d_1d(List{Dim({2, 3, 4}), Dim({3})}));
  BROKEN(shape, contract3d_1d(List{Dim({2, 3, 4}), Dim({4}), Dim({2, 4})}));
  CHECK(contract3d_1d_1d(List{Dim({2, 3, 4}), Dim({4}), Dim({3}, 2)}) == Dim({2}, 2));
  CHECK(contract3d_1d_1d(List{Dim({2, 3, 4}), Dim({4}), Dim({3}), Dim({2}, 2)}) == Dim({2}, 2));
  BROKEN(shape, contract3d_1d_1d(List{Dim({2, 3, 4}), Dim({4}), Dim({4})}));
  BROKEN(shape, contract3d_1d_1d(List{Dim({2, 3, 4}), Dim({4}), Dim({3}), Dim({3})}));
  CHECK(layer_norm(Dim({2, 3}, 4), Dim({2, 3}), Dim({2, 3})) == Dim({2, 3}, 4));
  CHECK(layer_norm(Dim({2}), Dim({2}, 4), Dim({2})) == Dim({2}, 4));
  CHECK(layer_norm(Dim({2}), Dim({2}), Dim({2}, 4)) == Dim({2}, 4));
  BROKEN(shape, layer_norm(Dim({2}, 4), Dim({2}), Dim({2}, 2)));
  BROKEN(shape, layer_norm(Dim({2, 3}), Dim({2}), Dim({2, 3})));
  BROKEN(shape, layer_norm(Dim({2, 3}), Dim({2, 3}), Dim({3})));
  CHECK(weight_norm(Dim({2, 3}), Dim({1, 1}, 2)) == Dim({2, 3}, 2));
  BROKEN(shape, weight_norm(Dim({2, 3}), Dim({2})));
  CHECK(masked(Dim({2}, 3), Dim({2})) == Dim({2}, 3));
  BROKEN(shape, masked(Dim({2}), Dim({1})));
}

}  // namespace structure_rules_test
