#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/shape/tensor.h"

namespace dynet {

/// Zeros of this shape; the memory lives as long as the tensor or a copy of it.
Tensor make_tensor(const Dim& dim);

/// Indices in the shape of a tensor, column-major.
struct IndexTensor {
  Dim d;
  std::vector<std::ptrdiff_t> v;
};
std::vector<std::ptrdiff_t> as_vector(const IndexTensor& t);
/// The index of a tensor with one element. Throws ArgumentError for other sizes.
std::ptrdiff_t as_scalar(const IndexTensor& t);

/// DyNet's functions that read and write tensors in place. Draws use `rndeng`. Errors: IndexError
/// for elements and dimensions, ShapeError for shapes, ArgumentError otherwise.
struct TensorTools {
  /// Clamps values to [left, right].
  static void clip(Tensor& t, float left, float right);
  /// x <- left + (right - left) x: maps uniform draws from [0, 1) to [left, right).
  static void scale(Tensor& t, float left, float right);
  /// One where a uniform draw is below p, otherwise zero.
  static void uniform_to_bernoulli(Tensor& t, float p);
  static void constant(Tensor& t, float c);
  static void zero(Tensor& t);
  /// The identity matrix; t must be square. In a batch, sets every batch element.
  static void identity(Tensor& t);

  /// `scale` with probability p, otherwise zero.
  static void randomize_bernoulli(Tensor& t, real p, real scale = 1.0f);
  static void randomize_normal(Tensor& t, real mean = 0.0f, real stddev = 1.0f);
  static void randomize_uniform(Tensor& t, real left = 0.0f, real right = 1.0f);
  /// See ParameterInitSaxe.
  static void randomize_orthonormal(Tensor& t, real scale = 1.0f);

  /// Element by offset in memory, or by one index for each dimension.
  static float access_element(const Tensor& t, int index);
  static float access_element(const Tensor& t, const Dim& index);
  static void set_element(const Tensor& t, int index, float value);
  /// Copies element `from` of `source` to element `to` of `target`.
  static void copy_element(const Tensor& source, int from, Tensor& target, int to);
  static void set_elements(const Tensor& t, const std::vector<float>& values);
  static void copy_elements(Tensor& target, const Tensor& source);
  /// target <- target + source
  static void accumulate(Tensor& target, const Tensor& source);
  /// Along dimension d: m = max_i x_i, z = log sum_i e^x_i. Both have the shape of x without
  /// dimension d, or with size one there.
  static void logsumexp(const Tensor& x, Tensor& m, Tensor& z, unsigned d = 0);

  /// Indices of the `num` largest elements along `dim`, largest first, of equal elements the first:
  /// the shape of t with `num` along `dim`.
  static IndexTensor argmax(const Tensor& t, unsigned dim = 0, unsigned num = 1);
  /// The `num` largest elements along `dim`, and their indices as in argmax.
  static std::pair<Tensor, IndexTensor> topk(const Tensor& t, unsigned dim = 0, unsigned num = 1);
  /// `num` indices along `dim`, drawn independently from the log-probabilities t.
  static IndexTensor categorical_sample_log_prob(const Tensor& t, unsigned dim = 0,
                                                 unsigned num = 1);
};

}  // namespace dynet
