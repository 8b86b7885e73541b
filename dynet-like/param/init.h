#pragma once

#include <string>
#include <vector>

#include "dynet-like/base/random.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

/// Initializer of a new parameter. Constructors throw ArgumentError for numbers that are not
/// finite. `random` depends only on the collection's seed and the parameter's full name. Subclasses
/// override one of the two members.
struct ParameterInit {
  virtual ~ParameterInit() = default;
  /// Sets all of `values`, with draws from `random`.
  virtual void initialize(Tensor& values, const RandomStream&) const { initialize_params(values); }
  /// DyNet's interface, for initializers that need no RandomStream. The default throws
  /// ArgumentError.
  virtual void initialize_params(Tensor& values) const;
};

/// Gaussian with the given mean and variance.
struct ParameterInitNormal : ParameterInit {
  explicit ParameterInitNormal(float mean = 0.0f, float variance = 1.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float mean_, stddev_;
};

/// Uniform in [-scale, scale) or [left, right).
struct ParameterInitUniform : ParameterInit {
  explicit ParameterInitUniform(float scale);
  ParameterInitUniform(float left, float right);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float left_, right_;
};

/// Every value `c`.
struct ParameterInitConst : ParameterInit {
  explicit ParameterInitConst(float c);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float c_;
};

/// The identity; the shape must be a square matrix.
struct ParameterInitIdentity : ParameterInit {
  void initialize(Tensor& values, const RandomStream& random) const override;
};

/// Uniform in +-gain sqrt(3 k / s), where s is the sum of the k sizes of the shape; of a lookup
/// table without the last size, the number of rows. Filters {h,w,i,o} have s = hw(i+o), k = 2.
/// Glorot and Bengio 2010.
struct ParameterInitGlorot : ParameterInit {
  explicit ParameterInitGlorot(bool is_lookup = false, float gain = 1.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  bool lookup_;
  float gain_;
};

/// Gaussian with mean 0 and variance gain^2 / fan_in, with the default gain for rectifiers (He et
/// al. 2015). The fan-in is the number of values that one output depends on: columns of a matrix,
/// hwi of filters {h,w,i,o}, the product of all sizes but the first otherwise. Throws ShapeError
/// for a vector.
struct ParameterInitHe : ParameterInit {
  explicit ParameterInitHe(float gain = 1.41421356f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float gain_;
};

/// Gaussian with the given mean and variance, redrawn beyond `cutoff` standard deviations from the
/// mean, so that the resulting variance is smaller. Throws ArgumentError for a negative variance
/// and unless cutoff > 0.
struct ParameterInitTruncatedNormal : ParameterInit {
  explicit ParameterInitTruncatedNormal(float mean = 0.0f, float variance = 1.0f,
                                        float cutoff = 2.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float mean_, stddev_, cutoff_;
};

/// `gain` times a random matrix whose rows or columns, whichever are fewer, are orthonormal. Saxe
/// et al. 2014.
struct ParameterInitSaxe : ParameterInit {
  explicit ParameterInitSaxe(float gain = 1.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float gain_;
};

/// Numbers of a text file, separated by white space. Throws FileError unless their count is the
/// size of the parameter.
struct ParameterInitFromFile : ParameterInit {
  explicit ParameterInitFromFile(std::string path) : path_(std::move(path)) {}
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  std::string path_;
};

/// The given values, column-major.
struct ParameterInitFromVector : ParameterInit {
  explicit ParameterInitFromVector(std::vector<float> values) : values_(std::move(values)) {}
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  std::vector<float> values_;
};

}  // namespace dynet
