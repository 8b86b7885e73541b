#include "dynet-like/structures/crf/attributes.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"
#include "kernels/cuda/structures.cuh"

// Linear chains, as in kernels/cpu/crf.cc; one block per sequence.

namespace dynet::cuda {
namespace {

constexpr unsigned kBlock = 64;  // there are few tags

/// A sequence: its scores, its scratch, and the other inputs and outputs of an operation.
struct Chain {
  const float *emissions, *transitions, *start, *stop;
  float* forward;
  const unsigned* known;  // tags
  float* out;             // one number, or the marginals
  const float* d_out;
  unsigned tags, length, stride;
  float* largest;  // transition of each matrix; it is subtracted from all, also in `norm`

  DYNET_DEVICE std::size_t size() const { return std::size_t{tags} * length; }
  DYNET_DEVICE std::size_t matrix_size() const { return std::size_t{tags} * tags; }
  /// Matrices of transitions: one of each step, or of all.
  DYNET_DEVICE unsigned matrices() const { return length < 2 ? 0 : stride == 0 ? 1 : length - 1; }
  /// The largest transition into position t.
  DYNET_DEVICE float scale(unsigned t) const { return largest[stride == 0 ? 0 : t - 1]; }
  DYNET_DEVICE float* norm() const { return forward + size(); }
  DYNET_DEVICE float* marginals() const { return forward + 2 * size(); }
  DYNET_DEVICE float* d_forward() const { return forward + 3 * size(); }
  DYNET_DEVICE float* d_marginals() const { return forward + 4 * size(); }

  /// Index of the transition from tag i at position t - 1 to tag j at t.
  DYNET_DEVICE std::size_t transition(unsigned t, unsigned i, unsigned j) const {
    return std::size_t{t - 1} * stride + std::size_t{j} * tags + i;
  }
  /// The probability of tag i at t - 1, given tag j at t.
  __device__ float before(unsigned t, unsigned i, unsigned j) const {
    const float n = norm()[t * tags + j];
    if (n == -INFINITY) return 0;
    return expf((transitions[transition(t, i, j)] - scale(t)) + forward[(t - 1) * tags + i] - n);
  }
};

/// Direction of derivatives: the scores (log-probabilities give the same result), or the emissions,
/// weighted by `d_out`.
struct Direction {
  bool scores;

  __device__ float emission(const Chain& c, unsigned t, unsigned j) const {
    return scores ? 0 : c.d_out[t * c.tags + j];
  }
  /// Direction of a transition or a stop score, given the probability that it contributes to.
  __device__ float by(float p) const { return scores ? logf(p) : 0; }
};

// Subtracts the maximum from n numbers and returns it in every thread of the block.
__device__ float rescale(float* f, unsigned n) {
  float m = -INFINITY;
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) m = Largest()(m, f[j]);
  m = shift(over_block(m, Largest()));
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) f[j] -= m;
  __syncthreads();
  return m;
}

// Computes `forward` and `norm`, and the log-partition of each block in `log_z`.
DYNET_GLOBAL void forward_kernel(const Chain* all, double* log_z) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  const unsigned n = c.tags;
  double scale = 0;
  for (unsigned t = 0; t < c.length; ++t) {
    float* const now = c.forward + t * n;
    const float most = largest_of(c.emissions + t * n, n), of_t = t > 0 ? c.scale(t) : 0;
    scale += static_cast<double>(most) + static_cast<double>(of_t);
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
      const float emission = c.emissions[t * n + j] - most;
      if (t == 0) {
        now[j] = c.start[j] + emission;
        continue;
      }
      const float *const before = now - n, *const into = c.transitions + c.transition(t, 0, j);
      float m = -INFINITY, sum = 0;
      for (unsigned i = 0; i < n; ++i) m = Largest()(m, (into[i] - of_t) + before[i]);
      m = shift(m);
      for (unsigned i = 0; i < n; ++i) sum += expf((into[i] - of_t) + before[i] - m);
      const float norm = m + logf(sum);
      c.norm()[t * n + j] = norm;
      now[j] = norm + emission;
    }
    __syncthreads();
    scale += static_cast<double>(rescale(now, n));
  }
  double sum = 0;
  float m = -INFINITY;
  const float* const last = c.forward + (c.length - 1) * std::size_t{n};
  for (unsigned j = threadIdx.x; j < n && c.length > 0; j += blockDim.x)
    m = Largest()(m, last[j] + c.stop[j]);
  m = shift(over_block(m, Largest()));
  for (unsigned j = threadIdx.x; j < n && c.length > 0; j += blockDim.x)
    sum += static_cast<double>(expf(last[j] + c.stop[j] - m));
  sum = over_block(sum, AddDoubles());
  if (threadIdx.x == 0)
    log_z[blockIdx.x] = c.length == 0 ? 0 : scale + static_cast<double>(m) + log(sum);
}

