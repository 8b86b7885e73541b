#include "dynet-like/attributes/pairwise.h"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// Each struct: an element's term of the result, and its gradients; as in kernels/cpu/pairwise.cc.
struct DotProduct {
  static __device__ float term(float x, float y) { return x * y; }
  static __device__ float slope_x(float, float y) { return y; }
  static __device__ float slope_y(float x, float) { return x; }
};
struct SquaredDistance {
  static __device__ float term(float x, float y) { return (x - y) * (x - y); }
  static __device__ float slope_x(float x, float y) { return 2 * (x - y); }
  static __device__ float slope_y(float x, float y) { return 2 * (y - x); }
};
// With a target of exactly 0 or 1 the other logarithm is omitted: 0 log 0 is 0. Both are clamped.
struct BinaryLogLoss {
  static __device__ float term(float x, float y) {
    return (y == 0 ? 0 : -y * logf(clamped(x))) - (y == 1 ? 0 : (1 - y) * log_of_rest(x));
  }
  static __device__ float slope_x(float x, float y) {
    if (x == y) return 0;
    const float inside = x == 1 ? float(1 - kLeastRest) : clamped(x), rest = 1 - inside;
    return y == 0 ? 1 / rest : y == 1 ? -1 / inside : (inside - y) / inside / rest;
  }
  // Near one half, where the logarithms cancel, uses the logarithm of their ratio.
  static __device__ float slope_y(float x, float) {
    return fabsf(x - 0.5f) < 0.08f ? log1pf((1 - 2 * x) / x) : log_of_rest(x) - logf(clamped(x));
  }

 private:
  static __device__ float clamped(float x) {
    return x >= 0 && x < float(kLeastChance) ? float(kLeastChance) : x;
  }
  static __device__ float log_of_rest(float x) {
    return x == 1 ? float(kLogOfLeastChance) : log1pf(-x);
  }
};

template <class F>
void forward(Queue& q, const Batch<float>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim().bd;
  const Elements x = elements(q, b, 0), y = elements(q, b, 1);
  const auto out = q.outs(b);
  sums(
      q, b.count * batch, n, false,
      [=] __device__(std::size_t r, std::size_t k) {
        const Quotient at = divide(r, batch);
        return F::term(x.at(at.by, at.rest)[k], y.at(at.by, at.rest)[k]);
      },
      [=] __device__(std::size_t r, double sum) {
        const Quotient at = divide(r, batch);
        out[at.by][at.rest] = static_cast<float>(sum);
      });
}

template <class F>
void backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t batch = b.dim().bd;
  const Elements x = elements(q, b, 0), y = elements(q, b, 1);
  const auto dy = q.d_outs(b);
  batch_gradient(q, b, 0, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
    return F::slope_x(x.at(i, e)[k], y.at(i, e)[k]) * dy[i][e];
  });
  batch_gradient(q, b, 1, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
    return F::slope_y(x.at(i, e)[k], y.at(i, e)[k]) * dy[i][e];
  });
}

}  // namespace

const Kernels kDotProduct{forward<DotProduct>, backward<DotProduct>};
const Kernels kSquaredDistance{forward<SquaredDistance>, backward<SquaredDistance>};
const Kernels kBinaryLogLoss{forward<BinaryLogLoss>, backward<BinaryLogLoss>};

}  // namespace dynet::cuda
