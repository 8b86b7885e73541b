#include "kernels/cpu/elementwise.h"

#include <cmath>
#include <limits>

#include "dynet-like/base/digamma.h"
#include "kernels/cpu/elementary.h"

// In each struct, `value(x, a)` is y = f(x) of vectors, and `slope(x, y, a)` is dy/dx, where x()
// and y() load values for backward.

namespace dynet::cpu::DYNET_ISA {
namespace {

// Broadcasts x to all lanes.
template <class V>
V all(LaneOf<V> x) {
  return V{} + x;
}

template <class V>
V square(V x) {
  return x * x;
}
template <class V>
V sine(V x) {
  return by_eigen(x, [](const auto& e) { return e.sin(); });
}
template <class V>
V cosine(V x) {
  return by_eigen(x, [](const auto& e) { return e.cos(); });
}
template <class V>
V hyperbolic_sine(V x) {
  return by_buffer(x, [](auto e) { return std::sinh(e); });
}
template <class V>
V hyperbolic_cosine(V x) {
  return by_buffer(x, [](auto e) { return std::cosh(e); });
}

template <class V>
V log_sigmoid(V x) {
  return (x > T(0) ? V{} : x) - log1p_unit(exp(-absolute(x)));
}

// s = 1 / (1 + e^-z) for z = a x; dy/dx = s (1 + z / (1 + e^z)). For z < 0 the sum uses 1 + z,
// which is exact near the cancellation, and e^z.
template <class V>
V silu_slope(V x, LaneOf<V> a) {
  const Sigmoid<V> s = sigmoid(x, a);
  const V z = finite(a * x);
  return s.up * (z < T(0) ? ((T(1) + z) + s.e) * s.down : T(1) + z * s.down);
}

// 1 / sqrt(1 + x^2), without overflow of the square.
template <class V>
V asinh_slope(V x) {
  const V size = absolute(x);
  return T(1) / (size > T(1e10) ? size : square_root(T(1) + x * x));
}

template <class V>
V huber(V x, LaneOf<V> a) {
  const V size = absolute(x);
  return size < a ? LaneOf<V>(0.5) * x * x : a * (size - LaneOf<V>(0.5) * a);
}
template <class V>
V huber_slope(V x, LaneOf<V> a) {
  return absolute(x) < a ? x : a * sign(x);
}

}  // namespace

#define DYNET_ELEMENTWISE(NAME, VALUE, SLOPE)                                \
  template <>                                                                \
  struct Function<NAME> {                                                    \
    template <class V, class T>                                              \
    static V value(const V x, [[maybe_unused]] T a) {                        \
      return VALUE;                                                          \
    }                                                                        \
    template <class V, class X, class Y, class T>                            \
    static V slope([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y, \
                   [[maybe_unused]] T a) {                                   \
      return SLOPE;                                                          \
    }                                                                        \
  };
#define DYNET_LANES(F) by_buffer(x, [](T e) { return F(e); })
#define DYNET_EIGEN(F) by_eigen(x, [](const auto& e) { return e.F(); })

DYNET_ELEMENTWISE(Negate, -x, all<V>(-1))
DYNET_ELEMENTWISE(AddConstant, x + a, all<V>(1))
DYNET_ELEMENTWISE(ConstantMinus, a - x, all<V>(-1))
DYNET_ELEMENTWISE(Scale, x* a, all<V>(a))
DYNET_ELEMENTWISE(Tanh, tanh(x), (T(1) - y()) * (T(1) + y()))
DYNET_ELEMENTWISE(Logistic, logistic(x), y() * (T(1) - y()))
DYNET_ELEMENTWISE(Rectify, x <= T(0) ? V{} : x, x() > T(0) ? all<V>(1) : V{})  // NaN propagates
DYNET_ELEMENTWISE(Exp, exp(x), y())
DYNET_ELEMENTWISE(Log, log(x), T(1) / x())
DYNET_ELEMENTWISE(Sqrt, square_root(x), T(1) / (y() + y()))
DYNET_ELEMENTWISE(Square, x* x, x() + x())
DYNET_ELEMENTWISE(Cube, x* x* x, T(3) * (x() * x()))
DYNET_ELEMENTWISE(Abs, absolute(x), sign(x()))
DYNET_ELEMENTWISE(LogSigmoid, log_sigmoid(x), logistic(-x()))
DYNET_ELEMENTWISE(Softsign, finite(x) / (T(1) + absolute(finite(x))),
                  square(T(1) / (T(1) + absolute(x()))))
DYNET_ELEMENTWISE(Elu, x > T(0) ? x : a * expm1_below(x), x() > T(0) ? all<V>(1) : a * exp(x()))
DYNET_ELEMENTWISE(Silu, finite(x) * sigmoid(x, a).up, silu_slope(x(), a))
DYNET_ELEMENTWISE(Erf, DYNET_EIGEN(erf), T(1.1283791670955126) * exp_of_minus_square(x()))
DYNET_ELEMENTWISE(LogGamma, by_buffer(x, [](T e) { return Eigen::numext::lgamma(e); }),
                  by_buffer(x(), [](T e) { return digamma(e); }))
DYNET_ELEMENTWISE(Sin, sine(x), cosine(x()))
DYNET_ELEMENTWISE(Cos, cosine(x), -sine(x()))
DYNET_ELEMENTWISE(Tan, DYNET_LANES(std::tan), T(1) + y() * y())
DYNET_ELEMENTWISE(Asin, DYNET_LANES(std::asin), T(1) / square_root((T(1) - x()) * (T(1) + x())))
DYNET_ELEMENTWISE(Acos, DYNET_LANES(std::acos), T(-1) / square_root((T(1) - x()) * (T(1) + x())))
DYNET_ELEMENTWISE(Atan, DYNET_LANES(std::atan), T(1) / (T(1) + x() * x()))
DYNET_ELEMENTWISE(Sinh, hyperbolic_sine(x), hyperbolic_cosine(x()))
DYNET_ELEMENTWISE(Cosh, hyperbolic_cosine(x), hyperbolic_sine(x()))
DYNET_ELEMENTWISE(Asinh, DYNET_LANES(std::asinh), asinh_slope(x()))
DYNET_ELEMENTWISE(Acosh, DYNET_LANES(std::acosh),
                  T(1) / (square_root(x() - T(1)) * square_root(x() + T(1))))
DYNET_ELEMENTWISE(Atanh, DYNET_LANES(std::atanh), T(1) / ((T(1) - x()) * (T(1) + x())))
DYNET_ELEMENTWISE(Round, DYNET_EIGEN(round), all<V>(a))
DYNET_ELEMENTWISE(Ceil, DYNET_EIGEN(ceil), all<V>(a))
DYNET_ELEMENTWISE(Floor, DYNET_EIGEN(floor), all<V>(a))
DYNET_ELEMENTWISE(Huber, huber(x, a), huber_slope(x(), a))
#undef DYNET_ELEMENTWISE
#undef DYNET_LANES
#undef DYNET_EIGEN

namespace {

// Attribute `a` of node i.
template <class F>
T number_of(const Batch<T>& b, std::size_t i) {
  if constexpr (kTakesNumber<F>)
    return static_cast<T>(b.attr<ElementwiseAttr>(i).a);
  else
    return T(0);
}

}  // namespace

template <class F>
void Elementwise<F>::forward(const Batch<T>& b) {
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    const T a = number_of<F>(b, i);
    map_vectors(b.out(i), b.in(0, i), n, [a](auto x) { return Function<F>::value(x, a); });
  }
}

template <class F>
void Elementwise<F>::backward(const GradientBatch<T>& b) {
  using L = Lanes<T>;
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const dx = b.d_in(0, i);
    if (!dx) continue;
    const T a = number_of<F>(b, i);
    const T *const in = b.in(0, i), *const out = b.out(i), *const dy = b.d_out(i);
    const bool add = b.add(0, i);
    each_vector<T>(n, [=](std::size_t at, auto part) {
      const auto x = [=] { return L::load(in + at, part); };
      const auto y = [=] { return L::load(out + at, part); };
      put(add, dx + at,
          L::load(dy + at, part) * Function<F>::template slope<typename L::V>(x, y, a), part);
    });
  }
}

#define DYNET_INSTANTIATE(F) template struct Elementwise<F>;
DYNET_ELEMENTWISE_FUNCTIONS(DYNET_INSTANTIATE)
#undef DYNET_INSTANTIATE

}  // namespace dynet::cpu::DYNET_ISA
