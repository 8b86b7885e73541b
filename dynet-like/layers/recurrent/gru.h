#pragma once

#include "dynet-like/layers/recurrent/rnn.h"

namespace dynet {

/// A gated recurrent unit, in layers (Cho et al. 2014, in the form of Chung et al. 2014):
///   z = logistic(Wz x_t + Uz h_{t-1} + bz)
///   r = logistic(Wr x_t + Ur h_{t-1} + br)
///   h_t = (1 - z) h_{t-1} + z tanh(Wh x_t + Uh (r h_{t-1}) + bh)
/// x {input_dim}, or a batch; outputs {hidden_dim} with the batch of x.
class GRUBuilder : public RNNBuilder {
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

  GRUBuilder() = default;
  GRUBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim, ParameterCollection& model);
  GRUBuilder(ParameterCollection& model, const Settings& s)
      : GRUBuilder(s.layers, s.input_dim, s.hidden_dim, model) {}
  /// Arguments of the constructor.
  Settings settings() const { return {layers_, input_dim_, hidden_dim_}; }

 protected:
  void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) override;
};

}  // namespace dynet
