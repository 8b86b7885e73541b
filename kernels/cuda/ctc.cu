#include <algorithm>

#include "dynet-like/structures/ctc/attributes.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"
#include "kernels/cuda/structures.cuh"

// Connectionist temporal classification, as in kernels/cpu/ctc.cc; one block per utterance.

namespace dynet::cuda {
namespace {

/// A batch element of a node: its scores, its scratch, and the other inputs and outputs.
struct Utterance {
  const float* scores;
  const unsigned* labels;
  float* scratch;
  float* out;           // one number, or the alignment
  const float* d_out;   // the gradient of `out`
  float* to;            // a number for each symbol and frame
  const float* factor;  // `to` is multiplied by -*factor; null: by one
  unsigned symbols, frames, states, blank;
  bool zero_infinity;

  DYNET_DEVICE std::size_t column() const { return std::size_t{states} + 2; }
  DYNET_DEVICE std::size_t size() const { return std::size_t{symbols} * frames; }
  DYNET_DEVICE unsigned symbol(unsigned s) const { return s % 2 ? labels[s / 2] : blank; }
  DYNET_DEVICE float score(unsigned t, unsigned s) const {
    return scores[std::size_t{t} * symbols + symbol(s)];
  }
  DYNET_DEVICE bool may_skip(unsigned s) const {
    return s > 1 && s % 2 && labels[s / 2] != labels[s / 2 - 1];
  }
  /// Tables of CtcTables; 0 to 2 are the probabilities of the transitions to a state.
  DYNET_DEVICE float* table(unsigned k, unsigned t) const {
    return scratch + (std::size_t{k} * frames + t + 1) * column();
  }
  DYNET_DEVICE float* ways(unsigned t) const { return table(3, t); }
  DYNET_DEVICE float* d_ways(unsigned t) const { return table(4, t); }
  DYNET_DEVICE float* d_states(unsigned t) const { return table(5, t); }
};

// Computes the transition probabilities and log sums of states; `write`: also the loss.
DYNET_GLOBAL void ctc_forward_kernel(const Utterance* all, bool write) {
  begin_kernel();
  const Utterance u = all[blockIdx.x];
  const unsigned n = u.states;
  double scale = 0;
  for (unsigned t = 0; t < u.frames; ++t) {
    float* const now = u.ways(t);
    float m = -INFINITY;
    for (unsigned s = threadIdx.x; s < n; s += blockDim.x) {
      float way = s < 2 ? 0 : -INFINITY;
      if (t > 0) {
        const float* const before = u.ways(t - 1);
        const float a = before[s], b = s > 0 ? before[s - 1] : -INFINITY;
        const float c = u.may_skip(s) ? before[s - 2] : -INFINITY;
        const float m3 = shift(Largest()(Largest()(a, b), c));
        const float x = exponential(a - m3), y = exponential(b - m3), z = exponential(c - m3);
        const float sum = x + y + z, part = sum == 0 ? 0 : 1 / sum;
        u.table(0, t)[s] = x * part;
        u.table(1, t)[s] = y * part;
        u.table(2, t)[s] = z * part;
        way = sum == 0 ? -INFINITY : m3 + logf(sum);
      }
      now[s] = t == 0 && s >= 2 ? way : way + u.score(t, s);
      m = Largest()(m, now[s]);
    }
    m = shift(over_block(m, Largest()));
    for (unsigned s = threadIdx.x; s < n; s += blockDim.x) now[s] -= m;
    scale += static_cast<double>(m);
    __syncthreads();
  }
  if (u.frames == 0) {
    if (threadIdx.x == 0 && write) *u.out = n == 1 || u.zero_infinity ? 0 : INFINITY;
    return;
  }
  const float* const last = u.ways(u.frames - 1);
  const float a = last[n - 1], b = n > 1 ? last[n - 2] : -INFINITY, m = shift(Largest()(a, b));
  const float x = expf(a - m), y = expf(b - m), sum = x + y;
  for (unsigned s = threadIdx.x; s < n; s += blockDim.x)
    u.table(0, 0)[s] = s + 2 < n || sum == 0 ? 0 : (s + 1 == n ? x : y) / sum;
  if (threadIdx.x > 0 || !write) return;
  const double all_ways = scale + static_cast<double>(m) + log(static_cast<double>(sum));
  *u.out = all_ways == -INFINITY && u.zero_infinity ? 0 : static_cast<float>(-all_ways);
}

// Computes the probabilities of states, in place of the log sums.
DYNET_GLOBAL void ctc_states_kernel(const Utterance* all) {
  begin_kernel();
  const Utterance u = all[blockIdx.x];
  const unsigned n = u.states;
  for (unsigned t = u.frames; t-- > 0;) {
    for (unsigned s = threadIdx.x; s < n; s += blockDim.x) {
      float sum = 0;
      if (t + 1 == u.frames)
        sum = u.table(0, 0)[s];
      else
        for (unsigned k = 0; k < 3 && s + k < n; ++k)
          sum += u.table(k, t + 1)[s + k] * u.ways(t + 1)[s + k];
      u.ways(t)[s] = sum;
    }
    __syncthreads();
  }
}

/// Direction of derivatives: the scores (log-probabilities give the same result), or the scores of
/// symbols, weighted by `d_out`.
struct Direction {
  bool scores;

