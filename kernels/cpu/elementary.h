#pragma once

// Vectorized elementary functions. The relative error is below 1e-6 in float for normal results,
// and below 1e-14 in double; NaN propagates. The result for an element depends on that element
// only, whatever its position and alignment, since one function computes all lanes: see
// each_vector.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/cpu/eigen.h"
#include "kernels/cpu/lanes.h"

namespace dynet::cpu::DYNET_ISA {

/// Calls f(at, part) for n elements, a vector at a time: `part` selects the lanes to load and
/// store.
template <class T, class F>
void each_vector(std::size_t n, F&& f) {
  using L = Lanes<T>;
  std::size_t at = 0;
  for (; at + L::kWidth <= n; at += L::kWidth) f(at, typename L::All());
  if (at < n) f(at, typename L::First(n - at));
}

/// out[i] = f(in[i]) for n elements.
template <class T, class F>
void map_vectors(T* out, const T* in, std::size_t n, F&& f) {
  each_vector<T>(n, [&](std::size_t at, auto part) {
    Lanes<T>::store(out + at, f(Lanes<T>::load(in + at, part)), part);
  });
}

/// Stores the lanes of a gradient, or adds them.
template <class T, class Part>
void put(bool add, T* to, typename Lanes<T>::V v, Part part) {
  if (add) v += Lanes<T>::load(to, part);
  Lanes<T>::store(to, v, part);
}

using Floats = Lanes<float>::V;
using Doubles = Lanes<double>::V;

// Functions are always inlined where calls would be expensive.

/// Type of a lane.
template <class V>
using LaneOf = std::remove_cvref_t<decltype(V{}[0])>;
/// Vector of integers with the size of the lanes.
template <class V>
using Bits = decltype(V{} < V{});

/// Applies f to each lane.
template <class V, class F>
V by_buffer(V v, F f) {
  for (std::size_t i = 0; i < sizeof v / sizeof v[0]; ++i) v[i] = f(v[i]);
  return v;
}
/// Applies f to the vector as an array of Eigen, exactly one packet.
template <class V, class F>
V by_eigen(V v, F f) {
  Eigen::Array<LaneOf<V>, sizeof(V) / sizeof(LaneOf<V>), 1> a, y;
  std::memcpy(a.data(), &v, sizeof v);
  y = f(a);
  std::memcpy(&v, y.data(), sizeof v);
  return v;
}

template <class V>
V absolute(V x) {
  const V minus_zero = -V{};
  return reinterpret_cast<V>(reinterpret_cast<Bits<V>>(x) & ~reinterpret_cast<Bits<V>>(minus_zero));
}
/// 1 or -1; x itself if it is zero or NaN.
template <class V>
V sign(V x) {
  using Number = LaneOf<V>;
  return x > Number(0) ? V{} + Number(1) : x < Number(0) ? V{} - Number(1) : x;
}
/// Replaces infinities by the largest finite number, so that multiplication by zero yields zero.
template <class V>
V finite(V x) {
  using Limits = std::numeric_limits<LaneOf<V>>;
  x = x > Limits::max() ? V{} + Limits::max() : x;
  return x < Limits::lowest() ? V{} + Limits::lowest() : x;
}
template <class V>
V square_root(V x) {
#ifdef __AVX512F__
  if constexpr (sizeof(LaneOf<V>) == 4)
    return reinterpret_cast<V>(_mm512_sqrt_ps(reinterpret_cast<__m512>(x)));
  else
    return reinterpret_cast<V>(_mm512_sqrt_pd(reinterpret_cast<__m512d>(x)));
#else
  return by_buffer(x, [](auto e) { return std::sqrt(e); });
#endif
}

/// a b + c, fused on CPUs with FMA, independent of the compiler's contraction of expressions.
[[gnu::always_inline]] inline Floats multiply_add(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(_mm512_fmadd_ps(
      reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__AVX2__) && defined(__FMA__)
  return reinterpret_cast<Floats>(_mm256_fmadd_ps(
      reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline Floats multiply_add(Floats a, Floats b, float c) {
  return multiply_add(a, b, Floats{} + c);
}
[[gnu::always_inline]] inline Floats multiply_add(Floats a, float b, Floats c) {
  return multiply_add(a, Floats{} + b, c);
}

/// max(x, least); NaN if x is NaN.
[[gnu::always_inline]] inline Floats at_least(float least, Floats x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(
      _mm512_max_ps(_mm512_set1_ps(least), reinterpret_cast<__m512>(x)));
#else
  return x < least ? Floats{} + least : x;
#endif
}

/// Product of two floats with its rounding error; the error is exact for products below 1000.
struct Product {
  Floats p, rest;
};
[[gnu::always_inline]] inline Product exact_product(Floats x, Floats y) {
  const Floats p = x * y;
  const auto upper = [](Floats v) {  // upper half of the bits
    return reinterpret_cast<Floats>(reinterpret_cast<Bits<Floats>>(v) & ~0xfff);
  };
  const Floats a = upper(x), b = upper(y), c = x - a, d = y - b;
  const Floats rest = ((a * b - p) + a * d + c * b) + c * d;
  return {p, absolute(p) < 1e3f ? rest : Floats{}};
}

// Decomposition x = n log 2 + r, and `curve` = (e^r - 1 - r) / r^2 as a polynomial.
struct Exponent {
  Floats n, r, curve;
};
[[gnu::always_inline]] inline Exponent exponent_of(Floats n, Floats r) {
  Floats c = multiply_add(r, 0.001392692661f, Floats{} + 0.008363773874f);
  c = multiply_add(c, r, 0.04166655011f);
  c = multiply_add(c, r, 0.1666657338f);
  return {n, r, multiply_add(c, r, 0.5f)};
}
[[gnu::always_inline]] inline Exponent exponent_of(Floats x) {
  constexpr float kRound = 0x1.8p23f;  // adding and subtracting it rounds to an integer
  const Floats n = multiply_add(x, 1.44269504f, Floats{} + kRound) - kRound;
  return exponent_of(n, multiply_add(n, -1.42860682e-6f, multiply_add(n, -0x1.62e4p-1f, x)));
}
/// 2^n for integer n with a normal result.
inline Floats power_of_two(Bits<Floats> n) { return reinterpret_cast<Floats>((n + 127) << 23); }
/// e^x
[[gnu::always_inline]] inline Floats power(const Exponent& e) {
  const Floats p = 1.0f + multiply_add(e.r * e.r, e.curve, e.r);
#ifdef __AVX512F__
  return reinterpret_cast<Floats>(
      _mm512_scalef_ps(reinterpret_cast<__m512>(p), reinterpret_cast<__m512>(e.n)));
#else
  // Two factors, neither of which overflows or underflows unless the product does.
  const auto n = __builtin_convertvector(e.n, Bits<Floats>), half = n >> 1;
  return p * power_of_two(half) * power_of_two(n - half);
#endif
}

/// e^x for x <= 0.
[[gnu::always_inline]] inline Floats exp_below(Floats x) {
  return power(exponent_of(at_least(-104.0f, x)));  // zero below -104
}
/// e^x
[[gnu::always_inline]] inline Floats exp(Floats x) {
  return exp_below(x > 89.0f ? Floats{} + 89.0f : x);  // infinity above 89
}
/// e^(x + rest) for x <= 0 and a small rest.
[[gnu::always_inline]] inline Floats exp_below(Floats x, Floats rest) {
  const Exponent e = exponent_of(at_least(-104.0f, x));
  return power(exponent_of(e.n, e.r + rest));
}
inline Doubles exp(Doubles x) {
  return by_buffer(x, [](double e) { return std::exp(e); });
}
inline Doubles exp_below(Doubles x) { return exp(x); }

/// e^x - 1 for x <= 0.
[[gnu::always_inline]] inline Floats expm1_below(Floats x) {
  const Exponent e = exponent_of(at_least(-30.0f, x));
  const Floats scale = power_of_two(__builtin_convertvector(e.n, Bits<Floats>));
  return multiply_add(scale, multiply_add(e.r * e.r, e.curve, e.r), scale - 1.0f);
}
inline Doubles expm1_below(Doubles x) {
  return by_buffer(x, [](double e) { return std::expm1(e); });
}

// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)].
[[gnu::always_inline]] inline Floats log_curve(Floats f) {
  Floats c = multiply_add(f, 0.06970317724f, Floats{} - 0.1149652063f);
  c = multiply_add(c, f, 0.1169347425f);
  c = multiply_add(c, f, -0.1242403814f);
  c = multiply_add(c, f, 0.1424814707f);
  c = multiply_add(c, f, -0.1666784f);
  c = multiply_add(c, f, 0.2000074103f);
  c = multiply_add(c, f, -0.2499999682f);
  c = multiply_add(c, f, 0.3333333108f);
  return f * f * multiply_add(c, f, -0.5f);
}

// Integer a - b with wraparound: results for negative numbers and NaN are unused, but must be
// defined.
template <class B>
[[gnu::always_inline]] inline B minus(B a, B b) {
  using Words [[gnu::vector_size(sizeof(B))]] = std::make_unsigned_t<LaneOf<B>>;
  return reinterpret_cast<B>(reinterpret_cast<Words>(a) - reinterpret_cast<Words>(b));
}

[[gnu::always_inline]] inline Floats log(Floats x) {
  using Limits = std::numeric_limits<float>;
  constexpr std::int32_t kRootOfHalf = 0x3f3504f3;
  const auto small = x < Limits::min();
  const auto bits = reinterpret_cast<Bits<Floats>>(small ? x * 0x1p23f : x);
  const Bits<Floats> k = minus(bits, Bits<Floats>{} + kRootOfHalf) >> 23;
  const Floats f = reinterpret_cast<Floats>(minus(bits, k << 23)) - 1.0f;
  const Floats n = __builtin_convertvector(small ? k - 23 : k, Floats);
  const Floats y = multiply_add(n, 0x1.62e4p-1f, f + multiply_add(n, 1.42860682e-6f, log_curve(f)));
  const Floats at_most_zero =
      x == 0.0f ? Floats{} - Limits::infinity() : Floats{} + Limits::quiet_NaN();
  return x > 0.0f ? (x < Limits::infinity() ? y : x) : at_most_zero;
}
inline Doubles log(Doubles x) {
  return by_buffer(x, [](double e) { return std::log(e); });
}

/// log(1 + x) for 1 + x in [sqrt(1/2), sqrt(2)].
inline Floats log1p_small(Floats x) { return x + log_curve(x); }
inline Doubles log1p_small(Doubles x) {
  return by_buffer(x, [](double e) { return std::log1p(e); });
}
/// log(1 - x)
inline Floats log_of_rest(Floats x) {
  return absolute(x) < 0.28f ? log1p_small(-x) : log(1.0f - x);
}
inline Doubles log_of_rest(Doubles x) { return log1p_small(-x); }

/// log(1 + x) for x from 0 to 1.
[[gnu::always_inline]] inline Floats log1p_unit(Floats x) {
  const auto large = x > 0.41421356f;
  const Floats f = large ? (x - 1.0f) * 0.5f : x;
  return (f + log_curve(f)) + (large ? Floats{} + 0.693147181f : Floats{});
}
inline Doubles log1p_unit(Doubles x) {
  return by_buffer(x, [](double e) { return std::log1p(e); });
}

template <class V>
V tanh(V x) {
  return by_eigen(x, [](const auto& a) { return a.tanh(); });
}

/// up = 1 / (1 + e^-z), down = 1 / (1 + e^z), e = e^-|z|.
template <class V>
struct Sigmoid {
  V up, down, e;
};
template <class V>
[[gnu::always_inline]] inline Sigmoid<V> sigmoid_of(V z, V e) {
  const V r = LaneOf<V>(1) / (LaneOf<V>(1) + e), small = e * r;
  return {z < LaneOf<V>(0) ? small : r, z < LaneOf<V>(0) ? r : small, e};
}
template <class V>
[[gnu::always_inline]] inline Sigmoid<V> sigmoid(V z) {
  return sigmoid_of(z, exp_below(-absolute(z)));
}
/// Sigmoid of a z.
[[gnu::always_inline]] inline Sigmoid<Floats> sigmoid(Floats z, float a) {
  if (a == 1) return sigmoid(z);
  const Product t = exact_product(z, Floats{} + a);
  return sigmoid_of(t.p, exp_below(-absolute(t.p), t.p < 0.0f ? t.rest : -t.rest));
}
inline Sigmoid<Doubles> sigmoid(Doubles z, double a) { return sigmoid(a * z); }
template <class V>
V logistic(V x) {
  return sigmoid(x).up;
}

/// e^(-x^2)
[[gnu::always_inline]] inline Floats exp_of_minus_square(Floats x) {
  const Product s = exact_product(x, x);
  return exp_below(-s.p, -s.rest);
}
inline Doubles exp_of_minus_square(Doubles x) {
  return by_buffer(x, [](double e) { return std::exp(-e * e); });
}

}  // namespace dynet::cpu::DYNET_ISA