// Computes the marginals.
DYNET_GLOBAL void marginals_kernel(const Chain* all) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  const unsigned n = c.tags;
  if (c.length == 0) return;
  const std::size_t last = (c.length - 1) * std::size_t{n};
  float* const m = c.marginals();
  float largest = -INFINITY, sum = 0;
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
    largest = Largest()(largest, c.forward[last + j] + c.stop[j]);
  largest = shift(over_block(largest, Largest()));
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
    sum += m[last + j] = expf(c.forward[last + j] + c.stop[j] - largest);
  sum = over_block(sum, Sum());
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) m[last + j] *= sum == 0 ? 0 : 1 / sum;
  for (unsigned t = c.length - 1; t > 0; --t) {
    __syncthreads();
    const float* const now = m + t * n;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
      float p = 0;
      for (unsigned j = 0; j < n; ++j)
        if (now[j] != 0) p += now[j] * c.before(t, i, j);
      m[(t - 1) * n + i] = p;
    }
  }
}

// The derivative of the probability of tag i at t - 1 and tag j at t.
__device__ float pair_derivative(const Chain& c, const Direction& d, unsigned t, unsigned i,
                                 unsigned j) {
  const unsigned now = t * c.tags + j, before = (t - 1) * c.tags + i;
  const float p = c.before(t, i, j);
  if (p == 0) return 0;
  const float own = c.d_forward()[now] - d.emission(c, t, j);
  return p * (c.d_marginals()[now] + c.marginals()[now] * (c.d_forward()[before] + d.by(p) - own));
}

// Computes the derivatives of `forward` and of the marginals.
DYNET_GLOBAL void derivatives_kernel(const Chain* all, Direction d) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  const unsigned n = c.tags;
  if (c.length == 0) return;
  float *const df = c.d_forward(), *const dm = c.d_marginals();
  for (unsigned t = 0; t < c.length; ++t) {
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
      float sum = d.emission(c, t, j);
      for (unsigned i = 0; i < n && t > 0; ++i)
        if (const float p = c.before(t, i, j); p != 0) sum += p * (df[(t - 1) * n + i] + d.by(p));
      df[t * n + j] = sum;
    }
    __syncthreads();
  }
  const std::size_t last = (c.length - 1) * std::size_t{n};
  float mean = 0;
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
    const float p = c.marginals()[last + j];
    dm[last + j] = p == 0 ? 0 : df[last + j] + d.by(p);
    mean += p * dm[last + j];
  }
  mean = over_block(mean, Sum());
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
    dm[last + j] = c.marginals()[last + j] * (dm[last + j] - mean);
  for (unsigned t = c.length - 1; t > 0; --t) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
      float sum = 0;
      for (unsigned j = 0; j < n; ++j) sum += pair_derivative(c, d, t, i, j);
      dm[(t - 1) * n + i] = sum;
    }
  }
}

// Expected uses of a score of operand k; `table`: probabilities of tags, `pair`: of tag pairs.
template <class P>
__device__ float uses(const Chain& c, const float* table, unsigned k, std::size_t e, P pair) {
  if (c.length == 0) return 0;
  if (k == 0 || k == 2) return table[e];
  if (k == 3) return table[(c.length - 1) * std::size_t{c.tags} + e];
  const auto i = static_cast<unsigned>(e % c.tags), j = static_cast<unsigned>(e / c.tags % c.tags);
  if (c.stride > 0) return pair(static_cast<unsigned>(e / c.stride) + 1, i, j);
  float sum = 0;
  for (unsigned t = 1; t < c.length; ++t) sum += pair(t, i, j);
  return sum;
}

__device__ float expected_uses(const Chain& c, unsigned k, std::size_t e) {
  const float* const m = c.marginals();
  return uses(c, m, k, e, [&](unsigned t, unsigned i, unsigned j) {
    const float p = m[t * c.tags + j];
    return p == 0 ? 0 : p * c.before(t, i, j);
  });
}
__device__ float derivative_of_uses(const Chain& c, const Direction& d, unsigned k, std::size_t e) {
  return uses(c, c.d_marginals(), k, e,
              [&](unsigned t, unsigned i, unsigned j) { return pair_derivative(c, d, t, i, j); });
}
// Uses of a score in the known sequence.
__device__ float known_uses(const Chain& c, unsigned k, std::size_t e) {
  const unsigned n = c.tags;
  if (c.length == 0) return 0;
  if (k == 0) return c.known[e / n] == e % n;
  if (k == 2) return c.known[0] == e;
  if (k == 3) return c.known[c.length - 1] == e;
  float sum = 0;
  for (unsigned t = 1; t < c.length; ++t) sum += c.transition(t, c.known[t - 1], c.known[t]) == e;
  return sum;
}

