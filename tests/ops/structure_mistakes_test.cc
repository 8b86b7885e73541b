#include "tests/ops/mistakes.h"

// Mistakes with selections, flow, windows, matrices as a whole, norms and the gates of an LSTM.

namespace dynet::test {

std::vector<Mistake> Bench::selection_mistakes() {
  return {
      WRONG(IndexError, select_rows(W, {0, 3}), "W",
            "select_rows: index 3 is outside dimension 0 of size 3"),
      WRONG(IndexError, select_rows(W, -1), "W", "select_rows" + kNegativeIndex + "-1"),
      WRONG(ArgumentError, select_rows(W, no_indices), "W", "select_rows" + kNullIndices),
      WRONG(IndexError, select_rows(nothing, 0), "nothing",
            "select_rows: index 0 is outside dimension 0 of size 0"),
      WRONG(IndexError, select_cols(W, {2}), "W",
            "select_cols: index 2 is outside dimension 1 of size 2"),
      WRONG(IndexError, select_cols(x, {0}), "x", "select_cols: dimension 1 is outside {2}"),
      WRONG(ArgumentError, select_cols(W, no_index), "W", "select_cols" + kNullIndices),
      WRONG(ArgumentError, strided_select(x, {1, 1, 1}), "x",
            "strided_select: needs at most 2 entries, one for each dimension of {2} and one for "
            "the batch, got 3"),
      WRONG(ArgumentError, strided_select(x, {}, {0, 0, 0, 0, 0, 0, 0, 0, 0}), "x",
            "strided_select: needs at most 2 entries, one for each dimension of {2} and one for "
            "the batch, got 9"),
      WRONG(ArgumentError, strided_select(x, {0}), "x",
            "strided_select: the stride of dimension 0 must be at least 1, got 0"),
      WRONG(ArgumentError, strided_select(x3, {1, -1}), "x3",
            "strided_select: the stride of the batch must be at least 1, got -1"),
      WRONG(IndexError, strided_select(x, {1}, {-1}), "x", "strided_select: [-1, 2)" + kNoRange),
      WRONG(IndexError, strided_select(x, {1}, {0}, {3}), "x", "strided_select: [0, 3)" + kNoRange),
      WRONG(IndexError, strided_select(x, {1}, {2}, {1}), "x", "strided_select: [2, 1)" + kNoRange),
      WRONG(IndexError, strided_select(x3, {}, {0, 3}), "x3",
            "strided_select: [3, 3) is not a range of the batch of size 3"),
      WRONG(ArgumentError, scale_gradient(x, nan), "x",
            "scale_gradient: the factor must be finite"),
      WRONG(IndexError, argmax(x, zero_gradient, 1), "x", "argmax: dimension 1 is outside {2}"),
      WRONG(IndexError, argmax(x, straight_through_gradient, 7), "x",
            "argmax: dimension 7 is outside {2}"),
      WRONG(ArgumentError, to_device(x, nullptr), "x", "to_device: the device is null"),
      WRONG(ArgumentError, dropout_dim(x, 0, 1.0f), "x", "dropout_dim" + kProbability + "1"),
      WRONG(IndexError, dropout_dim(x, 1, 0.5f), "x", "dropout_dim: dimension 1 is outside {2}"),
      WRONG(ArgumentError, dropout_batch(x3, -1.0f), "x3", "dropout_batch" + kProbability + "-1"),
      WRONG(ArgumentError, block_dropout(x, nan), "x", "block_dropout" + kProbability + "nan"),
      WRONG(ArgumentError, random_gumbel(g, {2}, 0.0f, -1.0f), "",
            "random_gumbel: beta must be finite and not negative, got -1"),
      WRONG(ArgumentError, random_gumbel(g, {2}, nan), "",
            "random_gumbel: mu must be finite, got nan"),
  };
}

std::vector<Mistake> Bench::window_mistakes() {
  return {
      WRONG(ArgumentError, conv2d(columns, gates, {1}), "columns",
            "conv2d: needs two strides, got 1"),
      WRONG(ArgumentError, conv2d(columns, gates, x, {1, 1, 1}), "columns",
            "conv2d: needs two strides, got 3"),
      WRONG(ArgumentError, conv2d(columns, gates, {1, 0}), "columns gates",
            "conv2d: the stride must be at least 1, got 0"),
      WRONG(ShapeError, conv2d(columns, W, {1, 1}), "columns W",
            "conv2d: the window must not be larger than what it slides over, got 3 and 2"),
      WRONG(ShapeError, conv2d(columns, cube3, {1, 1}), "columns cube3",
            "conv2d: the filter must have as many input channels as the image, got 2 and 1"),
      WRONG(ShapeError, conv2d(columns, nothing, {1, 1}, false), "columns nothing",
            "conv2d: the window must not be empty"),
      WRONG(ShapeError, conv2d(x3, x2, {1, 1}), "x3 x2", "conv2d" + kBatchSizes),
      WRONG(ShapeError, conv2d(columns, gates, y, {1, 1}), "columns gates y",
            "conv2d: the bias must have one element for each output channel, got 3 and 1"),
      WRONG(ShapeError, conv2d(columns, gates, W, {1, 1}), "columns gates W",
            "conv2d: the bias" + kNoVector),
      WRONG(ArgumentError, maxpooling2d(columns, {}, {1, 1}), "columns",
            "maxpooling2d: needs two sizes of the window, got 0"),
      WRONG(ArgumentError, maxpooling2d(columns, {1, 1}, {1}), "columns",
            "maxpooling2d: needs two strides, got 1"),
      WRONG(ArgumentError, maxpooling2d(columns, {1, 1}, {0, 1}), "columns",
            "maxpooling2d: the stride must be at least 1, got 0"),
      WRONG(ShapeError, maxpooling2d(columns, {0, 1}, {1, 1}), "columns",
            "maxpooling2d: the window must not be empty"),
      WRONG(ShapeError, maxpooling2d(columns, {1, 5}, {1, 1}), "columns",
            "maxpooling2d: the window must not be larger than what it slides over, got 5 and 4"),
      WRONG(ShapeError, filter1d_narrow(columns, W), "columns W",
            "filter1d_narrow: the filter must have the rows of the operand, got 3 and 2"),
      WRONG(ShapeError, filter1d_narrow(gates, columns), "gates columns",
            "filter1d_narrow: the window must not be larger than what it slides over, got 4 and 2"),
      WRONG(ShapeError, filter1d_narrow(cube3, x), "cube3 x",
            "filter1d_narrow: the operand" + kNoMatrix),
      WRONG(ArgumentError, kmax_pooling(columns, 0), "columns",
            "kmax_pooling: k must be at least 1, got 0"),
      WRONG(ArgumentError, kmax_pooling(columns, 5), "columns",
            "kmax_pooling: k must not be larger than dimension 1, got 5 and 4"),
      WRONG(IndexError, kmax_pooling(columns, 1, 2), "columns",
            "kmax_pooling: dimension 2 is outside {2,4}"),
      WRONG(ShapeError, fold_rows(W), "W", "fold_rows: the rows must be a multiple of 2, got 3"),
      WRONG(ArgumentError, fold_rows(W, 0), "W",
            "fold_rows: the number of rows must be at least 1, got 0"),
      WRONG(ShapeError, kmh_ngram(W, 3), "W",
            "kmh_ngram: n must not be larger than the number of columns, got 3 and 2"),
      WRONG(ArgumentError, kmh_ngram(W, 0), "W", "kmh_ngram: n must be at least 1, got 0"),
  };
}

std::vector<Mistake> Bench::algebra_mistakes() {
  return {
      WRONG(ShapeError, inverse(W), "W", "inverse: the matrix must be square, got 3 and 2"),
      WRONG(ShapeError, inverse(cube3), "cube3", "inverse: the operand" + kNoMatrix),
      WRONG(ShapeError, logdet(x), "x", "logdet: the matrix must be square, got 2 and 1"),
      WRONG(ShapeError, trace_of_product(columns, W), "columns W",
            "trace_of_product: both operands must have the same sizes, got {2,4} and {3,2}"),
      WRONG(ShapeError, contract3d_1d(cube3, y), "cube3 y",
            "contract3d_1d: the second operand must be {2}, got {3}"),
      WRONG(ShapeError, contract3d_1d(cube3, x, W), "cube3 x W",
            "contract3d_1d: the bias must be {2,3}, got {3,2}"),
      WRONG(ShapeError, contract3d_1d_1d(cube3, x, x), "cube3 x x",
            "contract3d_1d_1d: the third operand must be {3}, got {2}"),
      WRONG(ShapeError, contract3d_1d_1d(cube3, x, y, b), "cube3 x y b",
            "contract3d_1d_1d: the bias must be {2}, got {3}"),
      WRONG(ShapeError, contract3d_1d_1d(x3, x2, x2), "x3 x2 x2",
            "contract3d_1d_1d: the second operand must be {1}, got {2}"),
      WRONG(StaleExpressionError, contract3d_1d(cube3, foreign), "",
            "contract3d_1d: operand 2" + kForeign),
      WRONG(StaleExpressionError, contract3d_1d(reverted, x), "",
            "contract3d_1d: operand 1" + kStale),
      WRONG(StaleExpressionError, kmh_ngram(Expression(), 1), "", "kmh_ngram: operand 1" + kEmpty),
      WRONG(ShapeError, circ_conv(x, y), "x y", "circ_conv" + kSameSizes),
      WRONG(ShapeError, circ_corr(W, wide), "W wide", "circ_corr: the left operand" + kNoVector),
      WRONG(ShapeError, layer_norm(x, y, x), "x y x", "layer_norm: the gain must be {2}, got {3}"),
      WRONG(ShapeError, layer_norm(W, wide, b), "W wide b",
            "layer_norm: the bias must be {3,2}, got {3}"),
      WRONG(ShapeError, layer_norm(x3, x, x2), "x3 x x2", "layer_norm" + kBatchSizes),
      WRONG(ArgumentError, layer_norm(x, x, x, -1.0f), "x x x",
            "layer_norm: epsilon must be finite and not negative, got -1.000000"),
      WRONG(ShapeError, weight_norm(W, x), "W x",
            "weight_norm: the length must be one number, got {2}"),
      WRONG(ShapeError, vanilla_lstm_gates_concat({x, y}, x, W, W, b), "b W W x x y",
            "vanilla_lstm_gates_concat: columns of the left operand must equal rows of the right, "
            "got 2 and 5"),
      WRONG(ShapeError, vanilla_lstm_gates_dropout(x, x, W, W, b, y, x), "b W W x x y x",
            "vanilla_lstm_gates_dropout: a mask must have the sizes of what it masks, got {3} for "
            "{2}"),
      WRONG(ShapeError, vanilla_lstm_gates_dropout_concat({x}, x, W, W, b, x, x), "b W W x x x x",
            "vanilla_lstm_gates_dropout_concat" + kGatesOfFour),
      WRONG(ArgumentError, vanilla_lstm_gates_concat({}, x, W, W, b), "b W W x",
            "vanilla_lstm_gates_concat: needs at least one operand"),
  };
}

TEST_CASE("mistakes with parts and whole tensors throw at their line and harm nothing") {
  Bench bench;
  for (const std::vector<Mistake>& all :
       {bench.selection_mistakes(), bench.window_mistakes(), bench.algebra_mistakes()}) {
    check_mistakes(bench, all);
  }
}

}  // namespace dynet::test
