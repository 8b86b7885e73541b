#include "dynet-like/nn/lstm.h"

#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/recurrent.h"

namespace dynet {

VanillaLSTMBuilder::VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                       ParameterCollection& model, float forget_bias)
    : RNNBuilder(2, layers, input_dim, hidden_dim, model.add_subcollection("vanilla-lstm-builder")),
      forget_bias_(forget_bias) {
  for (unsigned l = 0; l < layers; ++l) {
    const unsigned in = l == 0 ? input_dim : hidden_dim;
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim, in}));
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim, hidden_dim}));
    parameters_.push_back(collection_.add_parameters({4 * hidden_dim}, ParameterInitConst(0.0f)));
  }
}

void VanillaLSTMBuilder::step(unsigned layer, const Expression& x, LayerState& state,
                              SourceLocation at) {
  const Expression &wx = node(layer, 0), &wh = node(layer, 1), &b = node(layer, 2);
  const Expression gates = state.zero ? vanilla_lstm_gates(x, wx, b, forget_bias_, at)
                                      : vanilla_lstm_gates(x, state.h, wx, wh, b, forget_bias_, at);
  if (state.zero) state.c = zeros(graph(at), {hidden_dim_}, at);
  state.c = vanilla_lstm_c(state.c, gates, at);
  state.h = vanilla_lstm_h(state.c, gates, at);
}

}  // namespace dynet