  __device__ float score(const Utterance& u, unsigned t, unsigned s) const {
    return scores ? 0 : u.d_out[std::size_t{t} * u.symbols + u.symbol(s)];
  }
  /// Direction of a transition to a state, or of the last state, given its probability p.
  __device__ float by(float p) const { return !scores || p == 0 ? 0 : logf(p); }
};

// Computes derivatives: of the log sums without a state's own score, and of the states.
DYNET_GLOBAL void ctc_derivatives_kernel(const Utterance* all, Direction d) {
  begin_kernel();
  const Utterance u = all[blockIdx.x];
  const unsigned n = u.states;
  if (u.frames == 0) return;
  for (unsigned t = 0; t < u.frames; ++t) {
    for (unsigned s = threadIdx.x; s < n; s += blockDim.x) {
      float sum = 0;
      for (unsigned k = 0; k < 3 && k <= s && t > 0; ++k) {
        const float p = u.table(k, t)[s];
        sum += p * (u.d_ways(t - 1)[s - k] + d.score(u, t - 1, s - k) + d.by(p));
      }
      u.d_ways(t)[s] = sum;
    }
    __syncthreads();
  }
  for (unsigned t = u.frames; t-- > 0;) {
    const float* const m = u.ways(t);
    float mean = 0;
    if (t + 1 == u.frames)
      for (unsigned s = n > 1 ? n - 2 : 0; s < n; ++s)
        mean += m[s] * (u.d_ways(t)[s] + d.score(u, t, s) + d.by(m[s]));
    for (unsigned s = threadIdx.x; s < n; s += blockDim.x) {
      const float with = u.d_ways(t)[s] + d.score(u, t, s);
      float sum = 0;
      if (t + 1 == u.frames)
        sum = m[s] * (with + d.by(m[s]) - mean);
      else
        for (unsigned k = 0; k < 3 && s + k < n; ++k) {
          const float p = u.table(k, t + 1)[s + k];
          const float way = with + d.by(p) - u.d_ways(t + 1)[s + k];
          sum += p * (u.d_states(t + 1)[s + k] + u.ways(t + 1)[s + k] * way);
        }
      u.d_states(t)[s] = sum;
    }
    __syncthreads();
  }
}

// Sums a table of states by symbol; the first state with a symbol sums all states with it.
DYNET_GLOBAL void ctc_symbols_kernel(const Utterance* all, unsigned table) {
  begin_kernel();
  const Utterance u = all[blockIdx.x];
  for (std::size_t e = threadIdx.x; e < u.size(); e += blockDim.x) u.to[e] = 0;
  __syncthreads();
  const unsigned labels = u.states / 2;
  for (std::size_t e = threadIdx.x; e < std::size_t{u.frames} * (labels + 1); e += blockDim.x) {
    const auto t = static_cast<unsigned>(e / (labels + 1));
    const auto k = static_cast<unsigned>(e % (labels + 1));
    const float* const states = u.table(table, t);
    float sum = 0;
    if (k == labels) {  // the blank
      for (unsigned s = 0; s < u.states; s += 2) sum += states[s];
      u.to[std::size_t{t} * u.symbols + u.blank] = sum;
      continue;
    }
    const unsigned y = u.labels[k];
    bool first = true;
    for (unsigned j = 0; j < k && first; ++j) first = u.labels[j] != y;
    if (!first) continue;
    for (unsigned j = k; j < labels; ++j)
      if (u.labels[j] == y) sum += states[2 * j + 1];
    u.to[std::size_t{t} * u.symbols + y] = sum;
  }
}

/// The utterances of a batch, node by node, on the host and on the device.
struct Utterances {
  Utterance* staged;
  const Utterance* all;
  std::size_t count, batch;
  unsigned longest = 0;  // maximum number of states

