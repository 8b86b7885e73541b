#pragma once

// The only door to Eigen. Kernels see arrays and matrices over memory that they do not own.
#include <Eigen/Core>
#include <cstddef>

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

/// The first write of a gradient stores, later ones add.
template <class To, class From>
void store_or_add(bool add, To&& to, const From& from) {
  if (add)
    to += from;
  else
    to = from;
}

}  // namespace dynet::cpu
