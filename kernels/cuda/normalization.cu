#include "dynet-like/attributes/normalization.h"
#include "kernels/cuda/along.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// Moments of a line times `scale`: the mean, and the mean squared deviation from the mean.
struct Moments {
  float mean, square;
};
inline __device__ Moments moments(const Team& team, const float* x, std::size_t n, float share,
                                  float scale) {
  float sum = 0, squares = 0;
  for (std::size_t k = team.lane; k < n; k += team.size) sum += x[k] * scale;
  const float mean = team.over(sum, Sum()) * share;
  for (std::size_t k = team.lane; k < n; k += team.size) {
    const float d = x[k] * scale - mean;
    squares += d * d;
  }
  return {mean, team.over(squares, Sum()) * share};
}

// Scratch: the mean and the inverse standard deviation of each batch element.
void layer_norm_forward(Queue& q, const Batch<float>& b) {
  const auto epsilon = static_cast<float>(b.attr<LayerNormAttr>().epsilon);
  const std::size_t n = b.dim().batch_size(), batch = b.dim().bd;
  if (n == 0) return;
  const float share = 1 / static_cast<float>(n);
  const Elements xs = elements(q, b, 0), gains = elements(q, b, 1), biases = elements(q, b, 2);
  const auto y = q.outs(b), kept = q.auxs(b, 2 * batch);
  for_lines_of(q, b, Lines(n, batch),
               [=] __device__(const Team& team, std::size_t i, std::size_t e) {
                 const float* const x = xs.at(i, e);
                 Moments m = moments(team, x, n, share, 1);
                 float deviation = sqrtf(m.square + epsilon);
                 if (!(deviation < INFINITY)) {  // sums or squares overflow
                   m = moments(team, x, n, share, 0x1p-100f);
                   deviation = sqrtf(m.square) * 0x1p100f;
                   m.mean *= 0x1p100f;
                 }
                 const float mean = m.mean;
                 const float scale = deviation > 0 ? 1 / deviation : deviation;  // zero or NaN
                 if (team.lane == 0) {
                   kept[i][2 * e] = mean;
                   kept[i][2 * e + 1] = scale;
                 }
                 const float *const gain = gains.at(i, e), *const bias = biases.at(i, e);
                 for (std::size_t k = team.lane; k < n; k += team.size)
                   y[i][e * n + k] = gain[k] * ((x[k] - mean) * scale) + bias[k];
               });
}

// With h = (x - m) / s and v = g dy: dx = (v - mean v - h mean(h v)) / s, dg = h dy, db = dy.
void layer_norm_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim().batch_size(), batch = b.dim().bd;
  if (n == 0) return;
  const float share = 1 / static_cast<float>(n);
  const Elements xs = elements(q, b, 0), gains = elements(q, b, 1);
  const Elements d_outs{q.d_outs(b), n};
  const auto kept = q.auxs(b, 2 * batch);
  line_gradients(
      q, b, 0, Lines(n, b.dim(0).bd), batch / b.dim(0).bd,
      [=] __device__(const Team& team, std::uint32_t i, std::size_t e, const LineWriter& write) {
        const float mean = kept[i][2 * e], scale = kept[i][2 * e + 1];
        const float *const x = xs.at(i, e), *const gain = gains.at(i, e);
        const float* const dy = d_outs.at(i, e);
        float v_sum = 0, hv_sum = 0;
        for (std::size_t k = team.lane; k < n; k += team.size) {
          const float v = gain[k] * dy[k];
          v_sum += v;
          hv_sum += v * ((x[k] - mean) * scale);
        }
        const float v_mean = team.over(v_sum, Sum()) * share;
        const float slope = team.over(hv_sum, Sum()) * share;
        for (std::size_t k = team.lane; k < n; k += team.size)
          write(xs.step * e + k,
                (gain[k] * dy[k] - v_mean - (x[k] - mean) * scale * slope) * scale);
      });
  batch_gradient(q, b, 1, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
    return (xs.at(i, e)[k] - kept[i][2 * e]) * kept[i][2 * e + 1] * d_outs.at(i, e)[k];
  });
  batch_gradient(q, b, 2, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
    return d_outs.at(i, e)[k];
  });
}

}  // namespace

const Kernels kLayerNorm{layer_norm_forward, layer_norm_backward};

}  // namespace dynet::cuda
