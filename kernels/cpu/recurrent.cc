#include "kernels/cpu/recurrent.h"

#include <algorithm>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu {
namespace {

// Operand k of a node at batch element e; an operand without a batch repeats.
template <class T, class P>
P* element(const Batch<T>& b, std::size_t k, P* p, std::size_t e) {
  const Dim& d = b.dim(k);
  return p + (d.bd == 1 ? 0 : e * d.batch_size());
}
// Whether the write for element e adds: later elements do when all share one operand.
template <class T>
bool adds(const GradientBatch<T>& b, std::size_t k, std::size_t i, std::size_t e) {
  return b.add(k, i) || (b.dim(k).bd == 1 && e > 0);
}

}  // namespace

template <class T>
void lstm_activate_forward(const Batch<T>& b) {
  const auto bias = static_cast<T>(b.template attr<LstmGatesAttr>().forget_bias);
  const std::size_t n = b.dim().batch_size(), h = n / 4;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T* x = b.in(0, i) + e * n;
      T* y = b.out(i) + e * n;
      // The bias first, so that the three logistic gates are one array.
      array(y, h) = array(x, h);
      array(y + h, h) = array(x + h, h) + bias;
      array(y + 2 * h, h) = array(x + 2 * h, h);
      for_parts(3 * h, [&](auto part) { part(y) = T(0.5) + T(0.5) * (T(0.5) * part(y)).tanh(); });
      for_parts(h, [&](auto part) { part(y + 3 * h) = part(x + 3 * h).tanh(); });
    }
}

template <class T>
void lstm_activate_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().batch_size(), h = n / 4;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T *y = b.out(i) + e * n, *dy = b.d_out(i) + e * n;
      T* dx = b.d_in(0, i) + e * n;
      const auto s = array(y, 3 * h);
      store_or_add(b.add(0, i), array(dx, 3 * h), array(dy, 3 * h) * s * (T(1) - s));
      store_or_add(b.add(0, i), array(dx + 3 * h, h),
                   array(dy + 3 * h, h) * (T(1) - array(y + 3 * h, h).square()));
    }
  }
}

template <class T>
void lstm_cell_forward(const Batch<T>& b) {
  const std::size_t h = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T *c = element(b, 0, b.in(0, i), e), *g = element(b, 1, b.in(1, i), e);
      array(b.out(i) + e * h, h) =
          array(g, h) * array(g + 3 * h, h) + array(g + h, h) * array(c, h);
    }
}

template <class T>
void lstm_cell_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dc = b.d_in(0, i))
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const T* g = element(b, 1, b.in(1, i), e);
        store_or_add(adds(b, 0, i, e), array(element(b, 0, dc, e), h),
                     array(b.d_out(i) + e * h, h) * array(g + h, h));
      }
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dg = b.d_in(1, i))
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const T *c = element(b, 0, b.in(0, i), e), *g = element(b, 1, b.in(1, i), e);
        const auto dy = array(b.d_out(i) + e * h, h);
        T* to = element(b, 1, dg, e);
        const bool add = adds(b, 1, i, e);
        store_or_add(add, array(to, h), dy * array(g + 3 * h, h));
        store_or_add(add, array(to + h, h), dy * array(c, h));
        if (!add) array(to + 2 * h, h).setZero();
        store_or_add(add, array(to + 3 * h, h), dy * array(g, h));
      }
}

template <class T>
void lstm_output_forward(const Batch<T>& b) {
  const std::size_t h = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T *c = element(b, 0, b.in(0, i), e), *g = element(b, 1, b.in(1, i), e);
      T* t = b.aux(i) + e * h;
      for_parts(h, [&](auto part) { part(t) = part(c).tanh(); });
      array(b.out(i) + e * h, h) = array(g + 2 * h, h) * array(t, h);
    }
}

template <class T>
void lstm_output_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dc = b.d_in(0, i))
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const T* g = element(b, 1, b.in(1, i), e);
        const auto t = array(b.aux(i) + e * h, h);
        store_or_add(adds(b, 0, i, e), array(element(b, 0, dc, e), h),
                     array(b.d_out(i) + e * h, h) * array(g + 2 * h, h) * (T(1) - t.square()));
      }
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dg = b.d_in(1, i))
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        T* to = element(b, 1, dg, e);
        const bool add = adds(b, 1, i, e);
        if (!add) {
          array(to, 2 * h).setZero();
          array(to + 3 * h, h).setZero();
        }
        store_or_add(add, array(to + 2 * h, h),
                     array(b.d_out(i) + e * h, h) * array(b.aux(i) + e * h, h));
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
