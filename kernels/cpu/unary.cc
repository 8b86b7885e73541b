#include "kernels/cpu/unary.h"

#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/cpu/eigen.h"

// Every struct: `value(x, a)` is y = f(x), `slope(x, y, a)` is dy/dx, both as Eigen expressions.

namespace dynet::cpu {

// Eigen's exponential never gets below a denormal, not even at minus infinity. Here what is below
// the smallest normal number is zero.
template <class T>
constexpr T kLogSmallest = sizeof(T) == sizeof(float) ? T(-87.3365) : T(-708.396);

#define DYNET_UNARY(NAME, VALUE, SLOPE)                                         \
  struct NAME {                                                                 \
    template <class X, class T>                                                 \
    static auto value(const X& x, [[maybe_unused]] T a) {                       \
      return VALUE;                                                             \
    }                                                                           \
    template <class X, class Y, class T>                                        \
    static auto slope([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y, \
                      [[maybe_unused]] T a) {                                   \
      return SLOPE;                                                             \
    }                                                                           \
  };

// Eigen's root of infinity is not a number.
template <class X>
auto root(const X& x) {
  return x.unaryExpr([](typename X::Scalar e) { return std::sqrt(e); });
}
template <class X>
auto finite(const X& x) {
  using Limits = std::numeric_limits<typename X::Scalar>;
  return x.max(Limits::lowest()).min(Limits::max());
}

DYNET_UNARY(Negate, -x, X::Constant(x.size(), T(-1)))
DYNET_UNARY(AddConstant, x + a, X::Constant(x.size(), T(1)))
DYNET_UNARY(ConstantMinus, a - x, X::Constant(x.size(), T(-1)))
DYNET_UNARY(Scale, x* a, X::Constant(x.size(), a))
DYNET_UNARY(Tanh, x.tanh(), T(1) - y.square())
// sigma(x) = (1 + tanh(x/2)) / 2 keeps full precision near one half and never overflows.
DYNET_UNARY(Logistic, T(0.5) + T(0.5) * (T(0.5) * x).tanh(), y*(T(1) - y))
// A NaN stays a NaN.
DYNET_UNARY(Rectify,
            x.binaryExpr(X::Constant(x.size(), T(0)),
                         Eigen::internal::scalar_max_op<T, T, Eigen::PropagateNaN>()),
            (x > T(0)).template cast<T>())
DYNET_UNARY(Exp, x.exp() * (x >= kLogSmallest<T>).template cast<T>(), y* T(1))
DYNET_UNARY(Log, x.log(), x.inverse())
DYNET_UNARY(Sqrt, root(x), (y + y).inverse())
DYNET_UNARY(Square, x.square(), x + x)
DYNET_UNARY(Cube, x.cube(), T(3) * x.square())
DYNET_UNARY(Abs, x.abs(), x.sign())
DYNET_UNARY(LogSigmoid, x.min(T(0)) - (-x.abs()).exp().log1p(),
            T(0.5) - T(0.5) * (T(0.5) * x).tanh())
DYNET_UNARY(Softsign, x / (T(1) + x.abs()), (T(1) - y.abs()).square())
DYNET_UNARY(Elu, (x > T(0)).select(x, a* x.expm1()),
            (x > T(0)).select(X::Constant(x.size(), T(1)), y + a))
// Infinities become the largest number, so that the zero that meets them makes zero.
DYNET_UNARY(Silu, finite(x) * Logistic::value(a * x, a),
            Logistic::value(a* x, a) +
                a * (finite(x) * (T(0.25) - T(0.25) * (T(0.5) * a * x).tanh().square())))
DYNET_UNARY(Erf, x.erf(), T(1.1283791670955126) * (-x.square()).exp())
DYNET_UNARY(LogGamma, x.lgamma(), x.digamma())
DYNET_UNARY(Sin, x.sin(), x.cos())
DYNET_UNARY(Cos, x.cos(), -x.sin())
DYNET_UNARY(Tan, x.tan(), T(1) + y.square())
DYNET_UNARY(Asin, x.asin(), root((T(1) - x) * (T(1) + x)).inverse())
DYNET_UNARY(Acos, x.acos(), -root((T(1) - x) * (T(1) + x)).inverse())
DYNET_UNARY(Atan, x.atan(), (T(1) + x.square()).inverse())
DYNET_UNARY(Sinh, x.sinh(), x.cosh())
DYNET_UNARY(Cosh, x.cosh(), x.sinh())
DYNET_UNARY(Asinh, x.asinh(), root(T(1) + x.square()).inverse())
DYNET_UNARY(Acosh, x.acosh(), root((x - T(1)) * (x + T(1))).inverse())
DYNET_UNARY(Atanh, x.atanh(), ((T(1) - x) * (T(1) + x)).inverse())
DYNET_UNARY(Round, x.round(), X::Constant(x.size(), a))
DYNET_UNARY(Ceil, x.ceil(), X::Constant(x.size(), a))
DYNET_UNARY(Floor, x.floor(), X::Constant(x.size(), a))
DYNET_UNARY(Huber, (x.abs() < a).select(x.square(), a*(T(2) * x.abs() - a)),
            (x.abs() < a).select(T(2) * x, T(2) * a * x.sign()))
#undef DYNET_UNARY

template <class F>
template <class T>
void Unary<F>::forward(const Batch<T>& b) {
  const T a = parameter_of(b);
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i)
    map_vectors(b.out(i), b.in(0, i), n, [&](const auto& x) { return F::value(x, a); });
}

template <class F>
template <class T>
void Unary<F>::backward(const GradientBatch<T>& b) {
  const T a = parameter_of<T>(b);
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const auto x = array(b.in(0, i), n);
    const auto y = array(static_cast<const T*>(b.out(i)), n);
    store_or_add(b.add(0, i), array(b.d_in(0, i), n), array(b.d_out(i), n) * F::slope(x, y, a));
  }
}

