#pragma once

#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {

/// Sum of piece(x) over an array, accumulated piece by piece in double, so that the error does not
/// grow with the length.
template <class T, class F>
T sum_pieces(const T* x, std::size_t n, F piece) {
  constexpr std::size_t kPiece = 1024;
  double sum = 0;
  for (std::size_t at = 0; at < n; at += kPiece)
    sum += static_cast<double>(sum_in_order(piece(array(x + at, std::min(kPiece, n - at)))));
  return static_cast<T>(sum);
}

}  // namespace dynet::cpu::DYNET_ISA
