#include <algorithm>

#include "dynet-like/attributes/sparsemax.h"
#include "kernels/cuda/along.cuh"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"

namespace dynet::cuda {
namespace {

// Threshold subtracted from n scores, in addition to `shift`, before negative results become zero,
// such that the results sum to one; in every thread of a block. In each round the scores that
// become zero are excluded, until none does. Michelot 1986, "A finite algorithm for finding the
// projection of a point onto the canonical simplex of R^n".
__device__ double threshold(const float* x, std::size_t n, float shift) {
  double t = -1;
  for (double before = INFINITY;;) {
    double sum = 0, count = 0;
    for (std::size_t j = threadIdx.x; j < n; j += blockDim.x)
      if (const double z = static_cast<double>(x[j]) - static_cast<double>(shift); z > t) {
        sum += z;
        count += 1;
      }
    sum = over_block(sum, AddDoubles());
    count = over_block(count, AddDoubles());
    if (count == 0) return 0;  // no scores
    if (!(count < before)) return t;
    t = (sum - 1) / count;
    before = count;
  }
}

// Projects x onto the probability simplex, by all threads of a block. Returns the shift subtracted
// from x, in every thread.
__device__ float project(const float* x, float* p, std::size_t n) {
  float largest = -INFINITY, disorder = 0;
  for (std::size_t j = threadIdx.x; j < n; j += blockDim.x) {
    largest = Largest()(largest, x[j]);
    if (x[j] != x[j]) disorder = 1;
  }
  const float m = over_block(largest, Largest());
  if (over_block(disorder, Largest()) != 0 || m == INFINITY) {
    for (std::size_t j = threadIdx.x; j < n; j += blockDim.x) p[j] = NAN;
    return shift(m);
  }
  const auto t = static_cast<float>(threshold(x, n, shift(m)));
  for (std::size_t j = threadIdx.x; j < n; j += blockDim.x) {
    const float v = (x[j] - shift(m)) - t;
    p[j] = v < 0 ? 0 : v;
  }
  return shift(m);
}

// One block per column.
DYNET_GLOBAL void sparsemax_kernel(TensorArray<const float> x, TensorArray<float> p,
                                   std::size_t columns, std::size_t n) {
  begin_kernel();
  const Quotient at = divide(blockIdx.x, columns);
  project(x[at.by] + at.rest * n, p[at.by] + at.rest * n, n);
}

void sparsemax_forward(Queue& q, const Batch<float>& b) {
  const std::size_t n = b.dim().rows(), columns = n ? b.dim().size() / n : 0;
  q.launch(Grid{static_cast<unsigned>(b.count * columns)}, sparsemax_kernel, q.ins(b, 0), q.outs(b),
           columns, n);
}

// Gradients of the nonzero elements, minus their mean.
void sparsemax_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim().rows(), columns = n ? b.dim().size() / n : 0;
  const TensorArray<const float> p = outs_if_read(q, b), dy = q.d_outs(b);
  line_gradients(q, b, 0, Lines(n, columns), 1,
                 [=] __device__(const Team& team, std::uint32_t node, std::size_t line,
                                const LineWriter& write) {
                   const float *y = p[node] + line * n, *dp = dy[node] + line * n;
                   float sum = 0, support = 0;
                   for (std::size_t j = team.lane; j < n; j += team.size)
                     if (y[j] != 0) {
                       sum += dp[j];
                       support += 1;
                     }
                   sum = team.over(sum, Sum());
                   support = team.over(support, Sum());
                   const float mean = support == 0 ? 0 : sum / support;
                   for (std::size_t j = team.lane; j < n; j += team.size)
                     write(line * n + j, y[j] == 0 ? 0 : dp[j] - mean + 0 * y[j]);
                 });
}

// The indices of a support, on the device.
struct Support {
  const unsigned* at;
  std::size_t count;
};

// One block per batch element of each node; the gradient is stored in the scratch.
DYNET_GLOBAL void loss_kernel(TensorArray<const float> x, TensorArray<float> y,
                              TensorArray<float> aux, const Support* supports, std::size_t batch,
                              std::size_t n) {
  begin_kernel();
  DYNET_SHARED(double, part, kThreads);
  const Quotient at = divide(blockIdx.x, batch);
  const float* const from = x[at.by] + at.rest * n;
  float* const p = aux[at.by] + at.rest * n;
  const Support support = supports[blockIdx.x];
  const auto m = static_cast<double>(project(from, p, n));
  __syncthreads();
  double sum = 0;
  for (std::size_t j = threadIdx.x; j < n; j += blockDim.x)
    if (const double v = static_cast<double>(p[j]); v != 0)
      sum += v * (static_cast<double>(from[j]) - m) - v * v / 2;
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  const double share = 1 / static_cast<double>(support.count);
  double loss = share / 2;
  for (unsigned t = 0; t < blockDim.x; ++t) loss += part[t];
  for (std::size_t k = 0; k < support.count; ++k) {
    loss -= share * (static_cast<double>(from[support.at[k]]) - m);
    if (from[support.at[k]] != -INFINITY) p[support.at[k]] -= static_cast<float>(share);
  }
  y[at.by][at.rest] = static_cast<float>(loss);
}

void sparsemax_loss_forward(Queue& q, const Batch<float>& b) {
  const std::size_t n = b.dim(0).rows(), batch = b.dim().bd;
  Support* const supports = q.stage<Support>(b.count * batch);
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < batch; ++e) {
      const auto list = read_support(b, i, e, n);
      supports[i * batch + e] = {q.send(list.data(), list.size()), list.size()};
    }
  q.launch(Grid{static_cast<unsigned>(b.count * batch)}, loss_kernel, q.ins(b, 0), q.outs(b),
           q.auxs(b, (batch + 1) * n), q.on_device(supports), batch, n);
}

void sparsemax_loss_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim(0).rows(), batch = b.dim().bd;
  const TensorArray<float> slopes = q.auxs(b, (batch + 1) * n);
  const TensorArray<const float> dy = q.d_outs(b);
  each_gradient(q, b, 0, [=] __device__(std::size_t i, std::size_t e) {
    return slopes[i][e] * dy[i][divide(e, n).by];
  });
}

}  // namespace

const Kernels kSparsemax = {sparsemax_forward, sparsemax_backward};
const Kernels kSparsemaxLoss = {sparsemax_loss_forward, sparsemax_loss_backward};

}  // namespace dynet::cuda
