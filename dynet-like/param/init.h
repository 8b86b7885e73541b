#pragma once

#include <string>
#include <vector>

#include "dynet-like/base/random.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

/// Fills a new parameter. Constructors throw ArgumentError for numbers that are not finite.
/// `random` depends only on the collection's seed and the parameter's full name. One's own
/// overrides one of the two.
struct ParameterInit {
  virtual ~ParameterInit() = default;
  /// Fills `values`.
  virtual void initialize(Tensor& values, const RandomStream&) const { initialize_params(values); }
  /// DyNet's form, for what draws nothing or in its own way. Throws ArgumentError if there is none.
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

/// Uniform in +-gain sqrt(3 k / s), with k sizes that add up to s; the last size of a lookup table,
/// its number of rows, does not count. Filters {h,w,i,o} have s = hw(i+o), k = 2. Glorot and Bengio
/// 2010.
struct ParameterInitGlorot : ParameterInit {
  explicit ParameterInitGlorot(bool is_lookup = false, float gain = 1.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  bool lookup_;
  float gain_;
};

/// Gaussian with mean 0 and variance gain^2 / fan_in, by default for layers of rectifiers (He et
/// al. 2015). The fan-in is the number of values that one output depends on: columns of a matrix,
/// hwi of filters {h,w,i,o}, the product of all sizes but the first otherwise. Throws ShapeError
/// for a vector.
struct ParameterInitHe : ParameterInit {
  explicit ParameterInitHe(float gain = 1.41421356f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float gain_;
};

/// Gaussian with the given mean and variance, drawn again where it is further than `cutoff`
/// standard deviations from the mean, so that its own variance is smaller. Throws ArgumentError for
/// a negative variance and unless cutoff > 0.
struct ParameterInitTruncatedNormal : ParameterInit {
  explicit ParameterInitTruncatedNormal(float mean = 0.0f, float variance = 1.0f,
                                        float cutoff = 2.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float mean_, stddev_, cutoff_;
};

/// A random matrix with orthonormal rows or columns, whichever are fewer, times `gain`. Saxe et al.
/// 2014.
struct ParameterInitSaxe : ParameterInit {
  explicit ParameterInitSaxe(float gain = 1.0f);
  void initialize(Tensor& values, const RandomStream& random) const override;

 private:
  float gain_;
};

/// The numbers of a text file, separated by white space. Throws FileError unless they are exactly
/// as many as the parameter has.
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
