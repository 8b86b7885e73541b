#include "kernels/cpu/unary.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/loops.cuh"

// Every struct: `value(x, a)` is y = f(x), `slope(x, y, a)` is dy/dx; as kernels/cpu/unary.cc.

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
  Places p = q.places(b, 0);
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

inline __device__ float logistic(float x) { return 0.5f + 0.5f * tanhf(0.5f * x); }
inline __device__ float sign(float x) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // a NaN stays one
inline __device__ float square(float x) { return x * x; }
inline __device__ float largest_for_infinity(float x) {
  constexpr float kLargest = 3.40282347e+38f;
  return fminf(fmaxf(x, -kLargest), kLargest);
}

// The derivative of log gamma: by reflection below zero, by recurrence up to ten, and by its
// asymptotic series.
inline __device__ float digamma(float x) {
  constexpr float kPi = 3.14159265f;
  float reflected = 0;
  if (x <= 0) {
    const float part = x - floorf(x);
    if (part == 0) return NAN;
    if (part != 0.5f) reflected = kPi / tanf(kPi * (part > 0.5f ? part - 1 : part));
    x = 1 - x;
  }
  float steps = 0;
  for (; x < 10; x += 1) steps += 1 / x;
  const float z = 1 / (x * x);
  const float series = z * (1 / 12.0f - z * (1 / 120.0f - z * (1 / 252.0f - z * (1 / 240.0f))));
  return logf(x) - 0.5f / x - series - steps - reflected;
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
DYNET_UNARY(Tanh, tanhf(x), 1 - y * y)
DYNET_UNARY(Logistic, logistic(x), y*(1 - y))
DYNET_UNARY(Rectify, x <= 0 ? 0 : x, x > 0 ? 1 : 0)  // a NaN stays a NaN
DYNET_UNARY(Exp, expf(x) * (x >= -87.3365f ? 1.0f : 0.0f), y)
DYNET_UNARY(Log, logf(x), 1 / x)
DYNET_UNARY(Sqrt, sqrtf(x), 1 / (y + y))
DYNET_UNARY(Square, x* x, x + x)
DYNET_UNARY(Cube, x* x* x, 3 * (x * x))
DYNET_UNARY(Abs, fabsf(x), sign(x))
DYNET_UNARY(LogSigmoid, fminf(x, 0) - log1pf(expf(-fabsf(x))), 0.5f - 0.5f * tanhf(0.5f * x))
DYNET_UNARY(Softsign, x / (1 + fabsf(x)), square(1 - fabsf(y)))
DYNET_UNARY(Elu, x > 0 ? x : a * expm1f(x), x > 0 ? 1 : y + a)
DYNET_UNARY(Silu, largest_for_infinity(x) * logistic(a * x),
            logistic(a* x) +
                a * (largest_for_infinity(x) * (0.25f - 0.25f * square(tanhf(0.5f * a * x)))))
DYNET_UNARY(Erf, erff(x), 1.12837917f * expf(-square(x)))
DYNET_UNARY(LogGamma, lgammaf(x), digamma(x))
DYNET_UNARY(Sin, sinf(x), cosf(x))
DYNET_UNARY(Cos, cosf(x), -sinf(x))
DYNET_UNARY(Tan, tanf(x), 1 + y * y)
DYNET_UNARY(Asin, asinf(x), 1 / sqrtf((1 - x) * (1 + x)))
DYNET_UNARY(Acos, acosf(x), -1 / sqrtf((1 - x) * (1 + x)))
DYNET_UNARY(Atan, atanf(x), 1 / (1 + x * x))
DYNET_UNARY(Sinh, sinhf(x), coshf(x))
DYNET_UNARY(Cosh, coshf(x), sinhf(x))
DYNET_UNARY(Asinh, asinhf(x), 1 / sqrtf(1 + x * x))
DYNET_UNARY(Acosh, acoshf(x), 1 / sqrtf((x - 1) * (x + 1)))
DYNET_UNARY(Atanh, atanhf(x), 1 / ((1 - x) * (1 + x)))
DYNET_UNARY(Round, roundf(x), a)
DYNET_UNARY(Ceil, ceilf(x), a)
DYNET_UNARY(Floor, floorf(x), a)
DYNET_UNARY(Huber, fabsf(x) < a ? x * x : a * (2 * fabsf(x) - a),
            fabsf(x) < a ? 2 * x : 2 * a * sign(x))
#undef DYNET_UNARY

}  // namespace dynet::cuda
