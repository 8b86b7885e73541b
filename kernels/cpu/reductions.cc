#include "kernels/cpu/reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/long_sums.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

T sum_of(const T* x, std::size_t n) {
  return sum_pieces(x, n, [](const auto& v) { return v; });
}

T sum_of_squares(const T* x, std::size_t n) {
  return sum_pieces(x, n, [](const auto& v) { return v.square(); });
}

}  // namespace

// In each struct, `value(x, n)` is y, and `slope(x, y)` is dy/dx as an Eigen expression.

template <>
struct Function<ElemsSum> {
  static T value(const T* x, std::size_t n) { return sum_of(x, n); }
  template <class X>
  static auto slope(const X& x, T) {
    return X::Constant(x.size(), T(1));
  }
};

template <>
struct Function<ElemsMean> {
  static T value(const T* x, std::size_t n) {
    const T mean = sum_of(x, n) / static_cast<T>(n);
    if (std::isfinite(mean)) return mean;
    long double sum = 0;  // the sum overflows T, the mean may not
    for (std::size_t k = 0; k < n; ++k) sum += x[k];
    return static_cast<T>(sum / static_cast<long double>(n));
  }
  template <class X>
  static auto slope(const X& x, T) {
    return X::Constant(x.size(), T(1) / static_cast<T>(x.size()));
  }
};

template <>
struct Function<ElemsSquaredNorm> {
  static T value(const T* x, std::size_t n) { return sum_of_squares(x, n); }
  template <class X>
  static auto slope(const X& x, T) {
    return T(2) * x;
  }
};

template <>
struct Function<ElemsNorm> {
  static T value(const T* x, std::size_t n) {
    using Limits = std::numeric_limits<T>;
    const T squares = sum_of_squares(x, n);
    // Squares of very large or very small elements leave the range of T although their root does
    // not.
    if (!(squares <= Limits::max()) || squares < Limits::min() / Limits::epsilon())
      return array(x, n).matrix().stableNorm();
    return std::sqrt(squares);
  }
  template <class X>
  static auto slope(const X& x, T y) {
    return x / (y == T(0) ? std::numeric_limits<T>::infinity() : y);  // zero at zero
  }
};

template <class F>
void ReduceElems<F>::forward(const Batch<T>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t k = 0; k < batch; ++k) b.out(i)[k] = Function<F>::value(b.in(0, i) + k * n, n);
}

template <class F>
void ReduceElems<F>::backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t k = 0; k < batch; ++k) {
      const T dy = b.d_out(i)[k], y = b.out(i)[k];
      store_or_add(b.add(0, i), array(b.d_in(0, i) + k * n, n),
                   dy * Function<F>::slope(array(b.in(0, i) + k * n, n), y));
    }
  }
}

template <bool kMean>
void ReduceBatches<kMean>::forward(const Batch<T>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  const T scale = kMean ? T(1) / static_cast<T>(batch) : T(1);
  for (std::size_t i = 0; i < b.count; ++i) {
    const T* x = b.in(0, i);
    if (n == 1) {
      *b.out(i) = kMean ? Function<ElemsMean>::value(x, batch) : sum_of(x, batch);
      continue;
    }
    auto y = array(b.out(i), n);
    y = array(x, n);
    for (std::size_t k = 1; k < batch; ++k) y += array(x + k * n, n);
    if (!kMean) continue;
    y *= scale;
    if (y.allFinite()) continue;
    y = array(x, n) * scale;  // the sum overflowed
    for (std::size_t k = 1; k < batch; ++k) y += array(x + k * n, n) * scale;
  }
}

template <bool kMean>
void ReduceBatches<kMean>::backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  const T scale = kMean ? T(1) / static_cast<T>(batch) : T(1);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const auto dy = array(b.d_out(i), n);
    if (n == 1) {
      auto dx = array(b.d_in(0, i), batch);
      store_or_add(b.add(0, i), dx, ArrayMap<T>::Constant(dx.size(), scale * dy[0]));
      continue;
    }
    for (std::size_t k = 0; k < batch; ++k)
      store_or_add(b.add(0, i), array(b.d_in(0, i) + k * n, n), scale * dy);
  }
}

template struct ReduceElems<ElemsSum>;
template struct ReduceElems<ElemsMean>;
template struct ReduceElems<ElemsSquaredNorm>;
template struct ReduceElems<ElemsNorm>;
template struct ReduceBatches<false>;
template struct ReduceBatches<true>;

}  // namespace dynet::cpu::DYNET_ISA
