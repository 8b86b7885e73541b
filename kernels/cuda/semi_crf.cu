#include <algorithm>

#include "dynet-like/structures/semi_crf/attributes.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"
#include "kernels/cuda/structures.cuh"

// Semi-Markov chains, as in kernels/cpu/semi_crf.cc; a block per sentence, a thread per label.

namespace dynet::cuda {
namespace {

/// A batch element of a node: its scores, its scratch, and the other inputs and outputs.
struct Sentence {
  const float *scores, *transitions, *start, *stop;
  float* scratch;
  const Segment* known;
  float* out;  // one number, or the marginals
  const float* d_out;
  unsigned labels, longest, length;
  float* largest;  // transition into each label; subtracted from these, also in `begins`

  DYNET_DEVICE unsigned matrices() const { return labels; }
  DYNET_DEVICE std::size_t matrix_size() const { return labels; }
  DYNET_DEVICE std::size_t size() const { return std::size_t{labels} * longest * length; }
  DYNET_DEVICE std::size_t place(unsigned t, unsigned l) const {
    return (std::size_t{t} * longest + l - 1) * labels;
  }
  DYNET_DEVICE unsigned most(unsigned t) const { return longest < t + 1 ? longest : t + 1; }
  /// Tables as in SegmentTables.
  DYNET_DEVICE float& taken(unsigned t) const { return scratch[t]; }
  DYNET_DEVICE float* row(unsigned table, unsigned t) const {
    return scratch + length + (std::size_t{table} * length + t) * labels;
  }
  DYNET_DEVICE float* ends(unsigned t) const { return row(0, t); }
  DYNET_DEVICE float* begins(unsigned t) const { return row(1, t); }
  DYNET_DEVICE float* ending(unsigned t) const { return row(2, t); }
  DYNET_DEVICE float* beginning(unsigned t) const { return row(3, t); }
  DYNET_DEVICE float* d_ends(unsigned t) const { return row(4, t); }
  DYNET_DEVICE float* d_begins(unsigned t) const { return row(5, t); }
  DYNET_DEVICE float* d_ending(unsigned t) const { return row(6, t); }
  DYNET_DEVICE float* d_beginning(unsigned t) const { return row(7, t); }

  /// The probability that label i ends before t, given that a segment of label j begins at t.
  __device__ float step(unsigned t, unsigned i, unsigned j) const {
    const float all = begins(t)[j];
    if (all == -INFINITY) return 0;
    return exponential((transitions[std::size_t{j} * labels + i] - largest[j]) + ends(t - 1)[i] -
                       all);
  }
  /// use(l, z): the log weight of each length l of a segment of label j that ends at t.
  template <class Use>
  __device__ void each_length(unsigned t, unsigned j, float off, Use use) const {
    for (unsigned l = 1; l <= most(t); ++l) {
      const unsigned first = t + 1 - l;
      const float before = begins(first)[j] + (first > 0 ? largest[j] : 0.0f);
      use(l, before + scores[place(t, l) + j] - off);
      if (l < most(t)) off += taken(t - l);
    }
  }
  /// use(l, q): the probability of each length l of a segment of label j that ends at t.
  template <class Use>
  __device__ void each_share(unsigned t, unsigned j, Use use) const {
    constexpr float kLarge = 256;  // sums of such scores have lost digits
    const float all = ends(t)[j];
    if (all == -INFINITY) {
      for (unsigned l = 1; l <= most(t); ++l) use(l, 0.0f);
      return;
    }
    float sum = 1;
    if (fabsf(all) > kLarge || fabsf(taken(t)) > kLarge) {
      sum = 0;
      each_length(t, j, taken(t), [&](unsigned, float z) { sum += exponential(z - all); });
    }
    each_length(t, j, taken(t),
                [&](unsigned l, float z) { use(l, sum == 0 ? 0 : exponential(z - all) / sum); });
  }
};

// Computes log sums, and the log-partition of each block in `log_z`.
DYNET_GLOBAL void segments_forward_kernel(const Sentence* all, double* log_z) {
  begin_kernel();
  const Sentence s = all[blockIdx.x];
  const unsigned n = s.labels;
  double scale = 0;
  for (unsigned t = 0; t < s.length; ++t) {
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
      if (t == 0) {
        s.begins(t)[j] = s.start[j];
        continue;
      }
      const float *const before = s.ends(t - 1), *const into = s.transitions + std::size_t{j} * n;
      float m = -INFINITY, sum = 0;
      for (unsigned i = 0; i < n; ++i) m = Largest()(m, (into[i] - s.largest[j]) + before[i]);
      m = shift(m);
      for (unsigned i = 0; i < n; ++i) sum += exponential((into[i] - s.largest[j]) + before[i] - m);
      s.begins(t)[j] = m + logf(sum);
    }
    // The ends of a label depend only on the beginnings of that label.
    float most = -INFINITY;
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
      float m = -INFINITY, sum = 0;
      s.each_length(t, j, 0, [&](unsigned, float z) { m = Largest()(m, z); });
      m = shift(m);
      s.each_length(t, j, 0, [&](unsigned, float z) { sum += exponential(z - m); });
      s.ends(t)[j] = sum == 0 ? -INFINITY : m + logf(sum);
      most = Largest()(most, s.ends(t)[j]);
    }
    most = shift(over_block(most, Largest()));
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) s.ends(t)[j] -= most;
    if (threadIdx.x == 0) s.taken(t) = most;
    scale += static_cast<double>(most);
    __syncthreads();
  }
  float m = -INFINITY, sum = 0;
  const float* const last = s.length > 0 ? s.ends(s.length - 1) : nullptr;
  for (unsigned j = threadIdx.x; j < n && last; j += blockDim.x)
    m = Largest()(m, last[j] + s.stop[j]);
  m = shift(over_block(m, Largest()));
  for (unsigned j = threadIdx.x; j < n && last; j += blockDim.x)
    sum += exponential(last[j] + s.stop[j] - m);
  sum = over_block(sum, Sum());
  if (threadIdx.x == 0)
    log_z[blockIdx.x] = last ? scale + static_cast<double>(m) + log(static_cast<double>(sum)) : 0;
}

