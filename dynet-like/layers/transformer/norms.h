#pragma once

#include "dynet-like/layers/layer_base.h"

namespace dynet {

/// Layer normalization: each column of x is normalized to mean zero and variance one, then scaled
/// and shifted by a gain and a bias of each row (Ba, Kiros, Hinton 2016):
///
///     y = g (x - mean) / sqrt(variance + epsilon) + b,   variance = sum_i (x_i - mean)^2 / size
///
/// x {size} or {size,T}; y likewise, with the batch of x.
///
/// Parameters: g {size} and b {size}.
class LayerNorm : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned size = 0;      ///< of a column
    bool bias = true;       ///< b
    float epsilon = 1e-5f;  ///< as in the formula

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size& bias& epsilon;
    }
  };

  /// Throws ArgumentError for a size of zero, and for an epsilon that is negative or not finite.
  /// Initial values: 1 for g, 0 for b.
  LayerNorm(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  LayerNorm() = default;

  /// y. Throws ShapeError for columns of another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  Weight gain_, bias_;
};

/// RMS normalization: each column of x is normalized to a mean square of one, then scaled by a gain
/// of each row (Zhang and Sennrich 2019, "Root mean square layer normalization"):
///
///     y = g x / sqrt(sum_i x_i^2 / size + epsilon)
///
/// x {size} or {size,T}; y likewise, with the batch of x.
///
/// Parameters: g {size}.
class RMSNorm : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned size = 0;      ///< of a column
    float epsilon = 1e-6f;  ///< as in the formula

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size& epsilon;
    }
  };

  /// Throws ArgumentError for a size of zero, and for an epsilon that is not above zero or not
  /// finite. The initial value of g is 1.
  RMSNorm(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  RMSNorm() = default;

  /// y. Throws ShapeError for columns of another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  Weight gain_;
};

}  // namespace dynet
