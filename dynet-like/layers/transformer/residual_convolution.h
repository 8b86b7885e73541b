#pragma once

#include <array>

#include "dynet-like/layers/layer_base.h"

namespace dynet {

/// Group normalization with one group (Wu and He 2018, "Group normalization"): an image is
/// normalized to mean zero and variance one over all positions and channels, then scaled and
/// shifted by a gain and a bias of each channel:
///
///     y_{i,j,c} = g_c (x_{i,j,c} - mean) / sqrt(variance + epsilon) + b_c
///
/// x {H,W,channels}; y likewise, with the batch of x. Each image is normalized by itself, so
/// results are equal in training and in inference, and independent of the batch. One call for a
/// batch of images is faster than one call for each image, which adds g and b to the graph again.
///
/// Parameters: g {1,1,channels} and b {1,1,channels}.
class ImageNorm : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned channels = 0;  ///< of x
    float epsilon = 1e-5f;  ///< as in the formula
    float gain = 1;         ///< initial value of g

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& channels& epsilon& gain;
    }
  };

  /// Throws ArgumentError for zero channels, and for an epsilon that is negative or not finite. The
  /// initial value of b is 0.
  ImageNorm(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  ImageNorm() = default;

  /// y. Throws ShapeError for another number of channels.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  Weight gain_, bias_;
};

/// Two convolutions with a shortcut connection (He et al. 2016, "Deep residual learning for image
/// recognition"), with ImageNorm in place of batch normalization:
///
///     y = relu(x + norm2(f2 * relu(norm1(f1 * x))))
///
/// where f * x is conv2d with stride one and zero padding. x {H,W,channels}; y likewise, with the
/// batch of x.
///
/// Parameters: f1 and f2 {window,window,channels,channels}, then those of the norms.
class ResidualConvolution : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned channels = 0;  ///< of x and y
    unsigned window = 3;    ///< height and width of the filters
    float epsilon = 1e-5f;  ///< of the norms

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& channels& window& epsilon;
    }
  };

  /// Throws ArgumentError for a size of zero, and for an epsilon that ImageNorm rejects. Filters
  /// are initialized with variance 2 / (window^2 channels) (He et al. 2015), and the gain of norm2
  /// with 0, so that initially y = relu(x) and large steps do no harm (Goyal et al. 2017).
  ResidualConvolution(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  ResidualConvolution() = default;

  /// y. Throws ShapeError for another number of channels.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Dropout of the input of the second convolution, with a new mask for each call. Throws
  /// ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate);
  /// Turns dropout off.
  void disable_dropout() { set_dropout(0); }

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  std::array<Weight, 2> filters_;
  std::array<ImageNorm, 2> norms_;
  float dropout_ = 0;
};

}  // namespace dynet
