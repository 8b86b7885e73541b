#include "dynet-like/layers/recurrent/gru.h"

#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/matrix.h"

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
  const Expression z = logistic(sums(kUpdate, state.h), at);
  if (state.zero) {
    state.h = cmult(z, tanh(sums(kCandidate, state.h), at), at);
  } else {
    const Expression r = logistic(sums(kReset, state.h), at);
    const Expression content = tanh(sums(kCandidate, cmult(r, state.h, at)), at);
    // No dropout of the carried part: state.c is the previous output without a mask.
    state.h = sum({cmult(z, content, at), cmult(1.0f - LocatedExpression(z, at), state.c, at)}, at);
  }
  state.c = state.h;
}

}  // namespace dynet