  Utterances(Queue& q, const Batch<float>& b, const float* const* d_outs = nullptr)
      : count(0), batch(b.dim(0).bd) {
    staged = q.stage<Utterance>(b.count * batch);
    for (std::size_t i = 0; i < b.count; ++i) {
      const auto& a = b.attr<CtcAttr>(i);
      const Dim& d = b.dim(0, i);
      const auto* const counts = b.payload<CtcAttr, unsigned>(i);
      const unsigned* labels = q.send(counts + a.elements, a.count);
      const std::size_t scratch = b.node(i).form->aux(b.graph, b.node(i));
      const std::size_t columns = 2 * a.count + 3 * a.elements;  // all have as many tables
      const std::size_t result = b.node(i).dim.batch_size();
      float* aux = b.aux(i);
      for (std::size_t e = 0; e < batch; ++e) {
        const auto states = static_cast<unsigned>(CtcTables::of(counts[e], d.cols()).states);
        staged[count++] = {b.in(0, i) + e * d.batch_size(),
                           labels,
                           aux,
                           b.out(i) + e * result,
                           d_outs ? d_outs[i] + e * result : nullptr,
                           b.out(i) + e * result,
                           nullptr,
                           d.rows(),
                           d.cols(),
                           states,
                           static_cast<unsigned>(a.blank),
                           a.zero_infinity != 0};
        labels += counts[e];
        aux += scratch / columns * (states + 2);
        longest = std::max(longest, states);
      }
    }
    all = q.on_device(staged);
  }
  Grid grid() const {
    const unsigned threads = (longest + kWarp - 1) / kWarp * kWarp;
    return Grid{static_cast<unsigned>(count), std::min(threads, kThreads)};
  }
  Grid wide() const { return Grid{static_cast<unsigned>(count), kThreads}; }

  /// Allocates temporary gradients; with `by_value` they are multiplied by minus the gradient of
  /// the value.
  void reserve(Queue& q, bool by_value) {
    std::size_t total = 0;
    for (std::size_t k = 0; k < count; ++k) total += staged[k].size();
    float* to = q.temporary(total);
    for (std::size_t k = 0; k < count; ++k) {
      staged[k].to = to;
      staged[k].factor = by_value ? staged[k].d_out : nullptr;
      to += staged[k].size();
    }
  }
};

/// Stores the gradients, all utterances of one length together.
void put_gradients(Queue& q, const GradientBatch<float>& b, const Utterances& u) {
  gradients_by_size(q, b, [all = u.all] __device__(std::size_t utterance, std::size_t e) {
    const Utterance& of = all[utterance];
    return of.factor ? -*of.factor * of.to[e] : of.to[e];
  });
}

void loss_forward(Queue& q, const Batch<float>& b) {
  const Utterances u(q, b);
  q.launch(u.grid(), ctc_forward_kernel, u.all, true);
}
void loss_backward(Queue& q, const GradientBatch<float>& b) {
  Utterances u(q, b, b.d_outs);
  u.reserve(q, true);
  q.launch(u.grid(), ctc_states_kernel, u.all);
  q.launch(u.wide(), ctc_symbols_kernel, u.all, 3u);
  put_gradients(q, b, u);
}

void alignment_forward(Queue& q, const Batch<float>& b) {
  const Utterances u(q, b);
  q.launch(u.grid(), ctc_forward_kernel, u.all, false);
  q.launch(u.grid(), ctc_states_kernel, u.all);
  q.launch(u.wide(), ctc_symbols_kernel, u.all, 3u);
}
void backward_by_derivatives(Queue& q, const GradientBatch<float>& b, bool of_entropy) {
  Utterances u(q, b, b.d_outs);
  u.reserve(q, of_entropy);
  q.launch(u.grid(), ctc_derivatives_kernel, u.all, Direction{of_entropy});
  q.launch(u.wide(), ctc_symbols_kernel, u.all, 5u);
  put_gradients(q, b, u);
}
void alignment_backward(Queue& q, const GradientBatch<float>& b) {
  backward_by_derivatives(q, b, false);
}

// Entropy by the chain rule, from the last frame to the first.
DYNET_GLOBAL void ctc_entropy_kernel(const Utterance* all) {
  begin_kernel();
  const Utterance u = all[blockIdx.x];
  double sum = 0;
  for (std::size_t e = threadIdx.x; e < std::size_t{u.frames} * u.states; e += blockDim.x) {
    const auto t = static_cast<unsigned>(e / u.states), s = static_cast<unsigned>(e % u.states);
    const float weight = u.ways(t)[s];
    if (t + 1 == u.frames) sum += surprise(1, weight);
    for (unsigned k = 0; k < 3 && t > 0 && weight != 0; ++k)
      sum += surprise(weight, u.table(k, t)[s]);
  }
  sum = over_block(sum, AddDoubles());
  if (threadIdx.x == 0) *u.out = entropy_of(sum);
}

void entropy_forward(Queue& q, const Batch<float>& b) {
  const Utterances u(q, b);
  q.launch(u.grid(), ctc_forward_kernel, u.all, false);
  q.launch(u.grid(), ctc_states_kernel, u.all);
  q.launch(u.wide(), ctc_entropy_kernel, u.all);
}
void entropy_backward(Queue& q, const GradientBatch<float>& b) {
  backward_by_derivatives(q, b, true);
}

}  // namespace

const Kernels kCtcLoss = {loss_forward, loss_backward};
const Kernels kCtcAlignment = {alignment_forward, alignment_backward};
const Kernels kCtcEntropy = {entropy_forward, entropy_backward};

}  // namespace dynet::cuda
