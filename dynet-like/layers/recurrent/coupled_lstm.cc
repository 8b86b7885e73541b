#include "dynet-like/layers/recurrent/coupled_lstm.h"

#include "dynet-like/layers/support.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/recurrent.h"

namespace dynet {
namespace {

// Parameters of a layer, gate by gate: W, U, V (not for the content) and the bias.
enum : unsigned { kW, kU, kV, kBias };
enum : unsigned { kInput = 0, kOutput = 4, kContent = 8 };

unsigned bias_of(unsigned gate) { return gate + (gate == kContent ? kV : kBias); }

}  // namespace

PeepholeLSTMBuilder::PeepholeLSTMBuilder(const Settings& s, ParameterCollection& model,
                                         const char* name, bool blind, bool deep)
    : RNNBuilder(2, s.layers, s.input_dim, s.hidden_dim,
                 nn_detail::add_collection(model, name, s.layers, s.input_dim, s.hidden_dim), deep),
      blind_(blind) {
  const unsigned h = s.hidden_dim;
  for (unsigned l = 0; l < s.layers; ++l) {
    params.emplace_back();
    for (const unsigned gate : {kInput, kOutput, kContent}) {
      add({h, layer_input_dim(l)});
      add({h, h});
      if (gate != kContent) add({h, blind ? 1 : h});
      add({h}, 0.0f);
    }
  }
}

// The sum before a gate; `c` is the cell that the gate reads, or null.
Expression PeepholeLSTMBuilder::gate(unsigned layer, unsigned gate, const Expression& x,
                                     const LayerState& state, const Expression* c,
                                     SourceLocation at) const {
  std::vector<Expression> terms{node(layer, bias_of(gate)), node(layer, gate + kW), x};
  const auto add = [&](unsigned k, const Expression& v) {
    terms.insert(terms.end(), {node(layer, gate + k), v});
  };
  if (!state.zero) add(kU, state.h);
  if (c && !blind_) add(kV, *c);
  return affine_transform(terms, at);
}

void PeepholeLSTMBuilder::step(unsigned layer, const Expression& x, LayerState& state,
                               SourceLocation at) {
  const Expression* before = state.zero ? nullptr : &state.c;
  const Expression i = gate(layer, kInput, x, state, before, at);
  const Expression content = gate(layer, kContent, x, state, nullptr, at);
  const Expression c =
      before ? coupled_update(i, content, *before, at) : gated(tanh(content, at), i, at);
  state.h = gated(tanh(c, at), gate(layer, kOutput, x, state, &c, at), at);
  state.c = c;
}

}  // namespace dynet
