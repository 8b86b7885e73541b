#pragma once

#include "dynet-like/layers/recurrent/rnn.h"

namespace dynet {

/// A long short-term memory, in layers (Hochreiter and Schmidhuber 1997, with a forget gate):
///   i, f, o = logistic(Wx x_t + Wh h_{t-1} + b); `forget_bias` is added to the sum of f
///   g = tanh(Wx x_t + Wh h_{t-1} + b)
///   c_t = i g + f c_{t-1},  h_t = o tanh(c_t)
/// With `ln_lstm` (Ba, Kiros, Hinton 2016) the two products, and the cell before tanh(c_t), are
/// normalized, each with its own gain and bias: LN(v) = gain (v - mean(v)) / sqrt(var(v)) + bias.
/// x {input_dim}, or a batch; outputs {hidden_dim} with the batch of x.
class VanillaLSTMBuilder : public RNNBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    /// Arguments as in the constructor.
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;
    bool ln_lstm = false;
    float forget_bias = 1.0f;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim& ln_lstm& forget_bias;
    }
  };

  VanillaLSTMBuilder() = default;
  /// Throws ArgumentError unless `layers` is above zero and `forget_bias` is finite.
  VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                     ParameterCollection& model, bool ln_lstm = false, float forget_bias = 1.0f);
  VanillaLSTMBuilder(ParameterCollection& model, const Settings& s)
      : VanillaLSTMBuilder(s.layers, s.input_dim, s.hidden_dim, model, s.ln_lstm, s.forget_bias) {}
  /// Arguments of the constructor.
  Settings settings() const { return {layers_, input_dim_, hidden_dim_, ln_, forget_bias_}; }

  /// Gaussian noise with this standard deviation on all weights, drawn once per graph (Graves
  /// 2011); effective from the next `new_graph`. Zero: no noise. Throws ArgumentError for a
  /// negative or infinite value.
  void set_weightnoise(float std);

  /// Parameters of layer normalization by layer, and their nodes: gain and bias of Wh h, of Wx x,
  /// and of the cell. Empty without `ln_lstm`.
  std::vector<std::vector<Parameter>> ln_params;
  std::vector<std::vector<Expression>> ln_param_vars;

 protected:
  /// `masked`: the matrices Wx and Wh have untrained mask parameters.
  VanillaLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                     ParameterCollection& model, const char* name, bool ln_lstm, float forget_bias,
                     bool masked);
  void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) override;
  bool has_sequences() const override;
  void sequence(unsigned layer, const Expression& xs, bool reverse, LayerState& state,
                SourceLocation at) override;
  void prepare_graph(ComputationGraph& cg, bool update, Nodes& vars, SourceLocation at) override;
  /// Masks of Wx and Wh, by layer; empty unless `masked`.
  std::vector<std::vector<Parameter>> mask_params_;

 private:
  void normalized_step(unsigned layer, const Expression& x, LayerState& state,
                       SourceLocation at) const;
  Expression normalized_sums(unsigned layer, const Expression& x, const LayerState& state,
                             SourceLocation at) const;

  bool ln_ = false;
  float forget_bias_ = 1;
  float noise_ = 0;
  Nodes masks_, spare_ln_vars_;
};

/// DyNet's name of VanillaLSTMBuilder.
using LSTMBuilder = VanillaLSTMBuilder;

/// VanillaLSTMBuilder without options, for programs that use DyNet's fast variant.
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

/// VanillaLSTMBuilder with weight pruning: `set_sparsity` masks the smallest weights (Han et al.
/// 2015). The masks are untrained parameters, so that they are saved and copied with the model.
class SparseLSTMBuilder : public VanillaLSTMBuilder {
 public:
  SparseLSTMBuilder() = default;
  SparseLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                    ParameterCollection& model, bool ln_lstm = false, float forget_bias = 1.0f)
      : VanillaLSTMBuilder(layers, input_dim, hidden_dim, model, "vanilla-lstm-builder", ln_lstm,
                           forget_bias, true) {}
  SparseLSTMBuilder(ParameterCollection& model, const Settings& s)
      : SparseLSTMBuilder(s.layers, s.input_dim, s.hidden_dim, model, s.ln_lstm, s.forget_bias) {}

  /// Masks the `percent` of the weights of each matrix with the smallest magnitude, and unmasks all
  /// other weights; effective from the next `new_graph`. Masked weights get no gradient and keep
  /// their values, except for weight decay. Throws ArgumentError unless 0 <= percent <= 100.
  void set_sparsity(float percent);
};

}  // namespace dynet
