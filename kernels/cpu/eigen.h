#pragma once

// The only door to Eigen. Kernels see arrays and matrices over memory that they do not own.
#include <Eigen/Core>
#include <cstddef>
#include <type_traits>

namespace dynet::cpu {

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

/// A part of an array: `part(p)` is the array at p + at, of a fixed size unless N is
/// Eigen::Dynamic.
template <int N>
struct Part {
  std::size_t at, n;
  template <class T>
  auto operator()(T* p) const {
    using A = Eigen::Array<std::remove_const_t<T>, N, 1>;
    return Eigen::Map<std::conditional_t<std::is_const_v<T>, const A, A>>(p + at,
                                                                          static_cast<Index>(n));
  }
};

/// Calls f(part) for parts that cover n elements. Eigen uses its widest vectors for a size known at
/// run time and does the rest one by one, which for tanh and its like costs more than all the
/// vectors; here the rest goes by eight and four.
template <class F>
void for_parts(std::size_t n, F&& f) {
  std::size_t at = n / 16 * 16;
  if (at) f(Part<Eigen::Dynamic>{0, at});
  if (n - at >= 8) {
    f(Part<8>{at, 8});
    at += 8;
  }
  if (n - at >= 4) {
    f(Part<4>{at, 4});
    at += 4;
  }
  if (n > at) f(Part<Eigen::Dynamic>{at, n - at});
}

/// The first write of a gradient stores, later ones add.
template <class To, class From>
void store_or_add(bool add, To&& to, const From& from) {
  if (add)
    to += from;
  else
    to = from;
}

}  // namespace dynet::cpu
