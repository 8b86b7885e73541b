#include "kernels/cpu/moments.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dynet-like/attributes/along.h"
#include "kernels/cpu/elementary.h"
#include "kernels/cpu/long_sums.h"
#include "kernels/cpu/row_loop.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Reduction as reversed broadcasting: the result is what would be broadcast to the operand's shape.
struct Reduction {
  Dim result;
  RowLoop<1> rows;
  double elements, divisor;

  explicit Reduction(const Batch<T>& b)
      : result(shape::ones_at(b.dim(0), attr(b).dims)),
        rows(b.dim(0), {&result}),
        elements(static_cast<double>(shape::reduced_elements(b.dim(0), attr(b).dims))),
        divisor(attr(b).divisor > 0 ? attr(b).divisor : elements) {}

  static const ReduceAttr& attr(const Batch<T>& b) { return b.attr<ReduceAttr>(); }
  bool moves() const { return rows.moves[0]; }
};

template <class T>
T power(T x, std::uint32_t r) {
  T y = 1;
  for (; r; r >>= 1, x *= x)
    if (r & 1) y *= x;
  return y;
}

// Adds f(row, index in the result) of the operand's rows to the result.
template <class F>
void add_rows(const Reduction& r, const T* x, T* y, F f) {
  r.rows.each([&](std::size_t at, const auto& offset) {
    const std::size_t n = r.rows.inner, to = offset[0];
    if (r.moves())
      array(y + to, n) += f(array(x + at, n), to);
    else
      y[to] += sum_pieces(x + at, n, [&](const auto& v) { return f(v, to); });
  });
}

// Adds powers of the operand's rows to the result.
void add_powers(const Reduction& r, std::uint32_t exponent, const T* x, T* y) {
  if (exponent == 1)
    add_rows(r, x, y, [](const auto& v, std::size_t) { return v; });
  else if (exponent == 2)
    add_rows(r, x, y, [](const auto& v, std::size_t) { return v.square(); });
  else
    add_rows(r, x, y, [exponent](const auto& v, std::size_t) {
      return v.unaryExpr([exponent](T e) { return power(e, exponent); });
    });
}

// True if all of y is finite. Sums and squares may overflow T although the final result does not;
// scaled_sums then recomputes them.
bool in_range(const T* y, std::size_t n) { return array(y, n).allFinite(); }

// The sums of f(element, index in the result) times `scale`, in long double, where squares of T do
// not overflow.
template <class F>
std::vector<long double> scaled_sums(const Reduction& r, const T* x, std::size_t size,
                                     long double scale, F f) {
  std::vector<long double> sums(size);
  r.rows.each([&](std::size_t at, const auto& offset) {
    for (std::size_t k = 0; k < r.rows.inner; ++k) {
      const std::size_t to = offset[0] + (r.moves() ? k : 0);
      sums[to] += scale * f(static_cast<long double>(x[at + k]), to);
    }
  });
  return sums;
}

}  // namespace

void moment_forward(const Batch<T>& b) {
  const Reduction r(b);
  const std::uint32_t exponent = Reduction::attr(b).power;
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    auto y = array(b.out(i), n);
    y.setZero();
    add_powers(r, exponent, b.in(0, i), b.out(i));
    if (r.divisor == 1) continue;
    y *= static_cast<T>(1 / r.divisor);
    if (in_range(b.out(i), n)) continue;
    const auto sums = scaled_sums(r, b.in(0, i), n, 1 / static_cast<long double>(r.divisor),
                                  [=](long double x, std::size_t) { return power(x, exponent); });
    std::transform(sums.begin(), sums.end(), b.out(i), [](auto v) { return static_cast<T>(v); });
  }
}

void moment_backward(const GradientBatch<T>& b) {
  const Reduction r(b);
  const std::uint32_t exponent = Reduction::attr(b).power;
  const T scale = static_cast<T>(exponent / r.divisor);
  const std::size_t n = r.rows.inner;
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const dx = b.d_in(0, i);
    if (!dx) continue;
    const bool add = b.add(0, i);
    r.rows.each([&](std::size_t at, const auto& offset) {
      auto to = array(dx + at, n);
      const T* const dy = b.d_out(i) + offset[0];
      const auto times = [&](const auto& slope) {
        if (r.moves())
          store_or_add(add, to, array(dy, n) * slope);
        else
          store_or_add(add, to, *dy * slope);
      };
      const auto x = array(b.in(0, i) + at, n);
      if (exponent == 1)
        times(ArrayMap<T>::Constant(to.size(), scale));
      else if (exponent == 2)
        times(x * scale);
      else
        times(x.unaryExpr([=](T e) { return scale * power(e, exponent - 1); }));
    });
  }
}