// Computes probabilities.
DYNET_GLOBAL void segments_backward_kernel(const Sentence* all) {
  begin_kernel();
  const Sentence s = all[blockIdx.x];
  const unsigned n = s.labels;
  if (s.length == 0) return;
  const float* const last = s.ends(s.length - 1);
  float* const ending = s.ending(s.length - 1);
  float m = -INFINITY, sum = 0;
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) m = Largest()(m, last[j] + s.stop[j]);
  m = shift(over_block(m, Largest()));
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
    sum += ending[j] = exponential(last[j] + s.stop[j] - m);
  sum = over_block(sum, Sum());
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
    ending[j] *= sum == 0 ? 0 : 1 / sum;
    for (unsigned t = 0; t < s.length; ++t) s.beginning(t)[j] = 0;
  }
  for (unsigned t = s.length; t-- > 0;) {
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
      s.each_share(t, j,
                   [&](unsigned l, float q) { s.beginning(t + 1 - l)[j] += s.ending(t)[j] * q; });
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n && t > 0; i += blockDim.x) {
      float p = 0;
      for (unsigned j = 0; j < n; ++j)
        if (const float weight = s.beginning(t)[j]; weight != 0) p += weight * s.step(t, i, j);
      s.ending(t - 1)[i] = p;
    }
    __syncthreads();
  }
}

/// Direction of derivatives: the scores (log-probabilities give the same result), or the scores of
/// segments, weighted by `d_out`.
struct Direction {
  bool scores;

  /// Direction of a segment, given the probability q of its length.
  __device__ float segment(const Sentence& s, std::size_t place, float q) const {
    return scores ? by(q) : s.d_out[place];
  }
  /// Direction of a transition or a stop score, given the probability that it contributes to.
  __device__ float by(float p) const { return !scores || p == 0 ? 0 : logf(p); }
};

// The derivative of the probability that a segment of label i ends before t and one of label j
// begins at t.
__device__ float step_derivative(const Sentence& s, const Direction& d, unsigned t, unsigned i,
                                 unsigned j) {
  const float p = s.step(t, i, j);
  if (p == 0) return 0;
  return p * (s.d_beginning(t)[j] +
              s.beginning(t)[j] * (s.d_ends(t - 1)[i] + d.by(p) - s.d_begins(t)[j]));
}
// The derivative of the probability of a segment of label j and length l; q is that of length l.
__device__ float segment_derivative(const Sentence& s, const Direction& d, unsigned t, unsigned j,
                                    unsigned l, float q) {
  const float way = s.d_begins(t + 1 - l)[j] + d.segment(s, s.place(t, l) + j, q);
  return q * (s.d_ending(t)[j] + s.ending(t)[j] * (way - s.d_ends(t)[j]));
}

