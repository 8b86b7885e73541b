#include "dynet-like/nn/lstm.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/nn/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/normalization.h"
#include "dynet-like/ops/recurrent.h"

namespace dynet {
namespace {

// The parameters of a layer, in the order of their creation; masks come last.
enum : unsigned { kWx, kWh, kB, kGainX, kBiasX, kGainH, kBiasH, kGainC, kBiasC };

// The number of layers, once the bias has been found to be one.
unsigned layers_with(float forget_bias, unsigned layers) {
  if (!std::isfinite(forget_bias))
    throw ArgumentError("VanillaLSTMBuilder: forget_bias must be finite, got " +
                        std::to_string(forget_bias));
  return layers;
}

Expression normalize(const Expression& v, const Expression& gain, const Expression& bias,
                     SourceLocation at) {
  return layer_norm(v, gain, bias, 1e-5f, at);
}

}  // namespace

VanillaLSTMBuilder::VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                       ParameterCollection& model, bool ln_lstm, float forget_bias)
    : VanillaLSTMBuilder(layers, input_dim, hidden_dim, model, "vanilla-lstm-builder", ln_lstm,
                         forget_bias, false) {}

VanillaLSTMBuilder::VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                       ParameterCollection& model, const char* name, bool ln_lstm,
                                       float forget_bias, bool masked)
    : RNNBuilder(2, layers, input_dim, hidden_dim,
                 nn_detail::add_collection(model, name, layers_with(forget_bias, layers), input_dim,
                                           hidden_dim)),
      ln_(ln_lstm),
      forget_bias_(forget_bias),
      masked_(masked) {
  for (unsigned l = 0; l < layers; ++l) {
    const unsigned in = l == 0 ? input_dim : hidden_dim;
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim, in}));
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim, hidden_dim}));
    const auto add = [&](const Dim& d, float value) {
      parameters_.push_back(collection_.add_parameters(d, ParameterInitConst(value)));
    };
    add({4 * hidden_dim}, 0.0f);
    if (ln_lstm)
      for (const unsigned n : {4 * hidden_dim, 4 * hidden_dim, hidden_dim}) {
        add({n}, 1.0f);
        add({n}, 0.0f);
      }
    if (masked)
      for (const unsigned n : {in, hidden_dim}) {
        add({4 * hidden_dim, n}, 1.0f);
        parameters_.back().set_updated(false);
      }
  }
}

void VanillaLSTMBuilder::set_weightnoise(float std) {
  if (!(std >= 0 && std::isfinite(std)))
    throw ArgumentError(
        "set_weightnoise: a standard deviation must be finite and not negative, got " +
        std::to_string(std));
  noise_ = std;
}

void VanillaLSTMBuilder::change_nodes(std::vector<Expression>& nodes, SourceLocation at) {
  const unsigned each = parameters_per_layer();
  for (unsigned first = 0; first < nodes.size(); first += each) {
    for (unsigned k = 0; noise_ > 0 && k <= kB; ++k)
      nodes[first + k] = noise(nodes[first + k], noise_, at);
    if (!masked_) continue;
    nodes[first + kWx] = cmult(nodes[first + kWx], nodes[first + each - 2], at);
    nodes[first + kWh] = cmult(nodes[first + kWh], nodes[first + each - 1], at);
  }
}

std::vector<VanillaLSTMBuilder::MaskedMatrix> VanillaLSTMBuilder::masked_matrices() const {
  std::vector<MaskedMatrix> all;
  const unsigned each = parameters_per_layer();
  for (unsigned first = 0; masked_ && first < parameters_.size(); first += each) {
    all.push_back({parameters_[first + kWx], parameters_[first + each - 2]});
    all.push_back({parameters_[first + kWh], parameters_[first + each - 1]});
  }
  return all;
}

void SparseLSTMBuilder::set_sparsity(float percent) {
  if (!(percent >= 0 && percent <= 100))
    throw ArgumentError("set_sparsity: needs 0 <= percent <= 100, got " + std::to_string(percent));
  for (MaskedMatrix& m : masked_matrices()) {
    const Tensor w = m.weights.values();
    const std::size_t n = w.d.size();
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(w.v[a]) < std::abs(w.v[b]);
    });
    const auto off = static_cast<std::size_t>(static_cast<double>(n) * percent / 100);
    std::vector<float> mask(n, 1.0f);
    for (std::size_t i = 0; i < off; ++i) mask[order[i]] = 0.0f;
    m.mask.set_value(mask);
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
  if (state.zero) state.c = zeros(graph(at), {hidden_dim_}, device(), at);
  state.c = vanilla_lstm_c(state.c, gates, at);
  state.h = vanilla_lstm_h(
      ln_ ? normalize(state.c, node(layer, kGainC), node(layer, kBiasC), at) : state.c, gates, at);
}

}  // namespace dynet
