#pragma once

#include "dynet-like/layers/transformer/linear.h"

namespace dynet {

/// Function between the two layers of a FeedForward.
enum class Activation {
  relu,   ///< max(x, 0)
  gelu,   ///< x P(N(0, 1) <= x), exactly (Hendrycks and Gimpel 2016)
  swiglu  ///< silu(V x + c) * (W x + b) (Shazeer 2020)
};

/// Two layers with an activation in between, applied to each column of x:
///
///     relu, gelu:  y = W2 a(W1 x + b1) + b2
///     swiglu:      y = W2 (silu(V x + c) * (W1 x + b1)) + b2,   silu(z) = z / (1 + e^-z)
///
/// x {size} or {size,T}; y likewise, with the batch of x.
///
/// Parameters: W1, b1, W2, b2, V, c.
class FeedForward : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned size = 0;                         ///< of x and y
    unsigned hidden = 0;                       ///< of the hidden layer
    Activation activation = Activation::relu;  ///< a
    bool bias = true;                          ///< b1, b2 and c

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size& hidden& activation& bias;
    }
  };

  /// Throws ArgumentError for a size of zero.
  FeedForward(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  FeedForward() = default;

  /// y. Throws ShapeError for columns of another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Dropout of W2's input, a new mask for each call. Throws ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate);
  /// Turns dropout off.
  void disable_dropout() { set_dropout(0); }

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  Linear up_, down_, gate_;
  float dropout_ = 0;
};

}  // namespace dynet
