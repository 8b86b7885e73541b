#pragma once

#include "dynet-like/layers/recurrent/rnn.h"

namespace dynet {

/// A long short-term memory, in layers (Hochreiter and Schmidhuber 1997, with a forget gate):
///   i, f, o = logistic(Wx x_t + Wh h_{t-1} + b), f with `forget_bias` added before
///   g = tanh(Wx x_t + Wh h_{t-1} + b)
///   c_t = i g + f c_{t-1},  h_t = o tanh(c_t)
/// With `ln_lstm` (Ba, Kiros, Hinton 2016) the two products and, for h_t, the cell are normalized
/// first, each with a gain and a bias of its own: LN(v) = gain (v - mean(v)) / sqrt(var(v))
/// + bias. x {input_dim} or a batch of them; outputs {hidden_dim} with the batch of x.
class VanillaLSTMBuilder : public RNNBuilder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    /// As in the constructor.
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;
    bool ln_lstm = false;
    float forget_bias = 1.0f;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim& ln_lstm& forget_bias;
    }
  };

  VanillaLSTMBuilder() = default;
  /// Throws ArgumentError unless there is a layer and `forget_bias` is finite.
  VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                     ParameterCollection& model, bool ln_lstm = false, float forget_bias = 1.0f);
  VanillaLSTMBuilder(ParameterCollection& model, const Settings& s)
      : VanillaLSTMBuilder(s.layers, s.input_dim, s.hidden_dim, model, s.ln_lstm, s.forget_bias) {}
  /// Arguments of the constructor.
  Settings settings() const { return {layers_, input_dim_, hidden_dim_, ln_, forget_bias_}; }

  /// Gaussian noise of this standard deviation on all weights, drawn once for each graph (Graves
  /// 2011); from the next `new_graph` on. Zero: none. Throws ArgumentError for a negative or
  /// infinite one.
  void set_weightnoise(float std);

  /// Likewise those of layer normalization: gain and bias of Wh h, of Wx x, and of the cell. Empty
  /// without it.
  std::vector<std::vector<Parameter>> ln_params;
  std::vector<std::vector<Expression>> ln_param_vars;

 protected:
  /// `masked`: the matrices Wx and Wh are followed by masks that are not trained.
  VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                     ParameterCollection& model, const char* name, bool ln_lstm, float forget_bias,
                     bool masked);
  void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) override;
  void prepare_graph(ComputationGraph& cg, bool update, Nodes& vars, SourceLocation at) override;
  /// Masks of Wx and Wh, by layer; empty unless they are masked.
  std::vector<std::vector<Parameter>> mask_params_;

 private:
  Expression normalized_gates(unsigned layer, const Expression& x, const LayerState& state,
                              SourceLocation at) const;

  bool ln_ = false;
  float forget_bias_ = 1;
  float noise_ = 0;
  Nodes masks_, spare_ln_vars_;
};

/// DyNet's name for the usual one.
using LSTMBuilder = VanillaLSTMBuilder;

/// VanillaLSTMBuilder without its options: DyNet's fast variant, which all LSTMs here are.
class CompactVanillaLSTMBuilder : public VanillaLSTMBuilder {
 public:
  CompactVanillaLSTMBuilder() = default;
  CompactVanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                            ParameterCollection& model)
      : VanillaLSTMBuilder(layers, input_dim, hidden_dim, model, "compact-vanilla-lstm-builder",
                           false, 1.0f, false) {}
  CompactVanillaLSTMBuilder(ParameterCollection& model, const Settings& s)
      : CompactVanillaLSTMBuilder(s.layers, s.input_dim, s.hidden_dim, model) {}
};

/// VanillaLSTMBuilder with weights that are switched off: small ones, for good or until the next
/// call of `set_sparsity` (Han et al. 2015). The masks are parameters that are not trained, so they
/// are saved and copied with the others.
class SparseLSTMBuilder : public VanillaLSTMBuilder {
 public:
  SparseLSTMBuilder() = default;
  SparseLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                    ParameterCollection& model, bool ln_lstm = false, float forget_bias = 1.0f)
      : VanillaLSTMBuilder(layers, input_dim, hidden_dim, model, "vanilla-lstm-builder", ln_lstm,
                           forget_bias, true) {}
  SparseLSTMBuilder(ParameterCollection& model, const Settings& s)
      : SparseLSTMBuilder(s.layers, s.input_dim, s.hidden_dim, model, s.ln_lstm, s.forget_bias) {}

  /// Switches off, in each matrix, the `percent` of its weights that are smallest in magnitude, and
  /// the others on; they count from the next `new_graph` on. Weights that are off get no gradient,
  /// and keep their values but for weight decay. Throws ArgumentError unless 0 <= percent <= 100.
  void set_sparsity(float percent);
};

}  // namespace dynet
