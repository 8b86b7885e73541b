#pragma once

#include <array>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// An image brought to mean zero and variance one, over all its places and channels, then to a gain
/// and a bias of each channel (Wu and He 2018, "Group normalization", with one group):
///
///     y_{i,j,c} = g_c (x_{i,j,c} - mean) / sqrt(variance + epsilon) + b_c
///
/// x {H,W,channels}; y likewise, with the batch of x. Each image is normalized by itself, so the
/// same is computed in training and later, and whatever else is in its batch. One call for a batch
/// of images is faster than a call for each, which puts g and b into the graph again.
///
/// `new_graph` comes first; without it `apply` throws ArgumentError. After an error the layer is as
/// before.
class ImageNorm {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned channels = 0;  ///< of x
    float epsilon = 1e-5f;  ///< as in the formula
    float gain = 1;         ///< what g begins with

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& channels& epsilon& gain;
    }
  };

  /// Throws ArgumentError without channels, and for an epsilon that is negative or not finite. b
  /// begins with 0.
  ImageNorm(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  ImageNorm() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y. Throws ShapeError for another number of channels.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameters: g {1,1,channels} and b {1,1,channels}.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  Parameter gain_, bias_;
  Expression gain_node_, bias_node_;
};

/// Two convolutions and a way around them (He et al. 2016, "Deep residual learning for image
/// recognition"), with ImageNorm where they have batch normalization:
///
///     y = relu(x + norm2(f2 * relu(norm1(f1 * x))))
///
/// where f * x is conv2d with zeros around the image, by steps of one. x {H,W,channels}; y
/// likewise, with the batch of x.
///
/// `new_graph` comes first; without it `apply` throws ArgumentError. After an error the layer is as
/// before.
class ResidualConvolution {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned channels = 0;  ///< of x and y
    unsigned window = 3;    ///< height and width of the filters
    float epsilon = 1e-5f;  ///< of the norms

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& channels& window& epsilon;
    }
  };

  /// Throws ArgumentError for a size of zero, and for an epsilon that ImageNorm refuses. The
  /// filters begin with a variance of 2 / (window^2 channels) (He et al. 2015), the gain of norm2
  /// with 0, so that y begins as relu(x) and large steps do no harm (Goyal et al. 2017).
  ResidualConvolution(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  ResidualConvolution() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y. Throws ShapeError for another number of channels.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Dropout of the input of the second convolution, with a new mask in each call. Throws
  /// ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate);
  /// No dropout from now on.
  void disable_dropout() { set_dropout(0); }

  /// Collection of the parameters: f1 and f2 {window,window,channels,channels}, then those of the
  /// norms.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  std::array<Parameter, 2> filters_;
  std::array<Expression, 2> filter_nodes_;
  std::array<ImageNorm, 2> norms_;
  float dropout_ = 0;
};

}  // namespace dynet
