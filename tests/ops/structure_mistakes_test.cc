#include "tests/ops/mistakes.h"

// Mistakes with selections, flow, windows, matrices as a whole, norms and the gates of an LSTM.

namespace dynet::test {
namespace {

// The operands, as a message describes them.
const char* const kX = "{2}  input, node 0";
const char* const kY = "{3}  input, node 1";
const char* const kW = "{3,2}  parameter \"/weights\", node 2";
const char* const kB = "{3}  constant, node 3";
const char* const kX3 = "{2X3}  constant, node 4";
const char* const kX2 = "{2X2}  constant, node 5";
const char* const kColumns = "{2,4}  constant, node 7";
const char* const kWide = "{3,2}  constant, node 8";
const char* const kGates = "{2,2}  constant, node 9";
const char* const kCube = "{2,3,2}  constant, node 10";
const char* const kNothing = "{0}  constant, node 11";

std::string says(const std::string& rule, const std::vector<const char*>& operands) {
  std::string s = rule;
  for (std::size_t k = 0; k < operands.size(); ++k)
    s += "\n  operand " + std::to_string(k + 1) + ": " + operands[k] + ", made at HERE";
  return s + "\n  at HERE";
}

#define WRONG(TYPE, RULE, OPERANDS, ...)          \
  Mistake {                                       \
    SourceLocation::current(),                    \
        [&t] {                                    \
          (void)t;                                \
          __VA_ARGS__;                            \
        },                                        \
        raises<TYPE>, says(RULE, UNPACK OPERANDS) \
  }
#define UNPACK(...) \
  { __VA_ARGS__ }

}  // namespace

std::vector<Mistake> selection_mistakes(Bench& t) {
  return {
      WRONG(IndexError, "select_rows: index 3 is outside dimension 0 of size 3", (kW),
            select_rows(t.W, {0, 3})),
      WRONG(IndexError, "select_rows: the index must not be negative, got -1", (kW),
            select_rows(t.W, -1)),
      WRONG(ArgumentError, "select_rows: the pointer to the indices is null", (kW),
            select_rows(t.W, t.no_indices)),
      WRONG(IndexError, "select_rows: index 0 is outside dimension 0 of size 0", (kNothing),
            select_rows(t.nothing, 0)),
      WRONG(IndexError, "select_cols: index 2 is outside dimension 1 of size 2", (kW),
            select_cols(t.W, {2})),
      WRONG(IndexError, "select_cols: dimension 1 is outside {2}", (kX), select_cols(t.x, {0})),
      WRONG(ArgumentError, "select_cols: the pointer to the indices is null", (kW),
            select_cols(t.W, t.no_index)),
      WRONG(ArgumentError,
            "strided_select: needs at most 2 entries, one for each dimension of {2} and one for "
            "the batch, got 3",
            (kX), strided_select(t.x, {1, 1, 1})),
      WRONG(ArgumentError,
            "strided_select: needs at most 2 entries, one for each dimension of {2} and one for "
            "the batch, got 9",
            (kX), strided_select(t.x, {}, {0, 0, 0, 0, 0, 0, 0, 0, 0})),
      WRONG(ArgumentError, "strided_select: the stride of dimension 0 must be at least 1, got 0",
            (kX), strided_select(t.x, {0})),
      WRONG(ArgumentError, "strided_select: the stride of the batch must be at least 1, got -1",
            (kX3), strided_select(t.x3, {1, -1})),
      WRONG(IndexError, "strided_select: [-1, 2) is not a range of dimension 0 of size 2", (kX),
            strided_select(t.x, {1}, {-1})),
      WRONG(IndexError, "strided_select: [0, 3) is not a range of dimension 0 of size 2", (kX),
            strided_select(t.x, {1}, {0}, {3})),
      WRONG(IndexError, "strided_select: [2, 1) is not a range of dimension 0 of size 2", (kX),
            strided_select(t.x, {1}, {2}, {1})),
      WRONG(IndexError, "strided_select: [3, 3) is not a range of the batch of size 3", (kX3),
            strided_select(t.x3, {}, {0, 3})),
      WRONG(ArgumentError, "scale_gradient: the factor must be finite", (kX),
            scale_gradient(t.x, t.nan)),
      WRONG(IndexError, "argmax: dimension 1 is outside {2}", (kX), argmax(t.x, zero_gradient, 1)),
      WRONG(IndexError, "argmax: dimension 7 is outside {2}", (kX),
            argmax(t.x, straight_through_gradient, 7)),
      WRONG(ArgumentError, "to_device: the device is null", (kX), to_device(t.x, nullptr)),
      WRONG(ArgumentError, "dropout_dim: the probability must be at least 0 and below 1, got 1",
            (kX), dropout_dim(t.x, 0, 1.0f)),
      WRONG(IndexError, "dropout_dim: dimension 1 is outside {2}", (kX), dropout_dim(t.x, 1, 0.5f)),
      WRONG(ArgumentError, "dropout_batch: the probability must be at least 0 and below 1, got -1",
            (kX3), dropout_batch(t.x3, -1.0f)),
      WRONG(ArgumentError, "block_dropout: the probability must be at least 0 and below 1, got nan",
            (kX), block_dropout(t.x, t.nan)),
      WRONG(ArgumentError, "random_gumbel: beta must be finite and not negative, got -1", (),
            random_gumbel(t.g, {2}, 0.0f, -1.0f)),
      WRONG(ArgumentError, "random_gumbel: mu must be finite, got nan", (),
            random_gumbel(t.g, {2}, t.nan)),
  };
}

std::vector<Mistake> window_mistakes(Bench& t) {
  return {
      WRONG(ArgumentError, "conv2d: needs two strides, got 1", (kColumns),
            conv2d(t.columns, t.gates, {1})),
      WRONG(ArgumentError, "conv2d: needs two strides, got 3", (kColumns),
            conv2d(t.columns, t.gates, t.x, {1, 1, 1})),
      WRONG(ArgumentError, "conv2d: the stride must be at least 1, got 0", (kColumns, kGates),
            conv2d(t.columns, t.gates, {1, 0})),
      WRONG(ShapeError,
            "conv2d: the window must not be larger than what it slides over, got 3 and 2",
            (kColumns, kW), conv2d(t.columns, t.W, {1, 1})),
      WRONG(ShapeError,
            "conv2d: the filter must have as many input channels as the image, got 2 and 1",
            (kColumns, kCube), conv2d(t.columns, t.cube3, {1, 1})),
      WRONG(ShapeError, "conv2d: the window must not be empty", (kColumns, kNothing),
            conv2d(t.columns, t.nothing, {1, 1}, false)),
      WRONG(ShapeError, "conv2d: batch sizes must be equal or 1, got 3 and 2", (kX3, kX2),
            conv2d(t.x3, t.x2, {1, 1})),
      WRONG(ShapeError,
            "conv2d: the bias must have one element for each output channel, got 3 and 1",
            (kColumns, kGates, kY), conv2d(t.columns, t.gates, t.y, {1, 1})),
      WRONG(ShapeError, "conv2d: the bias must be a vector, got {3,2}", (kColumns, kGates, kW),
            conv2d(t.columns, t.gates, t.W, {1, 1})),
      WRONG(ArgumentError, "maxpooling2d: needs two sizes of the window, got 0", (kColumns),
            maxpooling2d(t.columns, {}, {1, 1})),
      WRONG(ArgumentError, "maxpooling2d: needs two strides, got 1", (kColumns),
            maxpooling2d(t.columns, {1, 1}, {1})),
      WRONG(ArgumentError, "maxpooling2d: the stride must be at least 1, got 0", (kColumns),
            maxpooling2d(t.columns, {1, 1}, {0, 1})),
      WRONG(ShapeError, "maxpooling2d: the window must not be empty", (kColumns),
            maxpooling2d(t.columns, {0, 1}, {1, 1})),
      WRONG(ShapeError,
            "maxpooling2d: the window must not be larger than what it slides over, got 5 and 4",
            (kColumns), maxpooling2d(t.columns, {1, 5}, {1, 1})),
      WRONG(ShapeError,
            "filter1d_narrow: the filter must have the rows of the operand, got 3 and 2",
            (kColumns, kW), filter1d_narrow(t.columns, t.W)),
      WRONG(ShapeError,
            "filter1d_narrow: the window must not be larger than what it slides over, got 4 and 2",
            (kGates, kColumns), filter1d_narrow(t.gates, t.columns)),
      WRONG(ShapeError, "filter1d_narrow: the operand must be a matrix or vector, got {2,3,2}",
            (kCube, kX), filter1d_narrow(t.cube3, t.x)),
      WRONG(ArgumentError, "kmax_pooling: k must be at least 1, got 0", (kColumns),
            kmax_pooling(t.columns, 0)),
      WRONG(ArgumentError, "kmax_pooling: k must not be larger than dimension 1, got 5 and 4",
            (kColumns), kmax_pooling(t.columns, 5)),
      WRONG(IndexError, "kmax_pooling: dimension 2 is outside {2,4}", (kColumns),
            kmax_pooling(t.columns, 1, 2)),
      WRONG(ShapeError, "fold_rows: the rows must be a multiple of 2, got 3", (kW), fold_rows(t.W)),
      WRONG(ArgumentError, "fold_rows: the number of rows must be at least 1, got 0", (kW),
            fold_rows(t.W, 0)),
      WRONG(ShapeError, "kmh_ngram: n must not be larger than the number of columns, got 3 and 2",
            (kW), kmh_ngram(t.W, 3)),
      WRONG(ArgumentError, "kmh_ngram: n must be at least 1, got 0", (kW), kmh_ngram(t.W, 0)),
  };
}

std::vector<Mistake> algebra_mistakes(Bench& t) {
  return {
      WRONG(ShapeError, "inverse: the matrix must be square, got 3 and 2", (kW), inverse(t.W)),
      WRONG(ShapeError, "inverse: the operand must be a matrix or vector, got {2,3,2}", (kCube),
            inverse(t.cube3)),
      WRONG(ShapeError, "logdet: the matrix must be square, got 2 and 1", (kX), logdet(t.x)),
      WRONG(ShapeError,
            "trace_of_product: both operands must have the same sizes, got {2,4} and {3,2}",
            (kColumns, kW), trace_of_product(t.columns, t.W)),
      WRONG(ShapeError, "contract3d_1d: the second operand must be {2}, got {3}", (kCube, kY),
            contract3d_1d(t.cube3, t.y)),
      WRONG(ShapeError, "contract3d_1d: the bias must be {2,3}, got {3,2}", (kCube, kX, kW),
            contract3d_1d(t.cube3, t.x, t.W)),
      WRONG(ShapeError, "contract3d_1d_1d: the third operand must be {3}, got {2}", (kCube, kX, kX),
            contract3d_1d_1d(t.cube3, t.x, t.x)),
      WRONG(ShapeError, "contract3d_1d_1d: the bias must be {2}, got {3}", (kCube, kX, kY, kB),
            contract3d_1d_1d(t.cube3, t.x, t.y, t.b)),
      WRONG(ShapeError, "contract3d_1d_1d: the second operand must be {1}, got {2}",
            (kX3, kX2, kX2), contract3d_1d_1d(t.x3, t.x2, t.x2)),
      WRONG(StaleExpressionError,
            "contract3d_1d: operand 2 belongs to another graph than the first operand", (),
            contract3d_1d(t.cube3, t.foreign)),
      WRONG(StaleExpressionError,
            "contract3d_1d: operand 1 is stale: its graph was cleared, reverted or destroyed", (),
            contract3d_1d(t.reverted, t.x)),
      WRONG(StaleExpressionError, "kmh_ngram: operand 1 is empty: it belongs to no graph", (),
            kmh_ngram(Expression(), 1)),
      WRONG(ShapeError, "circ_conv: both operands must have the same sizes, got {2} and {3}",
            (kX, kY), circ_conv(t.x, t.y)),
      WRONG(ShapeError, "circ_corr: the left operand must be a vector, got {3,2}", (kW, kWide),
            circ_corr(t.W, t.wide)),
      WRONG(ShapeError, "layer_norm: the gain must be {2}, got {3}", (kX, kY, kX),
            layer_norm(t.x, t.y, t.x)),
      WRONG(ShapeError, "layer_norm: the bias must be {3,2}, got {3}", (kW, kWide, kB),
            layer_norm(t.W, t.wide, t.b)),
      WRONG(ShapeError, "layer_norm: batch sizes must be equal or 1, got 3 and 2", (kX3, kX, kX2),
            layer_norm(t.x3, t.x, t.x2)),
      WRONG(ArgumentError, "layer_norm: epsilon must be finite and not negative, got -1.000000",
            (kX, kX, kX), layer_norm(t.x, t.x, t.x, -1.0f)),
      WRONG(ShapeError, "weight_norm: the length must be one number, got {2}", (kW, kX),
            weight_norm(t.W, t.x)),
      WRONG(ShapeError,
            "vanilla_lstm_gates_concat: columns of the left operand must equal rows of the right, "
            "got 2 and 5",
            (kB, kW, kW, kX, kX, kY), vanilla_lstm_gates_concat({t.x, t.y}, t.x, t.W, t.W, t.b)),
      WRONG(ShapeError,
            "vanilla_lstm_gates_dropout: a mask must have the sizes of what it masks, got {3} for "
            "{2}",
            (kB, kW, kW, kX, kX, kY, kX),
            vanilla_lstm_gates_dropout(t.x, t.x, t.W, t.W, t.b, t.y, t.x)),
      WRONG(ShapeError,
            "vanilla_lstm_gates_dropout_concat: the gates must be a multiple of four long, got 3",
            (kB, kW, kW, kX, kX, kX, kX),
            vanilla_lstm_gates_dropout_concat({t.x}, t.x, t.W, t.W, t.b, t.x, t.x)),
      WRONG(ArgumentError, "vanilla_lstm_gates_concat: needs at least one operand",
            (kB, kW, kW, kX), vanilla_lstm_gates_concat({}, t.x, t.W, t.W, t.b)),
  };
}

TEST_CASE("mistakes with parts and whole tensors throw at their line and harm nothing") {
  Bench bench;
  for (auto* mistakes : {&selection_mistakes, &window_mistakes, &algebra_mistakes}) {
    const std::vector<Mistake> all = mistakes(bench);
    CHECK(all.size() >= 23);
    check_mistakes(bench, all);
  }
}

#undef WRONG
#undef UNPACK

}  // namespace dynet::test