void deviation_forward(const Batch<T>& b) {
  const Reduction r(b);
  const std::size_t n = b.dim().size();
  const T scale = static_cast<T>(1 / r.divisor);
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const m = b.aux(i);
    auto mean = array(m, n), y = array(b.out(i), n);
    mean.setZero();
    add_powers(r, 1, b.in(0, i), m);
    mean *= scale;
    y.setZero();
    if (r.moves())
      add_rows(r, b.in(0, i), b.out(i), [&](const auto& v, std::size_t to) {
        return (v - array<T>(static_cast<const T*>(m) + to, r.rows.inner)).square();
      });
    else
      add_rows(r, b.in(0, i), b.out(i),
               [&](const auto& v, std::size_t to) { return (v - m[to]).square(); });
    for (T& v : std::span(b.out(i), n)) v = std::sqrt(v * scale);
    if (in_range(b.out(i), n)) continue;
    const long double share = 1 / static_cast<long double>(r.divisor);
    const auto means =
        scaled_sums(r, b.in(0, i), n, share, [](long double x, std::size_t) { return x; });
    const auto squares = scaled_sums(r, b.in(0, i), n, share, [&](long double x, std::size_t to) {
      return (x - means[to]) * (x - means[to]);
    });
    for (std::size_t k = 0; k < n; ++k) {
      m[k] = static_cast<T>(means[k]);
      b.out(i)[k] = static_cast<T>(std::sqrt(squares[k]));
    }
  }
}

void deviation_backward(const GradientBatch<T>& b) {
  const Reduction r(b);
  const std::size_t n = r.rows.inner;
  const T scale = static_cast<T>(1 / r.divisor);
  // 1 if the divisor is the number of elements.
  const T pull = static_cast<T>((2 * r.divisor - r.elements) / r.divisor);
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const dx = b.d_in(0, i);
    if (!dx) continue;
    const bool add = b.add(0, i);
    r.rows.each([&](std::size_t at, const auto& offset) {
      auto to = array(dx + at, n);
      const T *x = b.in(0, i) + at, *m = b.aux(i) + offset[0], *y = b.out(i) + offset[0],
              *dy = b.d_out(i) + offset[0];
      if (!r.moves()) {
        store_or_add(add, to, (array(x, n) - pull * *m) * (*y == T(0) ? T(0) : *dy * scale / *y));
        return;
      }
      T* const row = dx + at;
      each_vector<T>(n, [=](std::size_t j, auto part) {
        using V = typename Lanes<T>::V;
        const V size = Lanes<T>::load(y + j, part);
        const V slope = Lanes<T>::load(dy + j, part) * scale / size;
        const V away = Lanes<T>::load(x + j, part) - pull * Lanes<T>::load(m + j, part);
        put(add, row + j, away * (size == T(0) ? V{} : slope), part);
      });
    });
  }
}

template <bool kLargest>
void ExtremeAlong<kLargest>::forward(const Batch<T>& b) {
  const Along a(b.dim(0), b.attr<AlongAttr>().dimension);
  const std::size_t blocks = a.outer * b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t o = 0; o < blocks; ++o) {
      const T* const x = b.in(0, i) + o * a.size * a.inner;
      T* const y = b.out(i) + o * a.inner;
      auto* const winner = reinterpret_cast<std::uint32_t*>(b.aux(i)) + o * a.inner;
      std::copy_n(x, a.inner, y);
      std::fill_n(winner, a.inner, 0);
      for (std::size_t k = 1; k < a.size; ++k)
        for (std::size_t j = 0; j < a.inner; ++j) {
          const T v = x[k * a.inner + j];
          if (!(kLargest ? v > y[j] : v < y[j]) && v == v) continue;
          y[j] = v;
          winner[j] = static_cast<std::uint32_t>(k);
        }
    }
}

template <bool kLargest>
void ExtremeAlong<kLargest>::backward(const GradientBatch<T>& b) {
  const Along a(b.dim(0), b.attr<AlongAttr>().dimension);
  const std::size_t blocks = a.outer * b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    if (!b.add(0, i)) std::fill_n(b.d_in(0, i), b.dim(0).size(), T(0));
    for (std::size_t o = 0; o < blocks; ++o) {
      const auto* winner = reinterpret_cast<const std::uint32_t*>(b.aux(i)) + o * a.inner;
      T* const dx = b.d_in(0, i) + o * a.size * a.inner;
      for (std::size_t j = 0; j < a.inner; ++j)
        dx[winner[j] * a.inner + j] += b.d_out(i)[o * a.inner + j];
    }
  }
}

void cumulative_sum_forward(const Batch<T>& b) {
  const Along a(b.dim(), b.attr<AlongAttr>().dimension);
  if (a.size == 0) return;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t o = 0; o < a.outer * b.dim().bd; ++o) {
      const std::size_t first = o * a.size * a.inner;
      const T* const x = b.in(0, i) + first;
      T* const y = b.out(i) + first;
      std::copy_n(x, a.inner, y);
      for (std::size_t k = a.inner; k < a.size * a.inner; ++k) y[k] = y[k - a.inner] + x[k];
    }
}

void cumulative_sum_backward(const GradientBatch<T>& b) {
  const Along a(b.dim(), b.attr<AlongAttr>().dimension);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const bool add = b.add(0, i);
    for (std::size_t line = 0; line < a.lines(b.dim().bd); ++line) {
      const std::size_t first = a.first(line);
      T sum = 0;
      for (std::size_t k = a.size; k-- > 0;) {
        sum += b.d_out(i)[first + k * a.inner];
        T& dx = b.d_in(0, i)[first + k * a.inner];
        dx = add ? dx + sum : sum;
      }
    }
  }
}

template struct ExtremeAlong<true>;
template struct ExtremeAlong<false>;

}  // namespace dynet::cpu::DYNET_ISA
