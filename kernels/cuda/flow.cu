#include "dynet-like/attributes/flow.h"
#include "kernels/cuda/along.cuh"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

struct Scaled {
  TensorArray<const float> dy;
  float factor;
  __device__ float operator()(std::size_t i, std::size_t e) const { return dy[i][e] * factor; }
};

void scale_gradient_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0,
                Scaled{q.d_outs(b), static_cast<float>(b.attr<ScaleGradientAttr>().factor)});
}

struct Unchanged {
  TensorArray<const float> dy;
  __device__ float operator()(std::size_t i, std::size_t e) const { return dy[i][e]; }
};

void alias_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, Unchanged{q.d_outs(b)});
}

void argmax_forward(Queue& q, const Batch<float>& b) {
  const Lines lines(b.dim(), b.attr<ArgmaxAttr>().dimension);
  const TensorArray<const float> x = q.ins(b, 0);
  const TensorArray<float> y = q.outs(b);
  for_lines_of(q, b, lines, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const std::size_t first = lines.first(line), inner = lines.inner;
    std::uint64_t best = 0;
    for (std::size_t k = team.lane; k < lines.size; k += team.size) {
      const float v = x[i][first + k * inner];
      // NaN counts as the largest at the first place, and as the smallest at all later places.
      const bool out = v != v;
      if (!out || k == 0) best = LargestKey()(best, rank_key(out ? INFINITY : v, k, true));
    }
    const std::size_t winner = index_of_key(team.over(best, LargestKey()));
    for (std::size_t k = team.lane; k < lines.size; k += team.size)
      y[i][first + k * inner] = k == winner ? 1 : 0;
  });
}

}  // namespace

const Kernels kScaleGradient = {nullptr, scale_gradient_backward};
const Kernels kAlias = {nullptr, alias_backward};
const Kernels kArgmax = {argmax_forward, alias_backward};  // for the straight-through form

}  // namespace dynet::cuda
