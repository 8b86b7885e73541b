#include "kernels/cpu/digamma.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/loops.cuh"

// Every struct: `value(x, a)` is y = f(x), `slope(x, y, a)` is dy/dx; as
// kernels/cpu/elementwise.cc.

namespace dynet::cuda {
namespace {

template <class F>
void forward(Queue& q, const Batch<float>& b) {
  const float a = cpu::parameter_of(b);
  const auto y = q.outs(b);
  const auto x = q.ins(b, 0);
  const bool one = side_by_side(y, x);
  const std::size_t size = b.dim().size();
  for_each(q, one ? 1 : b.count, one ? b.count * size : size,
           [=] __device__(std::size_t i, std::size_t e) { y[i][e] = F::value(x[i][e], a); });
}

template <class F>
void backward(Queue& q, const GradientBatch<float>& b) {
  const float a = cpu::parameter_of<float>(b);
  GradientTargets p = q.targets(b, 0);
  if (p.first.count == 0) return;
  const auto dy = q.d_outs(b);
  const auto x = ins_if_read(q, b, 0), y = outs_if_read(q, b);
  const bool one = side_by_side(p) && side_by_side(dy, x, y);
  if (one) p.first.count = 1;
  const std::size_t size = b.dim().size();
  each_gradient(q, p, one ? b.count * size : size, [=] __device__(std::uint32_t i, std::size_t e) {
    return dy[i][e] * F::slope(Lazy{x[i] + e}, Lazy{y[i] + e}, a);
  });
}

// s (1 + z / (1 + e^z)), where s = 1 / (1 + e^-z) and z = a x. Below zero the sum is made of 1 + z,
// which is exact where it cancels, and e^z.
inline __device__ float silu_slope(float x, float a) {
  const Sigmoid s = sigmoid(x, a);
  const float z = finite(a * x);
  return s.up * (z < 0 ? ((1 + z) + s.e) * s.down : 1 + z * s.down);
}
inline __device__ float softsign(float x) { return x / (1 + fabsf(x)); }
// 1 / sqrt(1 + x^2), where the square may be too large.
inline __device__ float asinh_slope(float x) {
  return 1 / (fabsf(x) > 1e10f ? fabsf(x) : sqrtf(1 + x * x));
}

}  // namespace

#define DYNET_UNARY(NAME, VALUE, SLOPE)                                                \
  namespace {                                                                          \
  struct NAME {                                                                        \
    static __device__ float value(float x, [[maybe_unused]] float a) { return VALUE; } \
    static __device__ float slope([[maybe_unused]] Lazy x, [[maybe_unused]] Lazy y,    \
                                  [[maybe_unused]] float a) {                          \
      return SLOPE;                                                                    \
    }                                                                                  \
  };                                                                                   \
  }                                                                                    \
  const Kernels k##NAME{forward<NAME>, backward<NAME>};

DYNET_UNARY(Negate, -x, -1)
DYNET_UNARY(AddConstant, x + a, 1)
DYNET_UNARY(ConstantMinus, a - x, -1)
DYNET_UNARY(Scale, x* a, a)
DYNET_UNARY(Tanh, tanhf(x), (1 - y) * (1 + y))
DYNET_UNARY(Logistic, logistic(x), y*(1 - y))
DYNET_UNARY(Rectify, x <= 0 ? 0 : x, x > 0 ? 1 : 0)  // a NaN stays a NaN
DYNET_UNARY(Exp, expf(x), y)
DYNET_UNARY(Log, logf(x), 1 / x)
DYNET_UNARY(Sqrt, sqrtf(x), 1 / (y + y))
DYNET_UNARY(Square, x* x, x + x)
DYNET_UNARY(Cube, x* x* x, 3 * (x * x))
DYNET_UNARY(Abs, fabsf(x), sign(x))
DYNET_UNARY(LogSigmoid, fminf(x, 0) - log1pf(expf(-fabsf(x))), logistic(-x))
DYNET_UNARY(Softsign, softsign(finite(x)), square(1 / (1 + fabsf(x))))
DYNET_UNARY(Elu, x > 0 ? x : a * expm1f(x), x > 0 ? 1 : a * expf(x))
DYNET_UNARY(Silu, finite(x) * sigmoid(x, a).up, silu_slope(x, a))
DYNET_UNARY(Erf, erff(x), 1.12837917f * exp_of_minus_square(x))
DYNET_UNARY(LogGamma, lgammaf(x), cpu::digamma(static_cast<float>(x)))
DYNET_UNARY(Sin, sinf(x), cosf(x))
DYNET_UNARY(Cos, cosf(x), -sinf(x))
DYNET_UNARY(Tan, tanf(x), 1 + y * y)
DYNET_UNARY(Asin, asinf(x), 1 / sqrtf((1 - x) * (1 + x)))
DYNET_UNARY(Acos, acosf(x), -1 / sqrtf((1 - x) * (1 + x)))
DYNET_UNARY(Atan, atanf(x), 1 / (1 + x * x))
DYNET_UNARY(Sinh, sinhf(x), coshf(x))
DYNET_UNARY(Cosh, coshf(x), sinhf(x))
DYNET_UNARY(Asinh, asinhf(x), asinh_slope(x))
DYNET_UNARY(Acosh, acoshf(x), 1 / (sqrtf(x - 1) * sqrtf(x + 1)))
DYNET_UNARY(Atanh, atanhf(x), 1 / ((1 - x) * (1 + x)))
DYNET_UNARY(Round, roundf(x), a)
DYNET_UNARY(Ceil, ceilf(x), a)
DYNET_UNARY(Floor, floorf(x), a)
DYNET_UNARY(Huber, fabsf(x) < a ? 0.5f * x * x : a * (fabsf(x) - 0.5f * a),
            fabsf(x) < a ? x : a * sign(x))
#undef DYNET_UNARY

}  // namespace dynet::cuda