// Computes derivatives.
DYNET_GLOBAL void segments_derivatives_kernel(const Sentence* all, Direction d) {
  begin_kernel();
  const Sentence s = all[blockIdx.x];
  const unsigned n = s.labels;
  if (s.length == 0) return;
  for (unsigned t = 0; t < s.length; ++t) {
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) {
      float sum = 0;
      for (unsigned i = 0; i < n && t > 0; ++i)
        if (const float p = s.step(t, i, j); p != 0) sum += p * (s.d_ends(t - 1)[i] + d.by(p));
      s.d_begins(t)[j] = sum;
      s.d_beginning(t)[j] = 0;
      sum = 0;
      s.each_share(t, j, [&](unsigned l, float q) {
        sum += q * (s.d_begins(t + 1 - l)[j] + d.segment(s, s.place(t, l) + j, q));
      });
      s.d_ends(t)[j] = sum;
    }
    __syncthreads();
  }
  const unsigned end = s.length - 1;
  float mean = 0;
  const auto way = [&](unsigned j) { return s.d_ends(end)[j] + d.by(s.ending(end)[j]); };
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x) mean += s.ending(end)[j] * way(j);
  mean = over_block(mean, Sum());
  for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
    s.d_ending(end)[j] = s.ending(end)[j] * (way(j) - mean);
  for (unsigned t = s.length; t-- > 0;) {
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x)
      s.each_share(t, j, [&](unsigned l, float q) {
        s.d_beginning(t + 1 - l)[j] += segment_derivative(s, d, t, j, l, q);
      });
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n && t > 0; i += blockDim.x) {
      float sum = 0;
      for (unsigned j = 0; j < n; ++j) sum += step_derivative(s, d, t, i, j);
      s.d_ending(t - 1)[i] = sum;
    }
    __syncthreads();
  }
}

// f(e, label, t, l, q) for each segment of a sentence; e is the index of its score.
template <class F>
__device__ void each_segment(const Sentence& s, F f) {
  for (std::size_t e = threadIdx.x; e < std::size_t{s.labels} * s.length; e += blockDim.x) {
    const auto t = static_cast<unsigned>(e / s.labels), j = static_cast<unsigned>(e % s.labels);
    for (unsigned l = s.most(t) + 1; l <= s.longest; ++l) f(s.place(t, l) + j, j, t, l, 0.0f);
    s.each_share(t, j, [&](unsigned l, float q) { f(s.place(t, l) + j, j, t, l, q); });
  }
}
// Stores probabilities of segments, or their derivatives, at the indices of their scores.
DYNET_GLOBAL void segments_kernel(const Sentence* all, float* const* to, bool derivatives,
                                  Direction d) {
  begin_kernel();
  const Sentence s = all[blockIdx.x];
  float* const own = to ? to[blockIdx.x] : s.out;
  each_segment(s, [&](std::size_t e, unsigned j, unsigned t, unsigned l, float q) {
    if (l > t + 1)
      own[e] = 0;
    else
      own[e] = derivatives ? segment_derivative(s, d, t, j, l, q) : s.ending(t)[j] * q;
  });
}

/// The sentences of a batch, node by node, on the host and on the device.
struct Sentences : Structures<Sentence> {
  Sentences(Queue& q, const Batch<float>& b, const float* const* d_outs = nullptr)
      : Structures(q, b, d_outs, [&](std::size_t i, std::size_t e, const ElementMemory& m) {
          const Dim& d = b.dim(0, i);
          const unsigned labels = b.dim(1, i).rows();
          return Sentence{b.in(0, i) + e * d.batch_size(),
                          b.in(1, i),
                          b.in(2, i),
                          b.in(3, i),
                          m.aux,
                          nullptr,
                          m.out,
                          m.d_out,
                          labels,
                          d.rows() / labels,
                          d.cols(),
                          nullptr};
        }) {
    find_largest_transitions(q, *this);
  }
  /// Adds the known segments.
  void add_known(Queue& q, const Batch<float>& b) {
    for (std::size_t i = 0; i < b.count; ++i) {
      const auto* const host = b.payload<SemiCrfAttr, Segment>(i);
      const Segment* const known = q.send(host, b.attr<SemiCrfAttr>(i).count);
      std::size_t at = 0;
      for (std::size_t e = 0; e < batch; ++e) {
        staged[i * batch + e].known = known + at;
        for (unsigned t = 0; t < b.dim(0, i).cols(); t += host[at++].length) {
        }
      }
    }
  }
  Grid grid() const {
    unsigned labels = 1;
    for (std::size_t k = 0; k < count; ++k) labels = std::max(labels, staged[k].labels);
    return blocks(std::min((labels + kWarp - 1) / kWarp * kWarp, kThreads));
  }
  Grid wide() const { return blocks(kThreads); }

