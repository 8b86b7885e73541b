#include "dynet-like/nn/lstm.h"

#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/recurrent.h"
#include "dynet-like/ops/reductions.h"

namespace dynet {
namespace {

// The parameters of a layer, in the order of their creation.
enum : unsigned { kWx, kWh, kB, kGainX, kBiasX, kGainH, kBiasH, kGainC, kBiasC };

Expression normalize(const Expression& v, const Expression& gain, const Expression& bias,
                     SourceLocation at) {
  const Expression centered = LocatedExpression(v, at) - mean_elems(v, at);
  const Expression variance = mean_elems(square(centered, at), at);
  const Expression deviation = sqrt(LocatedExpression(variance, at) + 1e-5f, at);
  return sum({cmult(gain, cdiv(centered, deviation, at), at), bias}, at);
}

}  // namespace

VanillaLSTMBuilder::VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                       ParameterCollection& model, bool ln_lstm, float forget_bias)
    : RNNBuilder(2, layers, input_dim, hidden_dim, model.add_subcollection("vanilla-lstm-builder")),
      ln_(ln_lstm),
      forget_bias_(forget_bias) {
  for (unsigned l = 0; l < layers; ++l) {
    const unsigned in = l == 0 ? input_dim : hidden_dim;
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim, in}));
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim, hidden_dim}));
    const auto add = [&](unsigned n, float value) {
      parameters_.push_back(collection_.add_parameters({n}, ParameterInitConst(value)));
    };
    add(4 * hidden_dim, 0.0f);
    if (!ln_lstm) continue;
    for (const unsigned n : {4 * hidden_dim, 4 * hidden_dim, hidden_dim}) {
      add(n, 1.0f);
      add(n, 0.0f);
    }
  }
}

Expression VanillaLSTMBuilder::normalized_gates(unsigned layer, const Expression& x,
                                                const LayerState& state, SourceLocation at) const {
  const auto part = [&](unsigned w, const Expression& v, unsigned gain, unsigned bias) {
    return normalize(LocatedExpression(node(layer, w), at) * v, node(layer, gain),
                     node(layer, bias), at);
  };
  Expression sums = sum({node(layer, kB), part(kWx, x, kGainX, kBiasX)}, at);
  if (!state.zero) sums = sum({sums, part(kWh, state.h, kGainH, kBiasH)}, at);
  return vanilla_lstm_gates(sums, forget_bias_, at);
}

void VanillaLSTMBuilder::step(unsigned layer, const Expression& x, LayerState& state,
                              SourceLocation at) {
  const Expression &wx = node(layer, kWx), &wh = node(layer, kWh), &b = node(layer, kB);
  const Expression gates = ln_ ? normalized_gates(layer, x, state, at)
                           : state.zero
                               ? vanilla_lstm_gates(x, wx, b, forget_bias_, at)
                               : vanilla_lstm_gates(x, state.h, wx, wh, b, 0.0f, forget_bias_, at);
  if (state.zero) state.c = zeros(graph(at), {hidden_dim_}, at);
  state.c = vanilla_lstm_c(state.c, gates, at);
  state.h = vanilla_lstm_h(
      ln_ ? normalize(state.c, node(layer, kGainC), node(layer, kBiasC), at) : state.c, gates, at);
}

}  // namespace dynet
