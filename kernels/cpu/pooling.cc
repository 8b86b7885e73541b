#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dynet-like/attributes/along.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/sliding.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

unsigned* choices(const Batch<T>& b, std::size_t i) {
  static_assert(sizeof(unsigned) <= sizeof(T));
  return reinterpret_cast<unsigned*>(b.aux(i));
}

// True if x is preferred to y: the larger number, and NaN over all numbers.
bool before(T x, T y) { return x > y || (std::isnan(x) && !std::isnan(y)); }

// Maximum of each window of one channel, and its index.
void pool(const shape::Sliding& rows, const shape::Sliding& cols, const T* x, T* y,
          unsigned* choice) {
  const auto begin = [](const shape::Sliding& s, std::size_t position) {
    return std::max<std::size_t>(position * s.stride, s.before) - s.before;
  };
  // Taps that reach the image, for a window may be much larger.
  const std::size_t last = (std::size_t{rows.out} - 1) * rows.stride;
  const std::size_t first_tap = std::max<std::size_t>(rows.before, last) - last;
  const std::size_t end_tap = std::min<std::size_t>(rows.size, std::size_t{rows.in} + rows.before);
  for (std::size_t j = 0; j < cols.out; ++j, y += rows.out, choice += rows.out) {
    const std::size_t first = begin(cols, j);
    const std::size_t end =
        std::min<std::size_t>(j * cols.stride + cols.size - cols.before, cols.in);
    for (std::size_t i = 0; i < rows.out; ++i) {
      choice[i] = static_cast<unsigned>(first * rows.in + begin(rows, i));
      y[i] = x[choice[i]];
    }
    for (std::size_t c = first; c < end; ++c)
      for (std::size_t tap = first_tap; tap < end_tap; ++tap) {
        const Reach r(rows, tap);
        if (r.first == r.end) continue;
        const T* __restrict in = x + c * rows.in + r.in;
        auto at = static_cast<unsigned>(c * rows.in + r.in);
        const unsigned stride = rows.stride;
        for (std::size_t i = r.first; i < r.end; ++i, in += stride, at += stride) {
          const T v = *in;
          const bool better = (v > y[i]) | (v != v);  // NaN counts as the maximum
          y[i] = better ? v : y[i];
          choice[i] = better ? at : choice[i];
        }
      }
  }
}

}  // namespace

void maxpooling2d_forward(const Batch<T>& b) {
  const auto& a = b.attr<MaxPoolingAttr>();
  const Dim &x = b.dim(0), &y = b.dim();
  const auto side = [&](unsigned k) {
    return shape::slide(x[k], a.size[k], a.stride[k], a.valid != 0);
  };
  const shape::Sliding rows = side(0), cols = side(1);
  const std::size_t image = std::size_t{x[0]} * x[1], size = std::size_t{y[0]} * y[1];
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t c = 0; c < std::size_t{x[2]} * x.bd; ++c)
      pool(rows, cols, b.in(0, i) + c * image, b.out(i) + c * size, choices(b, i) + c * size);
}

void maxpooling2d_backward(const GradientBatch<T>& b) {
  const Dim &x = b.dim(0), &y = b.dim();
  const std::size_t image = std::size_t{x[0]} * x[1], size = std::size_t{y[0]} * y[1];
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const dx = b.d_in(0, i);
    if (!dx) continue;
    if (!b.add(0, i)) std::fill_n(dx, x.size(), T(0));
    for (std::size_t c = 0; c < std::size_t{x[2]} * x.bd; ++c)
      for (std::size_t k = c * size; k < (c + 1) * size; ++k)
        dx[c * image + choices(b, i)[k]] += b.d_out(i)[k];
  }
}

void kmax_forward(const Batch<T>& b) {
  const std::size_t d = b.attr<KmaxAttr>().dimension;
  const Along x(b.dim(0), d), y(b.dim(), d);
  std::vector<unsigned> order(x.size);
  const auto kth = order.begin() + static_cast<std::ptrdiff_t>(y.size);
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t line = 0; line < x.lines(b.dim().bd); ++line) {
      const T* const in = b.in(0, i) + x.first(line);
      std::iota(order.begin(), order.end(), 0u);
      if (y.size < x.size)
        std::nth_element(order.begin(), kth, order.end(), [&](unsigned p, unsigned q) {
          const T u = in[p * x.inner], v = in[q * x.inner];
          return before(u, v) || (!before(v, u) && p < q);
        });
      std::sort(order.begin(), kth);
      const std::size_t first = y.first(line);
      for (std::size_t k = 0; k < y.size; ++k) {
        b.out(i)[first + k * y.inner] = in[order[k] * x.inner];
        choices(b, i)[first + k * y.inner] = order[k];
      }
    }
}

void kmax_backward(const GradientBatch<T>& b) {
  const std::size_t d = b.attr<KmaxAttr>().dimension;
  const Along x(b.dim(0), d), y(b.dim(), d);
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const dx = b.d_in(0, i);
    if (!dx) continue;
    if (!b.add(0, i)) std::fill_n(dx, b.dim(0).size(), T(0));
    for (std::size_t line = 0; line < x.lines(b.dim().bd); ++line)
      for (std::size_t k = 0; k < y.size; ++k) {
        const std::size_t at = y.first(line) + k * y.inner;
        dx[x.first(line) + choices(b, i)[at] * x.inner] += b.d_out(i)[at];
      }
  }
}

}  // namespace dynet::cpu::DYNET_ISA
