#include <algorithm>
#include <vector>

#include "dynet-like/attributes/recurrent.h"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/loops.cuh"
#include "kernels/cuda/products.h"

// LSTMs over whole sequences; one block per sequence makes all steps and reads the matrix from the
// cache in each.

namespace dynet::cuda {
namespace {

/// A batch element of a node. Addresses of the initial state and of gradients of results are null
/// if there are none.
struct Sequence {
  const float *sums, *w, *h0, *c0;
  float *y, *c, *t, *gates;
  const float *dy, *dc;
  float *d_sums, *before;  // by column: gradient of the sums, output before the step
  float* carried;          // gradients of output and cell before the last step that was computed
  unsigned h, length;
  float forget_bias;
  bool reverse;

  DYNET_DEVICE std::size_t column(unsigned step) const {
    return reverse ? length - 1 - step : step;
  }
  /// A result before a step.
  DYNET_DEVICE const float* result_before(unsigned step, const float* of,
                                          const float* initial) const {
    return step > 0 ? of + column(step - 1) * h : initial;
  }
};

DYNET_GLOBAL void forward_kernel(const Sequence* all) {
  begin_kernel();
  const Sequence s = all[blockIdx.x];
  const std::size_t h = s.h;
  for (unsigned step = 0; step < s.length; ++step) {
    const std::size_t at = s.column(step);
    const float *const before = s.result_before(step, s.y, s.h0), *const cell = s.result_before(
                                                                      step, s.c, s.c0);
    for (unsigned r = threadIdx.x; r < h; r += blockDim.x) {
      const float* const from = s.sums + at * 4 * h + r;
      float in = from[0], forget = from[h], out = from[2 * h], content = from[3 * h];
      const float* w = s.w + r;
      DYNET_UNROLL(2)
      for (unsigned k = 0; before && k < h; ++k, w += 4 * h) {
        const float x = before[k];
        in += w[0] * x;
        forget += w[h] * x;
        out += w[2 * h] * x;
        content += w[3 * h] * x;
      }
      float* const gates = s.gates + at * 4 * h + r;
      gates[0] = in = logistic(in);
      gates[h] = forget = logistic(forget + s.forget_bias);
      gates[2 * h] = out = logistic(out);
      gates[3 * h] = content = tanhf(content);
      const float c = in * content + forget * (cell ? cell[r] : 0.0f);
      const float t = tanhf(c);
      s.c[at * h + r] = c;
      s.t[at * h + r] = t;
      s.y[at * h + r] = out * t;
    }
    __syncthreads();
  }
}

DYNET_GLOBAL void backward_kernel(const Sequence* all) {
  begin_kernel();
  const Sequence s = all[blockIdx.x];
  const std::size_t h = s.h;
  float *const carried_h = s.carried, *const carried_c = s.carried + h;
  for (unsigned r = threadIdx.x; r < 2 * h; r += blockDim.x) s.carried[r] = 0;
  for (unsigned step = s.length; step-- > 0;) {
    __syncthreads();
    const std::size_t at = s.column(step);
    const float *const before = s.result_before(step, s.y, s.h0), *const cell = s.result_before(
                                                                      step, s.c, s.c0);
    const bool of_output = s.dy || step + 1 < s.length;  // whether the loss depends on it
    for (unsigned r = threadIdx.x; r < h; r += blockDim.x) {
      float dh = carried_h[r], d = carried_c[r];
      if (s.dy) dh += s.dy[at * h + r];
      if (s.dc) d += s.dc[at * h + r];
      const float* const gates = s.gates + at * 4 * h + r;
      const float in = gates[0], forget = gates[h], out = gates[2 * h], content = gates[3 * h];
      const float t = s.t[at * h + r];
      if (of_output) d += dh * out * ((1 - t) * (1 + t));
      float* const to = s.d_sums + at * 4 * h + r;
      to[0] = d * content * in * (1 - in);
      to[h] = d * (cell ? cell[r] : 0.0f) * forget * (1 - forget);
      to[2 * h] = of_output ? dh * t * out * (1 - out) : 0;
      to[3 * h] = d * in * ((1 - content) * (1 + content));
      carried_c[r] = d * forget;
      s.before[at * h + r] = before ? before[r] : 0;
    }
    __syncthreads();
    const unsigned lane = threadIdx.x % kWarp;
    const float* const d_sums = s.d_sums + at * 4 * h;
    for (unsigned r = threadIdx.x / kWarp; before && r < h; r += blockDim.x / kWarp) {
      float sum = 0;
      for (unsigned j = lane; j < 4 * h; j += kWarp) sum += s.w[r * 4 * h + j] * d_sums[j];
      sum = over_warp(sum, Sum());
      if (lane == 0) carried_h[r] = sum;
    }
  }
}

// Zeros the gradients of the sums that no output is multiplied by: that may be no number.
DYNET_GLOBAL void clear_first_kernel(const Sequence* all) {
  begin_kernel();
  const Sequence s = all[blockIdx.x];
  for (unsigned r = threadIdx.x; s.length > 0 && r < 4 * s.h; r += blockDim.x)
    s.d_sums[s.column(0) * 4 * s.h + r] = 0;
}

/// Threads of a block: whole warps, one thread for each number of a cell as far as they go.
Grid grid_of(std::size_t sequences, std::size_t h) {
  const std::size_t threads =
      std::clamp<std::size_t>((h + kWarp - 1) / kWarp * kWarp, kWarp, kThreads);
  return {static_cast<unsigned>(sequences), static_cast<unsigned>(threads)};
}

Sequence sequence(const Batch<float>& b, std::size_t i, std::size_t e) {
  const auto& a = b.attr<LstmSequenceAttr>(i);
  const Dim& d = b.node(i).dim;
  const std::size_t part = d.batch_size(), all = d.size();
  const auto initial = [&](std::size_t k) -> const float* {
    if (b.arity == 2) return nullptr;
    return b.in(k, i) + (b.dim(k, i).bd == 1 ? 0 : e * d.rows());
  };
  return {.sums = b.in(0, i) + e * 4 * part,
          .w = b.in(1, i),
          .h0 = initial(2),
          .c0 = initial(3),
          .y = b.out(i) + e * part,
          .c = b.aux(i) + e * part,
          .t = b.aux(i) + all + e * part,
          .gates = b.aux(i) + 2 * all + e * 4 * part,
          .dy = nullptr,
          .dc = nullptr,
          .d_sums = nullptr,
          .before = nullptr,
          .carried = nullptr,
          .h = d.rows(),
          .length = d.cols(),
          .forget_bias = static_cast<float>(a.forget_bias),
          .reverse = a.reverse != 0};
}

void sequence_forward(Queue& q, const Batch<float>& b) {
  const std::size_t batch = b.dim().bd, count = b.count * batch;
  auto* const all = q.stage<Sequence>(count);
  for (std::size_t k = 0; k < count; ++k) all[k] = sequence(b, k / batch, k % batch);
  q.launch(grid_of(count, b.dim().rows()), forward_kernel, q.on_device(all));
}

void sequence_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t batch = b.dim().bd, h = b.dim().rows();
  if (h == 0) return;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < b.count; ++i) columns += std::size_t{b.node(i).dim.cols()} * batch;
  float *const d_sums = q.temporary(4 * h * columns), *const before = q.temporary(h * columns),
               *const carried = q.temporary(2 * h * batch * b.count);
  auto* const all = q.stage<Sequence>(b.count * batch);
  auto* const d_of = q.stage<const float*>(b.count);
  // The columns of nodes with one target of the matrix's gradient lie side by side.
  struct Product {
    float* target;
    bool add;
    std::size_t begin, end;
  };
  std::vector<Product> products;
  std::vector<bool> done(b.count, false);
  for (std::size_t first = 0, at = 0; first < b.count; ++first) {
    if (done[first]) continue;
    const std::size_t begin = at;
    for (std::size_t i = first; i < b.count; ++i) {
      if (done[i] || b.d_in(1, i) != b.d_in(1, first)) continue;
      done[i] = true;
      const std::size_t part = b.node(i).dim.batch_size();
      d_of[i] = d_sums + 4 * h * at;
      for (std::size_t e = 0; e < batch; ++e, at += b.node(i).dim.cols()) {
        Sequence& s = all[i * batch + e] = sequence(b, i, e);
        s.dy = b.d_outs[i] ? b.d_outs[i] + e * part : nullptr;
        s.dc = b.d_seconds[i] ? b.d_seconds[i] + e * part : nullptr;
        s.d_sums = d_sums + 4 * h * at;
        s.before = before + h * at;
        s.carried = carried + 2 * h * (i * batch + e);
      }
    }
    if (b.d_in(1, first)) products.push_back({b.d_in(1, first), b.add(1, first), begin, at});
  }
  q.launch(grid_of(b.count * batch, h), backward_kernel, q.on_device(all));
  each_gradient(q, b, 0, [d = q.on_device(d_of)] __device__(std::uint32_t node, std::size_t e) {
    return d[node][e];
  });
  if (b.arity == 2 && !products.empty())
    q.launch(grid_of(b.count * batch, 4 * h), clear_first_kernel, q.on_device(all));
  for (const Product& p : products)
    multiply(q, 4 * h, h, p.end - p.begin, Factor{d_sums + 4 * h * p.begin},
             Factor{before + h * p.begin, true}, p.target, p.add);
  for (std::size_t k = 2; k < b.arity; ++k)
    batch_gradient(q, b, k, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
      return carried[2 * h * (i * batch + e) + (k - 2) * h + r];
    });
}

}  // namespace

const Kernels kLstmSequence{sequence_forward, sequence_backward};

}  // namespace dynet::cuda
