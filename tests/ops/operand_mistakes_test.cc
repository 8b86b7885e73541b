#include "tests/ops/mistakes.h"

namespace dynet::test {

std::vector<Mistake> Bench::shape_mistakes() {
  return {
      {SourceLocation::current(), [&] { x + y; }, raises<ShapeError>,
       "operator+: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x - y; }, raises<ShapeError>,
       "operator-: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x / y; }, raises<ShapeError>,
       "operator/: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { cmult(x, y); }, raises<ShapeError>,
       "cmult: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { cdiv(x, y); }, raises<ShapeError>,
       "cdiv: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { max(x, y); }, raises<ShapeError>,
       "max: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { min(x, y); }, raises<ShapeError>,
       "min: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x3 + x2; }, raises<ShapeError>,
       "operator+: batch sizes must be equal or 1, got 3 and 2\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  operand 2: {2X2}  constant, node 5, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x + W; }, raises<ShapeError>,
       "operator+: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { sum(none); }, raises<ArgumentError>,
       "sum: needs at least one operand\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         sum({x, x, y});
       },
       raises<ShapeError>,
       "sum: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  operand 3: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { average(none); }, raises<ArgumentError>,
       "average: needs at least one operand\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         average({x, y});
       },
       raises<ShapeError>,
       "average: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { W* y; }, raises<ShapeError>,
       "operator*: columns of the left operand must equal rows of the right, got 2 and 3\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { x* x; }, raises<ShapeError>,
       "operator*: columns of the left operand must equal rows of the right, got 1 and 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { cube3* x; }, raises<ShapeError>,
       "operator*: the left operand must be a matrix or vector, got {2,3,2}\n"
       "  operand 1: {2,3,2}  constant, node 10, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { W2* x3; }, raises<ShapeError>,
       "operator*: batch sizes must be equal or 1, got 2 and 3\n"
       "  operand 1: {3,2X2}  constant, node 6, made at HERE\n"
       "  operand 2: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { affine_transform(none); }, raises<ArgumentError>,
       "affine_transform: needs at least one operand\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({b, W});
       },
       raises<ArgumentError>,
       "affine_transform: needs an odd number of operands (b, W1, x1, W2, x2, ...), got 2\n"
       "  operand 1: {3}  constant, node 3, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({b, W, y});
       },
       raises<ShapeError>,
       "affine_transform: columns of the left operand must equal rows of the right, got 2 and 3\n"
       "  operand 1: {3}  constant, node 3, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 3: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({x, W, x});
       },
       raises<ShapeError>,
       "affine_transform: rows of the bias must equal rows of the products, got 2 and 3\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 3: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({b, W, x, W, columns});
       },
       raises<ShapeError>,
       "affine_transform: every product must have the same shape, got {3} and {3,4}\n"
       "  operand 1: {3}  constant, node 3, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 3: {2}  input, node 0, made at HERE\n"
       "  operand 4: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 5: {2,4}  constant, node 7, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({wide, W, columns});
       },
       raises<ShapeError>,
       "affine_transform: the bias must have one column or as many as the products, got 2 and 4\n"
       "  operand 1: {3,2}  constant, node 8, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 3: {2,4}  constant, node 7, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         affine_transform({b, W2, x3});
       },
       raises<ShapeError>,
       "affine_transform: batch sizes must be equal or 1, got 2 and 3\n"
       "  operand 1: {3}  constant, node 3, made at HERE\n"
       "  operand 2: {3,2X2}  constant, node 6, made at HERE\n"
       "  operand 3: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { colwise_add(W, x); }, raises<ShapeError>,
       "colwise_add: rows of the bias must equal rows of the matrix, got 2 and 3\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { colwise_add(W, W); }, raises<ShapeError>,
       "colwise_add: the bias must be a vector, got {3,2}\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 2: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { colwise_add(cube3, x); }, raises<ShapeError>,
       "colwise_add: the matrix must be a matrix or vector, got {2,3,2}\n"
       "  operand 1: {2,3,2}  constant, node 10, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { dot_product(x, y); }, raises<ShapeError>,
       "dot_product: both operands must have the same sizes, got {2} and {3}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { dot_product(x3, x2); }, raises<ShapeError>,
       "dot_product: batch sizes must be equal or 1, got 3 and 2\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  operand 2: {2X2}  constant, node 5, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { squared_distance(W, x); }, raises<ShapeError>,
       "squared_distance: both operands must have the same sizes, got {3,2} and {2}\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  operand 2: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { binary_log_loss(x, y); }, raises<ShapeError>,
       "binary_log_loss: both operands must have the same sizes, got {2} and {3}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  operand 2: {3}  input, node 1, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { mean_elems(nothing); }, raises<ShapeError>,
       "mean_elems: the mean of no elements is not defined, got {0}\n"
       "  operand 1: {0}  constant, node 11, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { softmax(cube3, 3); }, raises<IndexError>,
       "softmax: dimension 3 is outside {2,3,2}\n"
       "  operand 1: {2,3,2}  constant, node 10, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { softmax(x, 2); }, raises<IndexError>,
       "softmax: dimension 2 is outside {2}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { log_softmax(cube3, {2}); }, raises<IndexError>,
       "log_softmax: index 2 is outside dimension 0 of size 2\n"
       "  operand 1: {2,3,2}  constant, node 10, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pickneglogsoftmax(x, 2); }, raises<IndexError>,
       "pickneglogsoftmax: class 2 is outside the 2 scores\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pickneglogsoftmax(x, -1); }, raises<IndexError>,
       "pickneglogsoftmax: the index must not be negative, got -1\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pickneglogsoftmax(W, 0); }, raises<ShapeError>,
       "pickneglogsoftmax: the scores must be a vector, got {3,2}\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pickneglogsoftmax(x3, 1); }, raises<ArgumentError>,
       "pickneglogsoftmax: needs one class for each of the 3 batch elements, got 1\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         pickneglogsoftmax(x, {0, 1});
       },
       raises<ArgumentError>,
       "pickneglogsoftmax: needs one class for each of the 1 batch elements, got 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         pickneglogsoftmax(x3, {0, 1, 9});
       },
       raises<IndexError>,
       "pickneglogsoftmax: class 9 is outside the 2 scores\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pickneglogsoftmax(x, no_index); }, raises<ArgumentError>,
       "pickneglogsoftmax: the pointer to the indices is null\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pickneglogsoftmax(nothing, 0); }, raises<IndexError>,
       "pickneglogsoftmax: class 0 is outside the 0 scores\n"
       "  operand 1: {0}  constant, node 11, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, 2); }, raises<IndexError>,
       "pick: index 2 is outside dimension 0 of size 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, -1); }, raises<IndexError>,
       "pick: the index must not be negative, got -1\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, std::size_t{1} << 40); }, raises<IndexError>,
       "pick: the index is too large for any dimension\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, 0, 1); }, raises<IndexError>,
       "pick: dimension 1 is outside {2}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(W, 2, 1); }, raises<IndexError>,
       "pick: index 2 is outside dimension 1 of size 2\n"
       "  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         pick(x3, {0, 1});
       },
       raises<ArgumentError>,
       "pick: needs one index for each of the 3 batch elements, got 2\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, std::vector<unsigned>()); }, raises<ArgumentError>,
       "pick: needs at least one index\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, no_index); }, raises<ArgumentError>,
       "pick: the pointer to the indices is null\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick(x, no_indices); }, raises<ArgumentError>,
       "pick: the pointer to the indices is null\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick_range(x, 1, 3); }, raises<IndexError>,
       "pick_range: [1, 3) is not a range of dimension 0 of size 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick_range(x, 2, 1); }, raises<IndexError>,
       "pick_range: [2, 1) is not a range of dimension 0 of size 2\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick_range(x, 0, 1, 3); }, raises<IndexError>,
       "pick_range: dimension 3 is outside {2}\n"
       "  operand 1: {2}  input, node 0, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick_batch_elem(x3, 3); }, raises<IndexError>,
       "pick_batch_elem: batch element 3 is outside a batch of 3\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick_batch_elem(x3, -2); }, raises<IndexError>,
       "pick_batch_elem: the index must not be negative, got -2\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(),
       [&] {
         pick_batch_elems(x3, {0, 5});
       },
       raises<IndexError>,
       "pick_batch_elems: batch element 5 is outside a batch of 3\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
      {SourceLocation::current(), [&] { pick_batch_elems(x3, std::vector<unsigned>()); },
       raises<ArgumentError>,
       "pick_batch_elems: needs at least one index\n"
       "  operand 1: {2X3}  constant, node 4, made at HERE\n"
       "  at HERE"},
  };
}

TEST_CASE("mistakes in operands and indices throw at their line and harm nothing") {
  Bench bench;
  const std::vector<Mistake> all = bench.shape_mistakes();
  CHECK(all.size() >= 55);
  check_mistakes(bench, all);
}

}  // namespace dynet::test
