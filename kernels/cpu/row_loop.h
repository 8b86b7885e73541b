#pragma once

#include <array>

#include "dynet-like/shape/dim.h"
#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {

/// Loop that implements the broadcasting rule: rows of `inner` elements of the result; along a row
/// each operand advances or repeats one element, and row offsets follow from the outer dimensions.
template <std::size_t N>
struct RowLoop {
  std::size_t inner = 1;
  std::array<bool, N> moves{};  // operand k advances along a row
  unsigned outer = 0;           // number of outer dimensions
  std::array<std::size_t, kMaxTensorDim + 1> extent{};
  std::array<std::array<std::size_t, kMaxTensorDim + 1>, N> stride{};

  RowLoop(const Dim& out, const std::array<const Dim*, N>& operands) {
    std::array<std::size_t, N> step;
    step.fill(1);
    std::array<std::array<bool, N>, kMaxTensorDim + 1> along{};
    std::array<std::size_t, kMaxTensorDim + 1> size{};
    std::array<std::array<std::size_t, N>, kMaxTensorDim + 1> steps{};
    unsigned n = 0;
    for (unsigned i = 0; i <= out.nd; ++i) {
      const std::size_t s = i < out.nd ? out.d[i] : out.bd;
      if (s == 1) continue;  // size 1 in every operand
      std::array<bool, N> here{};
      for (std::size_t k = 0; k < N; ++k) {
        const Dim& d = *operands[k];
        here[k] = (i < out.nd ? d[i] : d.bd) != 1;
      }
      if (n && here == along[n - 1]) {
        size[n - 1] *= s;
      } else {
        size[n] = s;
        along[n] = here;
        steps[n] = step;
        ++n;
      }
      for (std::size_t k = 0; k < N; ++k)
        if (here[k]) step[k] *= s;
    }
    if (n == 0) {
      moves.fill(true);
      return;
    }
    inner = size[0];
    moves = along[0];
    outer = n - 1;
    for (unsigned i = 1; i < n; ++i) {
      extent[i - 1] = size[i];
      for (std::size_t k = 0; k < N; ++k) stride[k][i - 1] = along[i][k] ? steps[i][k] : 0;
    }
  }

  /// Calls row(offset in the result, offsets in the operands) for every row.
  template <class Row>
  void each(Row&& row) const {
    std::array<std::size_t, kMaxTensorDim + 1> at{};
    std::array<std::size_t, N> offset{};
    std::size_t rows = inner ? 1 : 0;
    for (unsigned i = 0; i < outer; ++i) rows *= extent[i];
    for (std::size_t r = 0; r < rows; ++r) {
      row(r * inner, offset);
      for (unsigned i = 0; i < outer; ++i) {
        for (std::size_t k = 0; k < N; ++k) offset[k] += stride[k][i];
        if (++at[i] < extent[i]) break;
        for (std::size_t k = 0; k < N; ++k) offset[k] -= stride[k][i] * extent[i];
        at[i] = 0;
      }
    }
  }
};

/// Adds a row of gradients to an operand's row, or their sum to its single element.
template <class T, class Row>
void accumulate(bool moves, T* to, std::size_t n, const Row& row) {
  if (moves)
    array(to, n) += row;
  else
    *to += sum_in_order(row);
}

}  // namespace dynet::cpu::DYNET_ISA
