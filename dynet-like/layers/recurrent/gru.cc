#include "dynet-like/layers/recurrent/gru.h"

#include "dynet-like/layers/support.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/recurrent.h"

namespace dynet {
namespace {

enum : unsigned { kUpdate = 0, kReset = 3, kCandidate = 6 };  // order in each: W, U, bias

}  // namespace

GRUBuilder::GRUBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                       ParameterCollection& model)
    : RNNBuilder(1, layers, input_dim, hidden_dim,
                 nn_detail::add_collection(model, "gru-builder", layers, input_dim, hidden_dim)) {
  for (unsigned l = 0; l < layers; ++l) {
    params.emplace_back();
    for (int gate = 0; gate < 3; ++gate) {
      add({hidden_dim, layer_input_dim(l)});
      add({hidden_dim, hidden_dim});
      add({hidden_dim}, 0.0f);
    }
  }
}

void GRUBuilder::step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) {
  const auto sums = [&](unsigned k, const Expression& h) {
    const Expression &w = node(layer, k), &u = node(layer, k + 1), &b = node(layer, k + 2);
    return state.zero ? affine_transform({b, w, x}, at) : affine_transform({b, w, x, u, h}, at);
  };
  const Expression z = sums(kUpdate, state.h);
  if (state.zero) {
    state.h = gated(tanh(sums(kCandidate, state.h), at), z, at);
  } else {
    const Expression reset = gated(state.h, sums(kReset, state.h), at);
    // No dropout of the carried part: state.c is the previous output without a mask.
    state.h = coupled_update(z, sums(kCandidate, reset), state.c, at);
  }
  state.c = state.h;
}

}  // namespace dynet
