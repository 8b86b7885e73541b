#include "kernels/cpu/recurrent.h"

#include <algorithm>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu {
namespace {

// Operand k of every node at batch element e; an operand without a batch repeats.
template <class T>
struct Operand {
  Operand(const Batch<T>& b, std::size_t k) : step(b.dim(k).bd == 1 ? 0 : b.dim(k).batch_size()) {}
  template <class P>
  P* at(P* p, std::size_t e) const {
    return p + e * step;
  }
  // Whether the write for element e adds: later elements do when all share one operand.
  bool adds(bool first_adds, std::size_t e) const { return first_adds || (step == 0 && e > 0); }
  std::size_t step;
};

// to[r] = f(r) or to[r] += f(r). A plain loop: parts of a state seldom lie on a border, and Eigen
// would do their ends one by one.
template <class T, class F>
void write(bool add, T* __restrict to, std::size_t n, F f) {
  if (add)
    for (std::size_t r = 0; r < n; ++r) to[r] += f(r);
  else
    for (std::size_t r = 0; r < n; ++r) to[r] = f(r);
}

}  // namespace

template <class T>
void lstm_activate_forward(const Batch<T>& b) {
  const auto bias = static_cast<T>(b.template attr<LstmGatesAttr>().forget_bias);
  const std::size_t n = b.dim().batch_size(), h = n / 4, batch = b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < batch; ++e) {
      const T* x = b.in(0, i) + e * n;
      T* y = b.out(i) + e * n;
      // logistic(x) = (1 + tanh(x / 2)) / 2, so that all gates are one array for tanh.
      array(y, h) = array(x, h) * T(0.5);
      array(y + h, h) = (array(x + h, h) + bias) * T(0.5);
      array(y + 2 * h, h) = array(x + 2 * h, h) * T(0.5);
      array(y + 3 * h, h) = array(x + 3 * h, h);
      map_vectors(y, y, n, [](const auto& v) { return v.tanh(); });
      array(y, 3 * h) = T(0.5) + T(0.5) * array(y, 3 * h);
    }
}

template <class T>
void lstm_activate_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().batch_size(), h = n / 4, batch = b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t e = 0; e < batch; ++e) {
      const T *y = b.out(i) + e * n, *dy = b.d_out(i) + e * n;
      T* dx = b.d_in(0, i) + e * n;
      write(b.add(0, i), dx, 3 * h, [&](std::size_t r) { return dy[r] * y[r] * (T(1) - y[r]); });
      dx += 3 * h, dy += 3 * h, y += 3 * h;
      write(b.add(0, i), dx, h, [&](std::size_t r) { return dy[r] * (T(1) - y[r] * y[r]); });
    }
  }
}

template <class T>
void lstm_cell_forward(const Batch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand<T> cells(b, 0), gates(b, 1);
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < batch; ++e) {
      const T *c = cells.at(b.in(0, i), e), *g = gates.at(b.in(1, i), e);
      write(false, b.out(i) + e * h, h,
            [&](std::size_t r) { return g[r] * g[3 * h + r] + g[h + r] * c[r]; });
    }
}

template <class T>
void lstm_cell_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand<T> cells(b, 0), gates(b, 1);
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dc = b.d_in(0, i))
      for (std::size_t e = 0; e < batch; ++e) {
        const T *f = gates.at(b.in(1, i), e) + h, *dy = b.d_out(i) + e * h;
        write(cells.adds(b.add(0, i), e), cells.at(dc, e), h,
              [&](std::size_t r) { return dy[r] * f[r]; });
      }
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dg = b.d_in(1, i))
      for (std::size_t e = 0; e < batch; ++e) {
        const T *c = cells.at(b.in(0, i), e), *g = gates.at(b.in(1, i), e);
        const T* dy = b.d_out(i) + e * h;
        T* to = gates.at(dg, e);
        const bool add = gates.adds(b.add(1, i), e);
        write(add, to, h, [&](std::size_t r) { return dy[r] * g[3 * h + r]; });
        write(add, to + h, h, [&](std::size_t r) { return dy[r] * c[r]; });
        if (!add) std::fill_n(to + 2 * h, h, T(0));
        write(add, to + 3 * h, h, [&](std::size_t r) { return dy[r] * g[r]; });
      }
}

template <class T>
void lstm_output_forward(const Batch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand<T> cells(b, 0), gates(b, 1);
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < batch; ++e) {
      const T *c = cells.at(b.in(0, i), e), *g = gates.at(b.in(1, i), e);
      T* t = b.aux(i) + e * h;
      map_vectors(t, c, h, [](const auto& v) { return v.tanh(); });
      write(false, b.out(i) + e * h, h, [&](std::size_t r) { return g[2 * h + r] * t[r]; });
    }
}

template <class T>
void lstm_output_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand<T> cells(b, 0), gates(b, 1);
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dc = b.d_in(0, i))
      for (std::size_t e = 0; e < batch; ++e) {
        const T *o = gates.at(b.in(1, i), e) + 2 * h, *dy = b.d_out(i) + e * h;
        const T* t = b.aux(i) + e * h;
        write(cells.adds(b.add(0, i), e), cells.at(dc, e), h,
              [&](std::size_t r) { return dy[r] * o[r] * (T(1) - t[r] * t[r]); });
      }
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dg = b.d_in(1, i))
      for (std::size_t e = 0; e < batch; ++e) {
        const T *t = b.aux(i) + e * h, *dy = b.d_out(i) + e * h;
        T* to = gates.at(dg, e);
        const bool add = gates.adds(b.add(1, i), e);
        if (!add) {
          std::fill_n(to, 2 * h, T(0));
          std::fill_n(to + 3 * h, h, T(0));
        }
        write(add, to + 2 * h, h, [&](std::size_t r) { return dy[r] * t[r]; });
      }
}

#define DYNET_INSTANTIATE(T)                                     \
  template void lstm_activate_forward(const Batch<T>&);          \
  template void lstm_activate_backward(const GradientBatch<T>&); \
  template void lstm_cell_forward(const Batch<T>&);              \
  template void lstm_cell_backward(const GradientBatch<T>&);     \
  template void lstm_output_forward(const Batch<T>&);            \
  template void lstm_output_backward(const GradientBatch<T>&);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)

}  // namespace dynet::cpu