/// The sequences of a batch, node by node, on the host and on the device.
struct Chains : Structures<Chain> {
  Chains(Queue& q, const Batch<float>& b, const float* const* d_outs = nullptr)
      : Structures(q, b, d_outs, [&](std::size_t i, std::size_t e, const ElementMemory& m) {
          const Dim& d = b.dim(0, i);
          return Chain{b.in(0, i) + e * d.batch_size(),
                       b.in(1, i),
                       b.in(2, i),
                       b.in(3, i),
                       m.aux,
                       nullptr,
                       m.out,
                       m.d_out,
                       d.rows(),
                       d.cols(),
                       b.dim(1, i)[2] > 1 ? d.rows() * d.rows() : 0,
                       nullptr};
        }) {
    find_largest_transitions(q, *this);
  }
  Grid grid() const { return blocks(kBlock); }
};

double* run_forward(Queue& q, const Chains& c) {
  return log_partitions(q, c, c.grid(), forward_kernel);
}

/// The gradients of all operands: term(chain number, operand, element) of one element of a batch.
template <class F>
void gradients(Queue& q, const GradientBatch<float>& b, const Chains& c, F term) {
  each_gradient(q, b, 0,
                [=, all = c.all, batch = c.batch] __device__(std::uint32_t node, std::size_t e) {
                  const Quotient at = divide(e, all[node * batch].size());
                  return term(node * batch + at.by, 0, at.rest);
                });
  shared_gradients(q, b, term);
}

void log_partition_forward(Queue& q, const Batch<float>& b) {
  const Chains c(q, b);
  store_log_z(q, c, run_forward(q, c));
}
void log_partition_backward(Queue& q, const GradientBatch<float>& b) {
  const Chains c(q, b, b.d_outs);
  q.launch(c.grid(), marginals_kernel, c.all);
  gradients(q, b, c, [all = c.all] __device__(std::size_t at, unsigned k, std::size_t e) {
    return *all[at].d_out * expected_uses(all[at], k, e);
  });
}

/// Sequences that agree with the known tags, as chains with tables after those of full chains.
struct KnownChains {
  Chain* staged;
  const Chain* all;
  bool partly = false;

  KnownChains(Queue& q, const Batch<float>& b, Chains& c) {
    staged = q.stage<Chain>(c.count);
    for (std::size_t i = 0; i < b.count; ++i) {
      const auto& a = b.attr<CrfTagsAttr>(i);
      const unsigned* const tags = q.send(b.payload<CrfTagsAttr, unsigned>(i), a.count);
      partly = partly || a.partly;
      for (std::size_t k = i * c.batch; k < (i + 1) * c.batch; ++k) {
        Chain& chain = c.staged[k];
        chain.known = tags + (k - i * c.batch) * chain.length;
        staged[k] = chain;
        if (!a.partly) {
          staged[k].length = 0;  // its score is summed directly
          continue;
        }
        const CrfTables tables{std::size_t{chain.tags} * chain.length};
        staged[k].emissions = chain.forward + tables.known();
        staged[k].forward = chain.forward + 4 * tables.size;
      }
    }
    all = q.on_device(staged);
  }
};

DYNET_GLOBAL void constrain_kernel(const Chain* all, const Chain* known) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  if (known[blockIdx.x].length == 0) return;
  auto* const to = const_cast<float*>(known[blockIdx.x].emissions);
  for (std::size_t e = threadIdx.x; e < c.size(); e += blockDim.x) {
    const unsigned tag = c.known[e / c.tags];
    to[e] = tag == kAnyTag || tag == e % c.tags ? c.emissions[e] : -INFINITY;
  }
}

// One block per sequence: its score, or the log sum over sequences with the known tags.
DYNET_GLOBAL void log_prob_kernel(const Chain* all, const Chain* known, const double* log_z,
                                  const double* log_known) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  double sum = 0;
  const bool partly = known[blockIdx.x].length > 0;
  for (unsigned t = threadIdx.x; t < c.length && !partly; t += blockDim.x) {
    const unsigned tag = c.known[t];
    sum += static_cast<double>(c.emissions[t * c.tags + tag]);
    sum += static_cast<double>(t == 0 ? c.start[tag]
                                      : c.transitions[c.transition(t, c.known[t - 1], tag)]);
    if (t + 1 == c.length) sum += static_cast<double>(c.stop[tag]);
  }
  sum = over_block(sum, AddDoubles());
  if (threadIdx.x > 0) return;
  const double score = partly ? log_known[blockIdx.x] : sum, value = score - log_z[blockIdx.x];
  *c.out = static_cast<float>(score == -INFINITY ? score : value > 0 ? 0 : value);
}

