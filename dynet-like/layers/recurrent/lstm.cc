#include "dynet-like/layers/recurrent/lstm.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/normalization.h"
#include "dynet-like/ops/recurrent.h"
#include "dynet-like/ops/selection.h"

namespace dynet {
namespace {

// Indices of a layer's parameters, and of its normalization parameters.
enum : unsigned { kWx, kWh, kB };
enum : unsigned { kGainH, kBiasH, kGainX, kBiasX, kGainC, kBiasC };

// Returns `layers`, after checking the bias: runs before the base class adds a collection.
unsigned layers_with(float forget_bias, unsigned layers) {
  if (!std::isfinite(forget_bias))
    throw ArgumentError("VanillaLSTMBuilder: forget_bias must be finite, got " +
                        std::to_string(forget_bias));
  return layers;
}

Expression normalize(const Expression& v, const Expression& gain, const Expression& bias,
                     SourceLocation at) {
  return layer_norm(v, gain, bias, 0.0f, at);
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
      forget_bias_(forget_bias) {
  for (unsigned l = 0; l < layers; ++l) {
    const unsigned in = layer_input_dim(l);
    params.emplace_back();
    add({4 * hidden_dim, in});
    add({4 * hidden_dim, hidden_dim});
    if (masked) {
      mask_params_.emplace_back();
      for (const unsigned n : {in, hidden_dim}) {
        mask_params_.back().push_back(
            collection_.add_parameters({4 * hidden_dim, n}, ParameterInitConst(1.0f)));
        mask_params_.back().back().set_updated(false);
      }
    }
    add({4 * hidden_dim}, 0.0f);
    if (!ln_lstm) continue;
    ln_params.emplace_back();
    for (const unsigned n : {4 * hidden_dim, 4 * hidden_dim, hidden_dim})
      for (const float value : {1.0f, 0.0f})
        ln_params.back().push_back(collection_.add_parameters({n}, ParameterInitConst(value)));
  }
}

void VanillaLSTMBuilder::set_weightnoise(float std) {
  if (!(std >= 0 && std::isfinite(std)))
    throw ArgumentError(
        "set_weightnoise: a standard deviation must be finite and not negative, got " +
        std::to_string(std));
  noise_ = std;
}

void VanillaLSTMBuilder::prepare_graph(ComputationGraph& cg, bool update, Nodes& vars,
                                       SourceLocation at) {
  add_nodes(cg, ln_params, update, spare_ln_vars_, at);
  add_nodes(cg, mask_params_, update, masks_, at);
  for (std::size_t l = 0; l < vars.size(); ++l) {
    for (unsigned k = 0; noise_ > 0 && k <= kB; ++k) vars[l][k] = noise(vars[l][k], noise_, at);
    for (unsigned k = 0; !masks_.empty() && k <= kWh; ++k)
      vars[l][k] = cmult(vars[l][k], masks_[l][k], at);
  }
  ln_param_vars.swap(spare_ln_vars_);
}

void SparseLSTMBuilder::set_sparsity(float percent) {
  if (!(percent >= 0 && percent <= 100))
    throw ArgumentError("set_sparsity: needs 0 <= percent <= 100, got " + std::to_string(percent));
  for (std::size_t l = 0; l < mask_params_.size(); ++l)
    for (const unsigned k : {kWx, kWh}) {
      const Tensor w = params[l][k].values();
      const std::size_t n = w.d.size();
      std::vector<std::size_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(w.v[a]) < std::abs(w.v[b]);
      });
      const auto off = static_cast<std::size_t>(static_cast<double>(n) * percent / 100);
      std::vector<float> mask(n, 1.0f);
      for (std::size_t i = 0; i < off; ++i) mask[order[i]] = 0.0f;
      mask_params_[l][k].set_value(mask);
    }
}

Expression VanillaLSTMBuilder::normalized_sums(unsigned layer, const Expression& x,
                                               const LayerState& state, SourceLocation at) const {
  const auto part = [&](unsigned w, const Expression& v, unsigned gain, unsigned bias) {
    const std::vector<Expression>& ln = ln_param_vars[layer];
    return normalize(LocatedExpression(node(layer, w), at) * v, ln[gain], ln[bias], at);
  };
  Expression sums = sum({node(layer, kB), part(kWx, x, kGainX, kBiasX)}, at);
  if (!state.zero) sums = sum({sums, part(kWh, state.h, kGainH, kBiasH)}, at);
  return sums;
}

void VanillaLSTMBuilder::normalized_step(unsigned layer, const Expression& x, LayerState& state,
                                         SourceLocation at) const {
  const Expression sums = normalized_sums(layer, x, state, at);
  if (state.zero) state.c = zeros(graph(at), {hidden_dim_}, device(), at);
  state.c = lstm_cell(sums, {state.c}, forget_bias_, at).c;
  const std::vector<Expression>& ln = ln_param_vars[layer];
  const Expression output = pick_range(sums, 2 * hidden_dim_, 3 * hidden_dim_, 0, at);
  state.h = gated(tanh(normalize(state.c, ln[kGainC], ln[kBiasC], at), at), output, at);
}

void VanillaLSTMBuilder::step(unsigned layer, const Expression& x, LayerState& state,
                              SourceLocation at) {
  if (ln_) return normalized_step(layer, x, state, at);
  const Expression &wx = node(layer, kWx), &wh = node(layer, kWh), &b = node(layer, kB);
  if (state.zero) state.c = zeros(graph(at), {hidden_dim_}, device(), at);
  const LSTMCellState now = state.zero
                                ? lstm_step({b, wx, x}, {state.c}, forget_bias_, at)
                                : lstm_step({b, wx, x, wh, state.h}, {state.c}, forget_bias_, at);
  state.h = now.h;
  state.c = now.c;
}

bool VanillaLSTMBuilder::has_sequences() const {
  return !ln_ && dropout_h_ == 0 && dropout_c_ == 0 &&
         std::all_of(param_vars.begin(), param_vars.end(),
                     [](const std::vector<Expression>& nodes) { return nodes[kWh].dim().bd == 1; });
}

void VanillaLSTMBuilder::sequence(unsigned layer, const Expression& xs, bool reverse,
                                  LayerState& state, SourceLocation at) {
  const Expression sums = affine_transform({node(layer, kB), node(layer, kWx), xs}, at);
  const Expression& wh = node(layer, kWh);
  const LSTMCellState all =
      state.zero ? lstm_sequence(sums, wh, forget_bias_, reverse, at)
                 : lstm_sequence(sums, wh, {state.h, state.c}, forget_bias_, reverse, at);
  state.h = all.h;
  state.c = all.c;
}

}  // namespace dynet