  /// Allocates temporary numbers for the segments of each sentence.
  float* const* reserve(Queue& q) const {
    std::size_t total = 0;
    for (std::size_t k = 0; k < count; ++k) total += staged[k].size();
    float* to = q.temporary(total);
    auto** const places = q.stage<float*>(count);
    for (std::size_t k = 0; k < count; ++k) {
      places[k] = to;
      to += staged[k].size();
    }
    return q.on_device(const_cast<float* const*>(places));
  }
};

/// The gradients of all operands: term(sentence number, operand, element, `found` of the sentence)
/// of one element of a batch. The size of scores depends on the number of words: all sentences of
/// one length are processed together.
template <class F>
void gradients(Queue& q, const GradientBatch<float>& b, float* const* found, F term) {
  gradients_by_size(q, b, [=] __device__(std::size_t sentence, std::size_t e) {
    return term(sentence, 0, e, found[sentence][e]);
  });
  shared_gradients(q, b, [=] __device__(std::size_t sentence, unsigned k, std::size_t e) {
    return term(sentence, k, e, 0.0f);
  });
}

// Expected uses of a score of operand k > 0.
__device__ float expected_uses(const Sentence& s, unsigned k, std::size_t e) {
  if (s.length == 0) return 0;
  if (k == 2) return s.beginning(0)[e];
  if (k == 3) return s.ending(s.length - 1)[e];
  const auto i = static_cast<unsigned>(e % s.labels), j = static_cast<unsigned>(e / s.labels);
  float sum = 0;
  for (unsigned t = 1; t < s.length; ++t)
    if (const float weight = s.beginning(t)[j]; weight != 0) sum += weight * s.step(t, i, j);
  return sum;
}
__device__ float derivative_of_uses(const Sentence& s, const Direction& d, unsigned k,
                                    std::size_t e) {
  if (s.length == 0) return 0;
  if (k == 2) return s.d_beginning(0)[e];
  if (k == 3) return s.d_ending(s.length - 1)[e];
  const auto i = static_cast<unsigned>(e % s.labels), j = static_cast<unsigned>(e / s.labels);
  float sum = 0;
  for (unsigned t = 1; t < s.length; ++t) sum += step_derivative(s, d, t, i, j);
  return sum;
}
/// use(k, index): each use of a score of operand k by the known segments.
template <class Use>
__device__ void each_known_use(const Sentence& s, Use use) {
  const Segment* at = s.known;
  for (unsigned t = 0; t < s.length; t += at++->length) {
    const unsigned end = t + at->length;
    use(0u, s.place(end - 1, at->length) + at->label);
    if (t == 0)
      use(2u, std::size_t{at->label});
    else
      use(1u, std::size_t{at->label} * s.labels + at[-1].label);
    if (end == s.length) use(3u, std::size_t{at->label});
  }
}

double* run_forward(Queue& q, const Sentences& s) {
  return log_partitions(q, s, s.grid(), segments_forward_kernel);
}

void log_partition_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  store_log_z(q, s, run_forward(q, s));
}
void log_partition_backward(Queue& q, const GradientBatch<float>& b) {
  const Sentences s(q, b, b.d_outs);
  float* const* const found = s.reserve(q);
  q.launch(s.grid(), segments_backward_kernel, s.all);
  q.launch(s.wide(), segments_kernel, s.all, found, false, Direction{false});
  gradients(q, b, found,
            [all = s.all] __device__(std::size_t at, unsigned k, std::size_t e, float p) {
              return *all[at].d_out * (k == 0 ? p : expected_uses(all[at], k, e));
            });
}