#define DYNET_INSTANTIATE(F)                                            \
  template void Unary<F>::forward<float>(const Batch<float>&);          \
  template void Unary<F>::forward<double>(const Batch<double>&);        \
  template void Unary<F>::backward<float>(const GradientBatch<float>&); \
  template void Unary<F>::backward<double>(const GradientBatch<double>&);
DYNET_INSTANTIATE(Negate)
DYNET_INSTANTIATE(AddConstant)
DYNET_INSTANTIATE(ConstantMinus)
DYNET_INSTANTIATE(Scale)
DYNET_INSTANTIATE(Tanh)
DYNET_INSTANTIATE(Logistic)
DYNET_INSTANTIATE(Rectify)
DYNET_INSTANTIATE(Exp)
DYNET_INSTANTIATE(Log)
DYNET_INSTANTIATE(Sqrt)
DYNET_INSTANTIATE(Square)
DYNET_INSTANTIATE(Cube)
DYNET_INSTANTIATE(Abs)
DYNET_INSTANTIATE(LogSigmoid)
DYNET_INSTANTIATE(Softsign)
DYNET_INSTANTIATE(Elu)
DYNET_INSTANTIATE(Silu)
DYNET_INSTANTIATE(Erf)
DYNET_INSTANTIATE(LogGamma)
DYNET_INSTANTIATE(Sin)
DYNET_INSTANTIATE(Cos)
DYNET_INSTANTIATE(Tan)
DYNET_INSTANTIATE(Asin)
DYNET_INSTANTIATE(Acos)
DYNET_INSTANTIATE(Atan)
DYNET_INSTANTIATE(Sinh)
DYNET_INSTANTIATE(Cosh)
DYNET_INSTANTIATE(Asinh)
DYNET_INSTANTIATE(Acosh)
DYNET_INSTANTIATE(Atanh)
DYNET_INSTANTIATE(Round)
DYNET_INSTANTIATE(Ceil)
DYNET_INSTANTIATE(Floor)
DYNET_INSTANTIATE(Huber)

}  // namespace dynet::cpu
