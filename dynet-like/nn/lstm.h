#pragma once

#include "dynet-like/nn/rnn.h"

namespace dynet {

/// A long short-term memory, in layers (Hochreiter and Schmidhuber 1997, with a forget gate):
///   i, f, o = logistic(Wx x_t + Wh h_{t-1} + b), f with `forget_bias` added before
///   g = tanh(Wx x_t + Wh h_{t-1} + b)
///   c_t = i g + f c_{t-1},  h_t = o tanh(c_t)
/// With `ln_lstm` (Ba, Kiros, Hinton 2016) the two products and, for h_t, the cell are normalized
/// first, each with a gain and a bias of its own: LN(v) = gain (v - mean(v)) / sqrt(var(v) + 1e-5)
/// + bias. x {input_dim} or a batch of them; outputs {hidden_dim} with the batch of x.
class VanillaLSTMBuilder : public RNNBuilder {
 public:
  /// What the constructor was given, to be saved beside the parameters.
  struct Settings {
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;
    bool ln_lstm = false;
    float forget_bias = 1.0f;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim& ln_lstm& forget_bias;
    }
  };

  VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                     ParameterCollection& model, bool ln_lstm = false, float forget_bias = 1.0f);
  VanillaLSTMBuilder(ParameterCollection& model, const Settings& s)
      : VanillaLSTMBuilder(s.layers, s.input_dim, s.hidden_dim, model, s.ln_lstm, s.forget_bias) {}
  Settings settings() const { return {layers_, input_dim_, hidden_dim_, ln_, forget_bias_}; }

 protected:
  unsigned parameters_per_layer() const override { return ln_ ? 9 : 3; }
  void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) override;

 private:
  Expression normalized_gates(unsigned layer, const Expression& x, const LayerState& state,
                              SourceLocation at) const;

  bool ln_;
  float forget_bias_;
};

using LSTMBuilder = VanillaLSTMBuilder;

}  // namespace dynet
