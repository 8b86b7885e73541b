#pragma once

// Includes Eigen, here only. Kernels use arrays and matrices as views.
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace dynet::cpu::DYNET_ISA {

using Index = Eigen::Index;

template <class T>
using ArrayMap = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstArrayMap = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using MatrixMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;
template <class T>
using ConstMatrixMap = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;

template <class T>
ArrayMap<T> array(T* p, std::size_t n) {
  return {p, static_cast<Index>(n)};
}
template <class T>
ConstArrayMap<T> array(const T* p, std::size_t n) {
  return {p, static_cast<Index>(n)};
}
template <class T>
MatrixMap<T> matrix(T* p, std::size_t rows, std::size_t cols) {
  return {p, static_cast<Index>(rows), static_cast<Index>(cols)};
}
template <class T>
ConstMatrixMap<T> matrix(const T* p, std::size_t rows, std::size_t cols) {
  return {p, static_cast<Index>(rows), static_cast<Index>(cols)};
}

/// Sum of an array in an order independent of its alignment, unlike Eigen's sum. Not for a
/// `select`: GCC 12 miscompiles it for AVX2.
template <class X>
typename X::Scalar sum_in_order(const X& x) {
  using Number = typename X::Scalar;
  constexpr int kWide = 64 / sizeof(Number);
  const Index n = x.size(), whole = n / kWide * kWide;
  Eigen::Array<Number, kWide, 1> sums = Eigen::Array<Number, kWide, 1>::Zero();
  for (Index at = 0; at < whole; at += kWide) sums += x.template segment<kWide>(at);
  for (Index at = whole; at < n; ++at) sums[at - whole] += x.coeff(at);
  return sums.sum();
}

/// The first write of a gradient stores, later writes add.
template <class To, class From>
void store_or_add(bool add, To&& to, const From& from) {
  if (add)
    to += from;
  else
    to = from;
}

}  // namespace dynet::cpu::DYNET_ISA
