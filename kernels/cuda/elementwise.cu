#include "dynet-like/attributes/elementwise.h"
#include "dynet-like/base/digamma.h"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/loops.cuh"

// Each struct: `value(x, a)` is y = f(x), `slope(x, y, a)` is dy/dx; as in
// kernels/cpu/elementwise.cc.

namespace dynet::cuda {
namespace {

#define DYNET_DECLARE(F) struct F;
DYNET_ELEMENTWISE_FUNCTIONS(DYNET_DECLARE)
#undef DYNET_DECLARE

template <class F>
constexpr bool kTakesNumber = false;
#define DYNET_DECLARE(F) \
  template <>            \
  constexpr bool kTakesNumber<F> = true;
DYNET_ELEMENTWISE_WITH_NUMBER(DYNET_DECLARE)
#undef DYNET_DECLARE

// The number a of each node.
struct Numbers {
  float same;
  const float* each;  // null: all nodes have `same`
  __device__ float operator[](std::size_t i) const { return each ? each[i] : same; }
};

template <class F>
Numbers numbers_of(Queue& q, const Batch<float>& b) {
  if constexpr (kTakesNumber<F>) {
    const auto number = [&](std::size_t i) {
      return static_cast<float>(b.attr<ElementwiseAttr>(i).a);
    };
    std::size_t i = 1;
    while (i < b.count && b.attr<ElementwiseAttr>(i).a == b.attr<ElementwiseAttr>(0).a) ++i;
    if (i == b.count) return {number(0), nullptr};
    auto* const all = q.stage<float>(b.count);
    for (i = 0; i < b.count; ++i) all[i] = number(i);
    return {0, q.on_device(all)};
  } else {
    return {0, nullptr};
  }
}

template <class F>
void forward(Queue& q, const Batch<float>& b) {
  const Numbers a = numbers_of<F>(q, b);
  const auto y = q.outs(b);
  const auto x = q.ins(b, 0);
  const bool one = !a.each && side_by_side(y, x);
  const std::size_t size = b.dim().size();
  for_each(q, one ? 1 : b.count, one ? b.count * size : size,
           [=] __device__(std::size_t i, std::size_t e) { y[i][e] = F::value(x[i][e], a[i]); });
}

template <class F>
void backward(Queue& q, const GradientBatch<float>& b) {
  const Numbers a = numbers_of<F>(q, b);
  GradientTargets p = q.targets(b, 0);
  if (p.first.count == 0) return;
  const auto dy = q.d_outs(b);
  const auto x = ins_if_read(q, b, 0), y = outs_if_read(q, b);
  const bool one = !a.each && side_by_side(p) && side_by_side(dy, x, y);
  if (one) p.first.count = 1;
  const std::size_t size = b.dim().size();
  each_gradient(q, p, one ? b.count * size : size, [=] __device__(std::uint32_t i, std::size_t e) {
    return dy[i][e] * F::slope(Lazy{x[i] + e}, Lazy{y[i] + e}, a[i]);
  });
}

// s (1 + z / (1 + e^z)), where s = 1 / (1 + e^-z) and z = a x. Below zero the sum is computed from
// 1 + z, which is exact where it cancels, and e^z.
inline __device__ float silu_slope(float x, float a) {
  const Sigmoid s = sigmoid(x, a);
  const float z = finite(a * x);
  return s.up * (z < 0 ? ((1 + z) + s.e) * s.down : 1 + z * s.down);
}
inline __device__ float softsign(float x) { return x / (1 + fabsf(x)); }
// 1 / sqrt(1 + x^2); avoids overflow of the square.
inline __device__ float asinh_slope(float x) {
  return 1 / (fabsf(x) > 1e10f ? fabsf(x) : sqrtf(1 + x * x));
}

}  // namespace

#define DYNET_ELEMENTWISE(NAME, VALUE, SLOPE)                                          \
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

DYNET_ELEMENTWISE(Negate, -x, -1)
DYNET_ELEMENTWISE(AddConstant, x + a, 1)
DYNET_ELEMENTWISE(ConstantMinus, a - x, -1)
DYNET_ELEMENTWISE(Scale, x* a, a)
DYNET_ELEMENTWISE(Tanh, tanhf(x), (1 - y) * (1 + y))
DYNET_ELEMENTWISE(Logistic, logistic(x), y*(1 - y))
DYNET_ELEMENTWISE(Rectify, x <= 0 ? 0 : x, x > 0 ? 1 : 0)  // NaN for NaN
DYNET_ELEMENTWISE(Exp, expf(x), y)
DYNET_ELEMENTWISE(Log, logf(x), 1 / x)
DYNET_ELEMENTWISE(Sqrt, sqrtf(x), 1 / (y + y))
DYNET_ELEMENTWISE(Square, x* x, x + x)
DYNET_ELEMENTWISE(Cube, x* x* x, 3 * (x * x))
DYNET_ELEMENTWISE(Abs, fabsf(x), sign(x))
DYNET_ELEMENTWISE(LogSigmoid, fminf(x, 0) - log1pf(expf(-fabsf(x))), logistic(-x))
DYNET_ELEMENTWISE(Softsign, softsign(finite(x)), square(1 / (1 + fabsf(x))))
DYNET_ELEMENTWISE(Elu, x > 0 ? x : a * expm1f(x), x > 0 ? 1 : a * expf(x))
DYNET_ELEMENTWISE(Silu, finite(x) * sigmoid(x, a).up, silu_slope(x, a))
DYNET_ELEMENTWISE(Erf, erff(x), 1.12837917f * exp_of_minus_square(x))
// In double: lgamma in float loses digits near its zeros.
DYNET_ELEMENTWISE(LogGamma, static_cast<float>(lgamma(static_cast<double>(x))),
                  digamma(static_cast<float>(x)))
DYNET_ELEMENTWISE(Sin, sinf(x), cosf(x))
DYNET_ELEMENTWISE(Cos, cosf(x), -sinf(x))
DYNET_ELEMENTWISE(Tan, tanf(x), 1 + y * y)
DYNET_ELEMENTWISE(Asin, asinf(x), 1 / sqrtf((1 - x) * (1 + x)))
DYNET_ELEMENTWISE(Acos, acosf(x), -1 / sqrtf((1 - x) * (1 + x)))
DYNET_ELEMENTWISE(Atan, atanf(x), 1 / (1 + x * x))
DYNET_ELEMENTWISE(Sinh, sinhf(x), coshf(x))
DYNET_ELEMENTWISE(Cosh, coshf(x), sinhf(x))
DYNET_ELEMENTWISE(Asinh, asinhf(x), asinh_slope(x))
DYNET_ELEMENTWISE(Acosh, acoshf(x), 1 / (sqrtf(x - 1) * sqrtf(x + 1)))
DYNET_ELEMENTWISE(Atanh, atanhf(x), 1 / ((1 - x) * (1 + x)))
DYNET_ELEMENTWISE(Round, roundf(x), a)
DYNET_ELEMENTWISE(Ceil, ceilf(x), a)
DYNET_ELEMENTWISE(Floor, floorf(x), a)
DYNET_ELEMENTWISE(Huber, fabsf(x) < a ? 0.5f * x * x : a * (fabsf(x) - 0.5f * a),
                  fabsf(x) < a ? x : a * sign(x))
#undef DYNET_ELEMENTWISE

}  // namespace dynet::cuda
