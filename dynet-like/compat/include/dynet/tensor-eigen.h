#pragma once

#include "dynet-like/compat/assert_cxx17.h"

// Tensors as Eigen's types, for programs that use Eigen; the library's own headers do not.

#if !__has_include(<Eigen/Core>) || !__has_include(<unsupported/Eigen/CXX11/Tensor>)
#error "dynet/tensor-eigen.h needs Eigen 3 in the include path"
#endif

#include <Eigen/Core>
#include <array>
#include <string>
#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>

#include "dynet-like/compat/core.h"

namespace dynet {
namespace compat_detail {

/// Sizes of t in `rank` dimensions, followed by the batch size if Total > rank. Throws ShapeError
/// if t has more dimensions.
template <std::size_t Total>
std::array<Eigen::Index, Total> sizes(const Tensor& t, unsigned rank) {
  if (t.d.rank() > rank || (rank == Total && t.d.bd != 1))
    throw ShapeError("a tensor " + to_string(t.d) + " is not one of rank " + std::to_string(rank) +
                     (rank == Total ? " without a batch" : ""));
  std::array<Eigen::Index, Total> n;
  for (unsigned k = 0; k < rank; ++k) n[k] = t.d[k];
  if (rank < Total) n[rank] = t.d.bd;
  return n;
}
inline Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

}  // namespace compat_detail

/// All values as a vector.
inline Eigen::Map<Eigen::VectorXf> vec(const Tensor& t) {
  return {t.v, compat_detail::index(t.d.size())};
}
/// A matrix, or a vector as one column, without a batch. Throws ShapeError.
inline Eigen::Map<Eigen::MatrixXf> mat(const Tensor& t) {
  const auto n = compat_detail::sizes<2>(t, 2);
  return {t.v, n[0], n[1]};
}
/// A matrix with the rows of t; all other dimensions, and the batch, are columns.
inline Eigen::Map<Eigen::MatrixXf> colbatch_matrix(const Tensor& t) {
  const std::size_t rows = t.d.rows();
  return {t.v, compat_detail::index(rows), compat_detail::index(rows ? t.d.size() / rows : 0)};
}
/// All values as a tensor of rank 1.
inline Eigen::TensorMap<Eigen::Tensor<float, 1>> tvec(const Tensor& t) {
  return {t.v, compat_detail::index(t.d.size())};
}
/// A tensor of rank `Order` without a batch. Throws ShapeError.
template <int Order>
Eigen::TensorMap<Eigen::Tensor<float, Order>> t(const Tensor& x) {
  return {x.v, compat_detail::sizes<Order>(x, Order)};
}
/// A tensor of rank `Order`, with the batch as a further last dimension. Throws ShapeError.
template <int Order>
Eigen::TensorMap<Eigen::Tensor<float, Order + 1>> tb(const Tensor& x) {
  return {x.v, compat_detail::sizes<Order + 1>(x, Order)};
}

}  // namespace dynet
