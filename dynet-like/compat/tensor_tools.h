#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/shape/tensor.h"

namespace dynet {

/// Zeros of this shape, which live as long as the tensor or a copy of it.
Tensor make_tensor(const Dim& dim);

/// Indices in the shape of a tensor, column-major.
struct IndexTensor {
  Dim d;
  std::vector<std::ptrdiff_t> v;
};
std::vector<std::ptrdiff_t> as_vector(const IndexTensor& t);
/// The only one. Throws ArgumentError unless there is exactly one.
std::ptrdiff_t as_scalar(const IndexTensor& t);

/// DyNet's ways to read and write tensors where they lie. Draws are those of `rndeng`. Errors:
/// IndexError for elements and dimensions, ShapeError for shapes, ArgumentError otherwise.
struct TensorTools {
  /// Values limited to [left, right].
  static void clip(Tensor& t, float left, float right);
  /// x <- left + (right - left) x: uniform draws of [0, 1) become those of [left, right).
  static void scale(Tensor& t, float left, float right);
  /// One where a uniform draw is below p, else zero.
  static void uniform_to_bernoulli(Tensor& t, float p);
  static void constant(Tensor& t, float c);
  static void zero(Tensor& t);
  /// Needs a square matrix; in a batch every element.
  static void identity(Tensor& t);

  /// `scale` with probability p, else zero.
  static void randomize_bernoulli(Tensor& t, real p, real scale = 1.0f);
  static void randomize_normal(Tensor& t, real mean = 0.0f, real stddev = 1.0f);
  static void randomize_uniform(Tensor& t, real left = 0.0f, real right = 1.0f);
  /// See ParameterInitSaxe.
  static void randomize_orthonormal(Tensor& t, real scale = 1.0f);

  /// By offset in memory, or by one index for each size.
  static float access_element(const Tensor& t, int index);
  static float access_element(const Tensor& t, const Dim& index);
  static void set_element(const Tensor& t, int index, float value);
  /// Element `from` of `source` goes to element `to` of `target`.
  static void copy_element(const Tensor& source, int from, Tensor& target, int to);
  static void set_elements(const Tensor& t, const std::vector<float>& values);
  static void copy_elements(Tensor& target, const Tensor& source);
  /// target <- target + source
  static void accumulate(Tensor& target, const Tensor& source);
  /// Along dimension d: m the largest elements, z = log sum_i e^x_i. Both have the shape of x
  /// without dimension d, or with size one there.
  static void logsumexp(const Tensor& x, Tensor& m, Tensor& z, unsigned d = 0);

  /// The indices along `dim` of the `num` largest elements, largest first, of equal ones the first:
  /// the shape of t with `num` along `dim`.
  static IndexTensor argmax(const Tensor& t, unsigned dim = 0, unsigned num = 1);
  /// The same with the elements.
  static std::pair<Tensor, IndexTensor> topk(const Tensor& t, unsigned dim = 0, unsigned num = 1);
  /// `num` indices along `dim`, each sampled with the probability of which t holds the logarithm.
  static IndexTensor categorical_sample_log_prob(const Tensor& t, unsigned dim = 0,
                                                 unsigned num = 1);
};

}  // namespace dynet
