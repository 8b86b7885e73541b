#pragma once

#include <cstddef>

#include "kernels/cpu/isa.h"

namespace dynet::cpu::DYNET_ISA {

/// An LSTM cell with K previous cells of size h. Its gates i, f_1, ..., f_K, o, g are numbered in
/// this order.
template <class U>
struct LstmCell {
  std::size_t h, children;
  const U* const* previous;  ///< K cells
  const U* const* sums;      ///< one for each gate; may lie where its gate will
  U* gates;                  ///< one behind the other
  U *c, *t;                  ///< t = tanh(c)
};

/// y = h = o tanh(c) for c = i g + sum_k f_k c_k, with gates, c and t for backward.
void cell_forward(LstmCell<T> s, T forget_bias, T* y);

/// Address of a gradient, and how it is written; null if it is not needed.
template <class U>
struct Target {
  U* to = nullptr;
  bool add = false;
};

/// Gradients of the results h and c, each a sum of at most two parts of which null ones are zeros,
/// and the targets of the previous cells and of the sums. The target of a cell may be a part of dc.
template <class U>
struct CellGradients {
  const U *dh[2], *dc[2];
  const Target<U>*cells, *sums;
};
void cell_backward(LstmCell<T> s, CellGradients<T> d);

}  // namespace dynet::cpu::DYNET_ISA
