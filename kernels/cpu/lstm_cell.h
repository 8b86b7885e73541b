#pragma once

// The arithmetic of an LSTM cell with K previous cells. Its gates i, f_1, ..., f_K, o, g are
// numbered in this order.

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/elementary.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu::DYNET_ISA {

/// Stores or adds f(of) for n elements, where of(p) loads the vector at p. Vectorized explicitly,
/// since GCC's rounding in a plain loop depends on alignment.
template <class F>
[[gnu::always_inline]] inline void write(bool add, T* to, std::size_t n, F f) {
  each_vector<T>(n, [=](std::size_t at, auto part) {
    put(add, to + at, f([=](const T* p) { return Lanes<T>::load(p + at, part); }), part);
  });
}

/// Address of a gradient, and how it is written; null if it is not needed.
struct Target {
  T* to = nullptr;
  bool add = false;
};

/// c = i g + f before. Compiled once: which of the products is rounded is the compiler's choice.
void update_cell(std::size_t n, const T* i, const T* g, const T* f, const T* before, T* c);

/// y = h = o tanh(c) for c = i g + sum_k f_k c_k. A cell has its size `h`, the number `children` of
/// previous cells, memory for `c`, for `t` = tanh(c) and for each gate(j), and the addresses of the
/// sum(j) of the gates and of the cells previous(k). A sum may lie where its gate will.
template <class Cell>
[[gnu::always_inline]] inline void cell_forward(const Cell& s, T forget_bias, T* y) {
  const std::size_t output = 1 + s.children, content = 2 + s.children;
  for (std::size_t j = 0; j < content; ++j) {
    const T bias = j > 0 && j < output ? forget_bias : T(0);
    map_vectors(s.gate(j), s.sum(j), s.h, [=](auto v) { return logistic(v + bias); });
  }
  map_vectors(s.gate(content), s.sum(content), s.h, [](auto v) { return tanh(v); });
  const T *const in = s.gate(0), *const g = s.gate(content);
  if (s.children == 0) write(false, s.c, s.h, [=](auto of) { return of(in) * of(g); });
  for (std::size_t k = 0; k < s.children; ++k) {
    const T *const f = s.gate(1 + k), *const c = s.previous(k);
    if (k == 0)
      update_cell(s.h, in, g, f, c, s.c);
    else
      write(true, s.c, s.h, [=](auto of) { return of(f) * of(c); });
  }
  const T *const o = s.gate(output), *const t = s.t;
  map_vectors(s.t, s.c, s.h, [](auto v) { return tanh(v); });
  write(false, y, s.h, [=](auto of) { return of(o) * of(t); });
}

/// Gradients of a cell from those of h and c, of which one may be null. of_cell(k) and of_sum(j)
/// are the targets of the previous cells and of the sums; the target of a cell may be `dc`.
template <class Cell, class OfCell, class OfSum>
[[gnu::always_inline]] inline void cell_backward(const Cell& s, const T* dh, const T* dc,
                                                 OfCell of_cell, OfSum of_sum) {
  constexpr std::size_t kPart = 512;
  const std::size_t output = 1 + s.children, content = 2 + s.children;
  T d[kPart];  // the gradient of c: that of its users, and through h = o t
  for (std::size_t from = 0; from < s.h; from += kPart) {
    const std::size_t n = std::min(kPart, s.h - from);
    const T *const t = s.t + from, *const o = s.gate(output) + from;
    each_vector<T>(n, [&](std::size_t at, auto part) {
      const auto of = [=](const T* p) { return Lanes<T>::load(p + at, part); };
      typename Lanes<T>::V sum{};
      if (dc) sum = of(dc + from);
      if (dh) sum += of(dh + from) * of(o) * ((T(1) - of(t)) * (T(1) + of(t)));
      Lanes<T>::store(d + at, sum, part);
    });
    for (std::size_t k = 0; k < s.children; ++k) {
      const Target target = of_cell(k);
      const T* const f = s.gate(1 + k) + from;
      if (target.to)
        write(target.add, target.to + from, n, [=, &d](auto of) { return of(d) * of(f); });
    }
    for (std::size_t j = 0; j <= content; ++j) {
      const Target target = of_sum(j);
      if (!target.to) continue;
      T* const to = target.to + from;
      const T* const y = s.gate(j) + from;
      const auto gate = [&](const T* dy, const T* by) {
        write(target.add, to, n, [=](auto of) { return of(dy) * of(by) * of(y) * (T(1) - of(y)); });
      };
      if (j == content) {
        const T* const in = s.gate(0) + from;
        write(target.add, to, n,
              [=, &d](auto of) { return of(d) * of(in) * ((T(1) - of(y)) * (T(1) + of(y))); });
      } else if (j == output) {
        if (dh)
          gate(dh + from, t);
        else if (!target.add)
          std::fill_n(to, n, T(0));
      } else {
        gate(d, (j == 0 ? s.gate(content) : s.previous(j - 1)) + from);
      }
    }
  }
}

}  // namespace dynet::cpu::DYNET_ISA