void log_prob_forward(Queue& q, const Batch<float>& b) {
  Chains c(q, b);
  const KnownChains known(q, b, c);
  const double* const log_z = run_forward(q, c);
  double* log_known = nullptr;
  if (known.partly) {
    log_known = reinterpret_cast<double*>(q.temporary(2 * c.count));
    q.launch(c.grid(), constrain_kernel, c.all, known.all);
    q.launch(c.grid(), forward_kernel, known.all, log_known);
  }
  q.launch(c.grid(), log_prob_kernel, c.all, known.all, log_z, log_known);
}
void log_prob_backward(Queue& q, const GradientBatch<float>& b) {
  Chains c(q, b, b.d_outs);
  const KnownChains known(q, b, c);
  q.launch(c.grid(), marginals_kernel, c.all);
  if (known.partly) q.launch(c.grid(), marginals_kernel, known.all);
  gradients(q, b, c,
            [all = c.all, some = known.all] __device__(std::size_t at, unsigned k, std::size_t e) {
              const Chain& chain = all[at];
              if (*chain.out == -INFINITY) return 0.0f;
              const bool partly = some[at].length > 0;
              const float right = partly ? expected_uses(some[at], k, e) : known_uses(chain, k, e);
              return *chain.d_out * (right - expected_uses(chain, k, e));
            });
}

// One block per sequence.
DYNET_GLOBAL void copy_marginals_kernel(const Chain* all) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  for (std::size_t e = threadIdx.x; e < c.size(); e += blockDim.x) c.out[e] = c.marginals()[e];
}

void marginals_forward(Queue& q, const Batch<float>& b) {
  const Chains c(q, b);
  run_forward(q, c);
  q.launch(c.grid(), marginals_kernel, c.all);
  q.launch(c.grid(), copy_marginals_kernel, c.all);
}
void marginals_backward(Queue& q, const GradientBatch<float>& b) {
  const Chains c(q, b, b.d_outs);
  const Direction d{false};
  q.launch(c.grid(), derivatives_kernel, c.all, d);
  gradients(q, b, c, [all = c.all, d] __device__(std::size_t at, unsigned k, std::size_t e) {
    return derivative_of_uses(all[at], d, k, e);
  });
}

// Entropy by the chain rule, from the last position to the first.
DYNET_GLOBAL void entropy_kernel(const Chain* all) {
  begin_kernel();
  const Chain c = all[blockIdx.x];
  const unsigned n = c.tags;
  double sum = 0;
  for (std::size_t e = threadIdx.x; e < c.size(); e += blockDim.x) {
    const auto t = static_cast<unsigned>(e / n), j = static_cast<unsigned>(e % n);
    const float weight = c.marginals()[e];
    if (t + 1 == c.length) sum += surprise(1, weight);
    for (unsigned i = 0; i < n && t > 0 && weight != 0; ++i)
      sum += surprise(weight, c.before(t, i, j));
  }
  sum = over_block(sum, AddDoubles());
  if (threadIdx.x == 0) *c.out = entropy_of(sum);
}

void entropy_forward(Queue& q, const Batch<float>& b) {
  const Chains c(q, b);
  run_forward(q, c);
  q.launch(c.grid(), marginals_kernel, c.all);
  q.launch(c.grid(), entropy_kernel, c.all);
}
void entropy_backward(Queue& q, const GradientBatch<float>& b) {
  const Chains c(q, b, b.d_outs);
  const Direction d{true};
  q.launch(c.grid(), derivatives_kernel, c.all, d);
  gradients(q, b, c, [all = c.all, d] __device__(std::size_t at, unsigned k, std::size_t e) {
    return -*all[at].d_out * derivative_of_uses(all[at], d, k, e);
  });
}

}  // namespace

const Kernels kCrfLogPartition = {log_partition_forward, log_partition_backward};
const Kernels kCrfLogProb = {log_prob_forward, log_prob_backward};
const Kernels kCrfMarginals = {marginals_forward, marginals_backward};
const Kernels kCrfEntropy = {entropy_forward, entropy_backward};

}  // namespace dynet::cuda
