#pragma once

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// Layer normalization: each column of x is normalized to mean zero and variance one, then scaled
/// and shifted by a gain and a bias of each row (Ba, Kiros, Hinton 2016):
///
///     y = g (x - mean) / sqrt(variance + epsilon) + b,   variance = sum_i (x_i - mean)^2 / size
///
/// x {size} or {size,T}; y likewise, with the batch of x.
///
/// `new_graph` must be called first; without it `apply` throws ArgumentError. A call that throws
/// leaves the layer unchanged.
class LayerNorm {
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

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y. Throws ShapeError for columns of another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameters: g {size} and b {size}.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  Parameter gain_, bias_;
  Expression gain_node_, bias_node_;
};

/// RMS normalization: each column of x is normalized to a mean square of one, then scaled by a gain
/// of each row (Zhang and Sennrich 2019, "Root mean square layer normalization"):
///
///     y = g x / sqrt(sum_i x_i^2 / size + epsilon)
///
/// x {size} or {size,T}; y likewise, with the batch of x.
///
/// `new_graph` must be called first; without it `apply` throws ArgumentError. A call that throws
/// leaves the layer unchanged.
class RMSNorm {
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

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y. Throws ShapeError for columns of another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameter: g {size}.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  Parameter gain_;
  Expression gain_node_;
};

}  // namespace dynet
