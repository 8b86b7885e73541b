#include "tests/ops/mistakes.h"

// Mistakes in sources, reductions, softmaxes and losses.

namespace dynet::test {
namespace {

using List = std::vector<unsigned>;
using Lists = std::vector<List>;

#define MISTAKE(TYPE, MESSAGE, ...)                                                      \
  {                                                                                      \
    SourceLocation::current(), [&] { __VA_ARGS__; }, raises<TYPE>, MESSAGE "\n  at HERE" \
  }

#define X "\n  operand 1: {2}  input, node 0, made at HERE"
#define X3 "\n  operand 1: {2X3}  constant, node 4, made at HERE"
#define WEIGHTS "\n  operand 1: {3,2}  parameter \"/weights\", node 2, made at HERE"
#define CUBE "\n  operand 1: {2,3,2}  constant, node 10, made at HERE"
#define NOTHING "\n  operand 1: {0}  constant, node 11, made at HERE"
#define X_AND_Y X "\n  operand 2: {3}  input, node 1, made at HERE"
#define X3_AND_X2 X3 "\n  operand 2: {2X2}  constant, node 5, made at HERE"

}  // namespace

std::vector<Mistake> reduction_mistakes(Bench& bench) {
  ComputationGraph& g = bench.g;
  const Expression &x = bench.x, &y = bench.y, &W = bench.W, &x3 = bench.x3, &x2 = bench.x2,
                   &cube3 = bench.cube3, &nothing = bench.nothing;
  const std::vector<Expression>& none = bench.none;
  const float& nan = bench.nan;
  static constexpr const unsigned* no_index = nullptr;
  static constexpr const List* no_list = nullptr;
  static constexpr Device* no_device = nullptr;
  static constexpr const Lists* no_lists = nullptr;
  return {
      MISTAKE(ArgumentError, "max: needs at least one operand", max(none)),
      MISTAKE(ArgumentError, "min: needs at least one operand", min(none)),
      MISTAKE(ArgumentError, "logsumexp: needs at least one operand", logsumexp(none)),
      MISTAKE(ShapeError,
              "max: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3" X
              "\n  operand 2: {2}  input, node 0, made at HERE"
              "\n  operand 3: {3}  input, node 1, made at HERE",
              max({x, x, y})),
      MISTAKE(ShapeError,
              "min: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3" X_AND_Y,
              min({x, y})),
      MISTAKE(ShapeError, "logsumexp: batch sizes must be equal or 1, got 3 and 2" X3_AND_X2,
              logsumexp({x3, x2})),
      MISTAKE(ShapeError,
              "pow: sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3" X_AND_Y,
              pow(x, y)),
      MISTAKE(ShapeError,
              "l1_distance: both operands must have the same sizes, got {2} and {3}" X_AND_Y,
              l1_distance(x, y)),
      MISTAKE(ShapeError, "l1_distance: batch sizes must be equal or 1, got 3 and 2" X3_AND_X2,
              l1_distance(x3, x2)),
      MISTAKE(ShapeError,
              "huber_distance: both operands must have the same sizes, got {2} and {3}" X_AND_Y,
              huber_distance(x, y)),
      MISTAKE(ArgumentError,
              "huber_distance: the bound must be positive, got 0.000000" X
              "\n  operand 2: {2}  input, node 0, made at HERE",
              huber_distance(x, x, 0)),
      MISTAKE(ArgumentError,
              "huber_distance: the bound must be positive, got nan" X
              "\n  operand 2: {2}  input, node 0, made at HERE",
              huber_distance(x, x, nan)),
      MISTAKE(ShapeError,
              "pairwise_rank_loss: sizes must be equal or 1 in every dimension, dimension 0 has 2 "
              "and 3" X_AND_Y,
              pairwise_rank_loss(x, y)),
      MISTAKE(ArgumentError,
              "pairwise_rank_loss: the margin must be finite, got nan" X
              "\n  operand 2: {2}  input, node 0, made at HERE",
              pairwise_rank_loss(x, x, nan)),
      MISTAKE(StaleExpressionError, "selu: operand 1 is empty: it belongs to no graph",
              selu(Expression())),
      MISTAKE(StaleExpressionError,
              "l1_distance: operand 2 belongs to another graph than the first operand",
              l1_distance(x, bench.foreign)),
      MISTAKE(
          StaleExpressionError,
          "pairwise_rank_loss: operand 1 is stale: its graph was cleared, reverted or destroyed",
          pairwise_rank_loss(bench.reverted, x)),

      MISTAKE(IndexError, "sum_dim: dimension 1 is outside {2}" X, sum_dim(x, {1})),
      MISTAKE(IndexError, "sum_dim: dimension 7 is outside {2}" X, sum_dim(x, {7})),
      MISTAKE(IndexError, "sum_dim: dimension 4294967295 is outside {2}" X, sum_dim(x, {~0u})),
      MISTAKE(ArgumentError, "sum_dim: dimension 0 is named twice" X, sum_dim(x, {0, 0})),
      MISTAKE(IndexError, "mean_dim: dimension 2 is outside {3,2}" WEIGHTS, mean_dim(W, {0, 2})),
      MISTAKE(ShapeError, "mean_dim: the mean of no elements is not defined, got {0}" NOTHING,
              mean_dim(nothing, {0})),
      MISTAKE(ArgumentError, "moment_dim: the power must be at least 1, got 0" X,
              moment_dim(x, {0}, 0)),
      MISTAKE(ArgumentError, "moment_elems: the power must be at least 1, got 0" X,
              moment_elems(x, 0)),
      MISTAKE(ArgumentError, "moment_batches: the power must be at least 1, got 0" X,
              moment_batches(x, 0)),
      MISTAKE(ShapeError, "moment_elems: the mean of no elements is not defined, got {0}" NOTHING,
              moment_elems(nothing, 1)),
      MISTAKE(IndexError, "std_dim: dimension 3 is outside {2,3,2}" CUBE, std_dim(cube3, {0, 3})),
      MISTAKE(ShapeError, "std_elems: the mean of no elements is not defined, got {0}" NOTHING,
              std_elems(nothing)),
      MISTAKE(IndexError, "max_dim: dimension 1 is outside {2}" X, max_dim(x, 1)),
      MISTAKE(IndexError, "min_dim: dimension 9 is outside {2}" X, min_dim(x, 9)),
      MISTAKE(ShapeError, "max_dim: the largest of no elements is not defined, got {0}" NOTHING,
              max_dim(nothing)),
      MISTAKE(ShapeError, "min_dim: the smallest of no elements is not defined, got {0}" NOTHING,
              min_dim(nothing)),
      MISTAKE(IndexError, "cumsum: dimension 2 is outside {3,2}" WEIGHTS, cumsum(W, 2)),
      MISTAKE(IndexError, "logsumexp_dim: dimension 1 is outside {2}" X, logsumexp_dim(x, 1)),

      MISTAKE(IndexError, "log_softmax: index 2 is outside dimension 0 of size 2" X,
              log_softmax(x, {0, 2})),
      MISTAKE(ArgumentError, "log_softmax: needs at least one index" X, log_softmax(x, List())),
      MISTAKE(
          ShapeError,
          "constrained_softmax: both operands must have the same sizes, got {2} and {3}" X_AND_Y,
          constrained_softmax(x, y)),
      MISTAKE(ShapeError,
              "constrained_softmax: batch sizes must be equal or 1, got 3 and 2" X3_AND_X2,
              constrained_softmax(x3, x2)),

      MISTAKE(IndexError, "hinge: class 2 is outside the 2 scores" X, hinge(x, 2)),
      MISTAKE(IndexError, "hinge: the index must not be negative, got -1" X, hinge(x, -1)),
      MISTAKE(ShapeError, "hinge: the scores must be a vector, got {3,2}" WEIGHTS, hinge(W, 0)),
      MISTAKE(ArgumentError, "hinge: needs one class for each of the 3 batch elements, got 2" X3,
              hinge(x3, {0, 1})),
      MISTAKE(ArgumentError, "hinge: the pointer to the indices is null" X, hinge(x, no_index)),
      MISTAKE(ArgumentError, "hinge: the pointer to the indices is null" X, hinge(x, no_list)),
      MISTAKE(ArgumentError, "hinge: the margin must be finite, got nan" X, hinge(x, 0, nan)),
      MISTAKE(ShapeError, "hinge_dim: the scores must be a matrix or vector, got {2,3,2}" CUBE,
              hinge_dim(cube3, {0})),
      MISTAKE(IndexError, "hinge_dim: the dimension must be 0 or 1, got 2" WEIGHTS,
              hinge_dim(W, {0, 1}, 2)),
      MISTAKE(ArgumentError, "hinge_dim: needs one class for each of the 2 columns, got 3" WEIGHTS,
              hinge_dim(W, {0, 1, 2})),
      MISTAKE(ArgumentError, "hinge_dim: needs one class for each of the 3 rows, got 2" WEIGHTS,
              hinge_dim(W, {0, 1}, 1)),
      MISTAKE(IndexError, "hinge_dim: class 3 is outside dimension 0 of size 3" WEIGHTS,
              hinge_dim(W, {0, 3})),
      MISTAKE(ArgumentError,
              "hinge_dim: needs one list, or one for each of the 3 batch elements, got 2" X3,
              hinge_dim(x3, Lists{{0}, {1}})),
      MISTAKE(ArgumentError,
              "hinge_dim: all lists of classes must have the same length, got 1 and 2" X3,
              hinge_dim(x3, Lists{{0}, {1, 0}, {0}})),
      MISTAKE(ArgumentError, "hinge_dim: needs at least one list" X, hinge_dim(x, Lists())),
      MISTAKE(ArgumentError, "hinge_dim: the pointer to the indices is null" X,
              hinge_dim(x, no_list)),
      MISTAKE(ArgumentError, "hinge_dim: the pointer to the indices is null" X,
              hinge_dim(x, no_lists)),
      MISTAKE(ArgumentError, "hinge_dim: the margin must be finite, got nan" X,
              hinge_dim(x, {0}, 0, nan)),
      MISTAKE(ShapeError, "poisson_loss: the operand must be one number, got {2}" X,
              poisson_loss(x, 1)),
      MISTAKE(ArgumentError, "poisson_loss: the count must not be negative, got -1" X,
              poisson_loss(x, -1)),
      MISTAKE(ArgumentError, "poisson_loss: the pointer to the indices is null" X,
              poisson_loss(x, no_index)),
      MISTAKE(ShapeError, "sparsemax_loss: the scores must be a vector, got {3,2}" WEIGHTS,
              sparsemax_loss(W, {0})),
      MISTAKE(IndexError, "sparsemax_loss: index 2 is outside the 2 scores" X,
              sparsemax_loss(x, {0, 2})),
      MISTAKE(ArgumentError, "sparsemax_loss: the support must not be empty" X,
              sparsemax_loss(x, List())),
      MISTAKE(ArgumentError,
              "sparsemax_loss: needs one list, or one for each of the 3 batch elements, got 2" X3,
              sparsemax_loss(x3, Lists{{0}, {1}})),
      MISTAKE(ArgumentError, "sparsemax_loss: the pointer to the indices is null" X,
              sparsemax_loss(x, no_list)),

      MISTAKE(ArgumentError, "input: needs an index for each value, got 1 and 2",
              input(g, {3}, List{0}, {1, 2})),
      MISTAKE(IndexError, "input: index 3 is outside the 3 values of {3}",
              input(g, {3}, List{0, 3}, {1, 2})),
      MISTAKE(ArgumentError, "input: the device is null", input(g, 1.0f, no_device)),
      MISTAKE(ArgumentError, "zeros: the device is null", zeros(g, {2}, no_device)),
      MISTAKE(ArgumentError, "one_hot: the pointer to the indices is null",
              one_hot(g, 3, no_index)),
      MISTAKE(IndexError, "one_hot: the index must not be negative, got -1", one_hot(g, 3, -1)),
      MISTAKE(IndexError, "one_hot: index 0 is outside the 0 elements", one_hot(g, 0, 0)),
      MISTAKE(IndexError, "const_lookup: the index must not be negative, got -3",
              const_lookup(g, bench.table, -3)),
      MISTAKE(ArgumentError, "const_lookup: the pointer to the indices is null",
              const_lookup(g, bench.table, no_list)),
  };
}

TEST_CASE("mistakes in sources, reductions and losses throw at their line and harm nothing") {
  Bench bench;
  const std::vector<Mistake> all = reduction_mistakes(bench);
  CHECK(all.size() >= 70);
  check_mistakes(bench, all);
}

#undef MISTAKE
#undef X
#undef X3
#undef WEIGHTS
#undef CUBE
#undef NOTHING
#undef X_AND_Y
#undef X3_AND_X2

}  // namespace dynet::test
