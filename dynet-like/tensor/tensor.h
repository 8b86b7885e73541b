#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include "dynet-like/shape/dim.h"

namespace dynet {

using real = float;

/// A view of values in column-major order, batch elements one after another. It owns nothing: a
/// view of a node lives until its graph is cleared, a view of a parameter as long as the parameter.
struct Tensor {
  Dim d;               ///< the shape
  float* v = nullptr;  ///< the first value

  /// Where batch element b begins; in a batch of one it is every b. Throws IndexError.
  float* batch_ptr(unsigned b) { return v + batch_offset(b); }
  const float* batch_ptr(unsigned b) const { return v + batch_offset(b); }
  /// A view of one batch element. Throws IndexError, in a batch of one too.
  Tensor batch_elem(unsigned b) const;
  std::vector<Tensor> batch_elems() const;
  /// No NaN and no infinity.
  bool is_valid() const;

 private:
  std::size_t batch_offset(unsigned b) const;
};

/// The only value. Throws ArgumentError unless there is exactly one.
real as_scalar(const Tensor& t);
/// All values, copied.
std::vector<real> as_vector(const Tensor& t);
/// All values times `a`.
std::vector<real> as_scale_vector(const Tensor& t, float a);

/// Rows of the matrix a line each; batch elements separated by an empty line.
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace dynet
