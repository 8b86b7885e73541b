#pragma once

#include "dynet-like/layers/recurrent/rnn.h"

namespace dynet {

/// Base of LSTMs with peepholes (gates that read the cell), whose input and forget gates add up to
/// one (Gers and Schmidhuber 2000):
///   i = logistic(Wi x_t + Ui h_{t-1} + Vi c_{t-1} + bi)
///   c_t = i tanh(Wc x_t + Uc h_{t-1} + bc) + (1 - i) c_{t-1}
///   o = logistic(Wo x_t + Uo h_{t-1} + Vo c_t + bo)
///   h_t = o tanh(c_t)
/// x {input_dim}, or a batch; outputs {hidden_dim} with the batch of x.
class PeepholeLSTMBuilder : public RNNBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    /// Arguments as in the constructor.
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim;
    }
  };
  /// Arguments of the constructor.
  Settings settings() const { return {layers_, input_dim_, hidden_dim_}; }

  using RNNBuilder::set_dropout;
  /// Variational dropout, with a third mask on the previous cell.
  void set_dropout(float d, float d_h, float d_c) { set_dropout_rates(d, d_h, d_c); }

 protected:
  PeepholeLSTMBuilder() = default;
  /// `blind`: no gate reads the cell; Vi and Vo are vectors that exist only in files.
  PeepholeLSTMBuilder(const Settings& s, ParameterCollection& model, const char* name, bool blind,
                      bool deep);
  void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) override;

 private:
  Expression gate(unsigned layer, unsigned gate, const Expression& x, const LayerState& state,
                  const Expression* c, SourceLocation at) const;

  bool blind_ = false;
};

/// PeepholeLSTMBuilder with matrices Vi and Vo.
class CoupledLSTMBuilder : public PeepholeLSTMBuilder {
 public:
  CoupledLSTMBuilder() = default;
  CoupledLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                     ParameterCollection& model)
      : CoupledLSTMBuilder(model, {layers, input_dim, hidden_dim}) {}
  CoupledLSTMBuilder(ParameterCollection& model, const Settings& s)
      : PeepholeLSTMBuilder(s, model, "lstm-builder", false, false) {}
};

/// PeepholeLSTMBuilder without peepholes. Vectors Vi and Vo are among the parameters, as in DyNet,
/// but are neither used nor trained.
class FastLSTMBuilder : public PeepholeLSTMBuilder {
 public:
  FastLSTMBuilder() = default;
  FastLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                  ParameterCollection& model)
      : FastLSTMBuilder(model, {layers, input_dim, hidden_dim}) {}
  FastLSTMBuilder(ParameterCollection& model, const Settings& s)
      : PeepholeLSTMBuilder(s, model, "fast-lstm-builder", true, false) {}
};

/// PeepholeLSTMBuilder with matrices Vi and Vo, in which every layer above the first reads x in
/// addition to the layer below. The output concatenates all layers, the first layer first:
/// {layers hidden_dim} (Graves 2013).
class DeepLSTMBuilder : public PeepholeLSTMBuilder {
 public:
  DeepLSTMBuilder() = default;
  DeepLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                  ParameterCollection& model)
      : DeepLSTMBuilder(model, {layers, input_dim, hidden_dim}) {}
  DeepLSTMBuilder(ParameterCollection& model, const Settings& s)
      : PeepholeLSTMBuilder(s, model, "deep-lstm-builder", false, true) {}
};

}  // namespace dynet