DYNET_GLOBAL void known_log_prob_kernel(const Sentence* all, const double* log_z,
                                        std::size_t count) {
  begin_kernel();
  const std::size_t k = thread_number();
  if (k >= count) return;
  const Sentence s = all[k];
  const float* const operands[] = {s.scores, s.transitions, s.start, s.stop};
  double score = 0;
  each_known_use(s, [&](unsigned operand, std::size_t place) {
    score += static_cast<double>(operands[operand][place]);
  });
  const double value = score - log_z[k];
  *s.out = static_cast<float>(score == -INFINITY ? score : value > 0 ? 0 : value);
}
void log_prob_forward(Queue& q, const Batch<float>& b) {
  Sentences s(q, b);
  s.add_known(q, b);
  const double* const log_z = run_forward(q, s);
  q.launch_for(s.count, known_log_prob_kernel, s.all, log_z, s.count);
}
void log_prob_backward(Queue& q, const GradientBatch<float>& b) {
  Sentences s(q, b, b.d_outs);
  s.add_known(q, b);
  float* const* const found = s.reserve(q);
  q.launch(s.grid(), segments_backward_kernel, s.all);
  q.launch(s.wide(), segments_kernel, s.all, found, false, Direction{false});
  gradients(q, b, found,
            [all = s.all] __device__(std::size_t at, unsigned k, std::size_t e, float p) {
              if (*all[at].out == -INFINITY) return 0.0f;
              float uses = 0;
              each_known_use(all[at], [&](unsigned operand, std::size_t place) {
                uses += operand == k && place == e ? 1 : 0;
              });
              return *all[at].d_out * (uses - (k == 0 ? p : expected_uses(all[at], k, e)));
            });
}

void marginals_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  run_forward(q, s);
  q.launch(s.grid(), segments_backward_kernel, s.all);
  q.launch(s.wide(), segments_kernel, s.all, nullptr, false, Direction{false});
}
void backward_by_derivatives(Queue& q, const GradientBatch<float>& b, Direction d) {
  const Sentences s(q, b, b.d_outs);
  float* const* const found = s.reserve(q);
  q.launch(s.grid(), segments_derivatives_kernel, s.all, d);
  q.launch(s.wide(), segments_kernel, s.all, found, true, d);
  gradients(q, b, found,
            [all = s.all, d] __device__(std::size_t at, unsigned k, std::size_t e, float dm) {
              const float sum = k == 0 ? dm : derivative_of_uses(all[at], d, k, e);
              return d.scores ? -*all[at].d_out * sum : sum;
            });
}
void marginals_backward(Queue& q, const GradientBatch<float>& b) {
  backward_by_derivatives(q, b, Direction{false});
}

// Entropy by the chain rule, from the last position to the first.
DYNET_GLOBAL void segments_entropy_kernel(const Sentence* all) {
  begin_kernel();
  const Sentence s = all[blockIdx.x];
  double sum = 0;
  each_segment(s, [&](std::size_t, unsigned j, unsigned t, unsigned l, float q) {
    const float weight = s.ending(t)[j];
    if (l == 1 && t + 1 == s.length) sum += surprise(1, weight);
    if (l <= t + 1 && weight != 0) sum += surprise(weight, q);
  });
  for (std::size_t e = threadIdx.x; e < std::size_t{s.labels} * s.length; e += blockDim.x) {
    const auto t = static_cast<unsigned>(e / s.labels), j = static_cast<unsigned>(e % s.labels);
    const float weight = s.beginning(t)[j];
    for (unsigned i = 0; i < s.labels && t > 0 && weight != 0; ++i)
      sum += surprise(weight, s.step(t, i, j));
  }
  sum = over_block(sum, AddDoubles());
  if (threadIdx.x == 0) *s.out = entropy_of(sum);
}
void entropy_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  run_forward(q, s);
  q.launch(s.grid(), segments_backward_kernel, s.all);
  q.launch(s.wide(), segments_entropy_kernel, s.all);
}
void entropy_backward(Queue& q, const GradientBatch<float>& b) {
  backward_by_derivatives(q, b, Direction{true});
}

}  // namespace

const Kernels kSemiCrfLogPartition = {log_partition_forward, log_partition_backward};
const Kernels kSemiCrfLogProb = {log_prob_forward, log_prob_backward};
const Kernels kSemiCrfMarginals = {marginals_forward, marginals_backward};
const Kernels kSemiCrfEntropy = {entropy_forward, entropy_backward};

}  // namespace dynet::cuda
