#include "kernels/cpu/along.h"
#include "kernels/cpu/flow.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

struct Scaled {
  Many<const float> dy;
  float factor;
  __device__ float operator()(std::size_t i, std::size_t e) const { return dy[i][e] * factor; }
};

void scale_gradient_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0,
                Scaled{q.d_outs(b), static_cast<float>(b.attr<cpu::ScaleGradientAttr>().factor)});
}

struct Unchanged {
  Many<const float> dy;
  __device__ float operator()(std::size_t i, std::size_t e) const { return dy[i][e]; }
};

void alias_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, Unchanged{q.d_outs(b)});
}

void argmax_forward(Queue& q, const Batch<float>& b) {
  const cpu::Along along(b.dim(), b.attr<cpu::ArgmaxAttr>().dimension);
  if (along.size == 0) return;
  const Many<const float> x = q.ins(b, 0);
  const Many<float> y = q.outs(b);
  for_each(q, b.count, along.lines(b.dim().bd), [=] __device__(std::size_t i, std::size_t line) {
    const float* const from = x[i] + along.first(line);
    float* const to = y[i] + along.first(line);
    std::size_t best = 0;
    for (std::size_t j = 0; j < along.size; ++j) {
      if (from[j * along.inner] > from[best * along.inner]) best = j;
      to[j * along.inner] = 0;
    }
    to[best * along.inner] = 1;
  });
}

}  // namespace

const Kernels kScaleGradient = {nullptr, scale_gradient_backward};
const Kernels kAlias = {nullptr, alias_backward};
const Kernels kArgmax = {argmax_forward, alias_backward};  // for the form that has a gradient

}  // namespace dynet::cuda
