#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;
using E = const Expression&;
using Pair = std::vector<unsigned>;

void bind_convolution(nb::module_& m) {
  m.def(
      "conv2d",
      [](E x, E f, const Pair& stride, Flag is_valid) {
        return conv2d(x, f, stride, is_valid, here());
      },
      "x"_a, "f"_a, "stride"_a, "is_valid"_a = true,
      "y_ijo = sum_aec f_aeco x_(i s0 + a, j s1 + e, c): image {H,W,Ci}, filter {h,w,Ci,Co} and "
      "two\n"
      "strides give {H',W',Co}, H' = (H - h) // s0 + 1; without is_valid zeros are put around the\n"
      "image such that H' = ceil(H / s0).\n\n"
      ">>> image, filters = dy.zeros((28, 28, 3)), dy.zeros((5, 5, 3, 8))\n"
      ">>> dy.conv2d(image, filters, [1, 1]).dim()\n"
      "((24, 24, 8), 1)\n"
      ">>> dy.conv2d(image, filters, [2, 2], is_valid=False).dim()\n"
      "((14, 14, 8), 1)");
  m.def(
      "conv2d_bias",
      [](E x, E f, E b, const Pair& stride, Flag is_valid) {
        return conv2d(x, f, b, stride, is_valid, here());
      },
      "x"_a, "f"_a, "b"_a, "stride"_a, "is_valid"_a = true, "`conv2d` plus a bias {Co}.");
  m.def(
      "maxpooling2d",
      [](E x, const Pair& ksize, const Pair& stride, Flag is_valid) {
        return maxpooling2d(x, ksize, stride, is_valid, here());
      },
      "x"_a, "ksize"_a, "stride"_a, "is_valid"_a = true,
      "The largest element of each window: {H,W,C} gives {H',W',C}, with sizes as in "
      "`conv2d`.\n\n"
      ">>> dy.maxpooling2d(dy.zeros((28, 28, 3)), [2, 2], [2, 2]).dim()\n"
      "((14, 14, 3), 1)");
  m.def(
      "filter1d_narrow", [](E x, E y) { return filter1d_narrow(x, y, here()); }, "x"_a, "y"_a,
      "z_ij = sum_ae y_aei x_(a,j+e): {r,c} and k filters {r,w,k} give {k,c-w+1}.");
  m.def(
      "fold_rows", [](E x, unsigned nrows) { return fold_rows(x, nrows, here()); }, "x"_a,
      "nrows"_a = 2, "Sums of `nrows` rows that follow each other: {r,c} gives {r/nrows,c}.");
  m.def(
      "kmh_ngram", [](E x, unsigned n) { return kmh_ngram(x, n, here()); }, "x"_a, "v"_a,
      "Sums of v neighbouring columns: {r,c} gives {r,c-v+1}.");
}

void bind_normalization(nb::module_& m) {
  m.def(
      "layer_norm", [](E x, E g, E b, float eps) { return layer_norm(x, g, b, eps, here()); },
      "x"_a, "g"_a, "b"_a, "epsilon"_a = 0.0f,
      "g (x - mean) / sqrt(variance + epsilon) + b, mean and variance over all elements: the "
      "shape\n"
      "of x. Ba et al. 2016.");
  m.def(
      "weight_norm", [](E w, E g) { return weight_norm(w, g, here()); }, "w"_a, "g"_a,
      "g w / |w| for a number g {1}: the shape of w. Salimans and Kingma 2016.");
}

void bind_lstm(nb::module_& m) {
  m.def(
      "vanilla_lstm_gates",
      [](E x, E h, E wx, E wh, E b, float noise, float forget) {
        return vanilla_lstm_gates(x, h, wx, wh, b, noise, forget, here());
      },
      "x_t"_a, "h_tm1"_a, "Wx"_a, "Wh"_a, "b"_a, "weightnoise_std"_a = 0.0f, "forget_bias"_a = 1.0f,
      "The gates i, f, o = logistic(.), g = tanh(.) of Wx x_t + Wh h_tm1 + b, one after another, "
      "f\n"
      "with `forget_bias` added: {I}, {H}, {4H,I}, {4H,H}, {4H} give {4H}. `weightnoise_std`: the\n"
      "deviation of Gaussian noise on the weights. Hochreiter and Schmidhuber 1997.");
  m.def(
      "vanilla_lstm_gates_concat",
      [](const Expressions& x, E h, E wx, E wh, E b, float noise, float forget) {
        return vanilla_lstm_gates_concat(x, h, wx, wh, b, noise, forget, here());
      },
      "x_t"_a, "h_tm1"_a, "Wx"_a, "Wh"_a, "b"_a, "weightnoise_std"_a = 0.0f, "forget_bias"_a = 1.0f,
      "`vanilla_lstm_gates` of a list of inputs, concatenated.");
  m.def(
      "vanilla_lstm_gates_dropout",
      [](E x, E h, E wx, E wh, E b, E mask_x, E mask_h, float noise, float forget) {
        return vanilla_lstm_gates_dropout(x, h, wx, wh, b, mask_x, mask_h, noise, forget, here());
      },
      "x_t"_a, "h_tm1"_a, "Wx"_a, "Wh"_a, "b"_a, "dropout_mask_x"_a, "dropout_mask_h"_a,
      "weightnoise_std"_a = 0.0f, "forget_bias"_a = 1.0f,
      "`vanilla_lstm_gates` of x_t and h_tm1 multiplied by masks {I} and {H}.");
  m.def(
      "vanilla_lstm_gates_dropout_concat",
      [](const Expressions& x, E h, E wx, E wh, E b, E mask_x, E mask_h, float noise,
         float forget) {
        return vanilla_lstm_gates_dropout_concat(x, h, wx, wh, b, mask_x, mask_h, noise, forget,
                                                 here());
      },
      "x_t"_a, "h_tm1"_a, "Wx"_a, "Wh"_a, "b"_a, "dropout_mask_x"_a, "dropout_mask_h"_a,
      "weightnoise_std"_a = 0.0f, "forget_bias"_a = 1.0f,
      "`vanilla_lstm_gates_dropout` of a list of inputs, concatenated.");
  m.def(
      "vanilla_lstm_c", [](E c, E gates) { return vanilla_lstm_c(c, gates, here()); }, "c_tm1"_a,
      "gates_t"_a, "i g + f c_tm1: {H}, {4H} give {H}.");
  m.def(
      "vanilla_lstm_h", [](E c, E gates) { return vanilla_lstm_h(c, gates, here()); }, "c_t"_a,
      "gates_t"_a, "o tanh(c_t): {H}, {4H} give {H}.");
  m.def(
      "lstm_cell",
      [](const Expressions& sums, const Expressions& cells, float forget) {
        const LSTMCellState s = lstm_cell(sums, cells, forget, here());
        return std::pair(s.h, s.c);
      },
      "sums"_a, "cells"_a, "forget_bias"_a = 0.0f,
      "`(h, c)`: all of a step of an LSTM with K previous cells as one node, c = i g + sum_k f_k "
      "c_k\n"
      "and h = o tanh(c) for the gates of the sums, a list of one {(3+K)H} or of 3 + K times {H} "
      "in\n"
      "the order i, f_k, o, g.");
  m.def(
      "lstm_step",
      [](const Expressions& sums, const Expressions& cells, float forget) {
        const LSTMCellState s = lstm_step(sums, cells, forget, here());
        return std::pair(s.h, s.c);
      },
      "sums"_a, "cells"_a, "forget_bias"_a = 0.0f,
      "`lstm_cell([affine_transform(sums)], cells, forget_bias)` as one node: sums are b, W_1, "
      "x_1, "
      "...");
  m.def(
      "lstm_sequence",
      [](E sums, E wh, const std::optional<std::pair<Expression, Expression>>& initial,
         float forget, bool reverse) {
        const LSTMCellState s = initial ? lstm_sequence(sums, wh, {initial->first, initial->second},
                                                        forget, reverse, here())
                                        : lstm_sequence(sums, wh, forget, reverse, here());
        return std::pair(s.h, s.c);
      },
      "sums"_a, "Wh"_a, "initial"_a = nb::none(), "forget_bias"_a = 0.0f, "reverse"_a = false,
      "`(h, c)`, {H,T} each: all steps of a sequence as one node. Column t of sums {4H,T} is b + "
      "Wx\n"
      "x_t, Wh {4H,H} is multiplied by the previous output. `reverse`: the last column is the "
      "first\n"
      "step. `initial`: the pair (h, c) before it, {H} each, else zeros. Sequences of all lengths\n"
      "run together.");
  m.def(
      "gated", [](E x, E gate) { return gated(x, gate, here()); }, "x"_a, "gate"_a,
      "x logistic(gate), of one shape: a gated linear unit, or a reset gate.");
  m.def(
      "coupled_update",
      [](E gate, E content, E before) { return coupled_update(gate, content, before, here()); },
      "gate"_a, "content"_a, "before"_a,
      "z tanh(content) + (1 - z) before for z = logistic(gate), of one shape: the update of a "
      "GRU.");
}

}  // namespace

void bind_layers(nb::module_& m) {
  bind_convolution(m);
  bind_normalization(m);
  bind_lstm(m);
}

}  // namespace dynet::python
