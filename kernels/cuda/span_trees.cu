#include "dynet-like/structures/span_trees/attributes.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"
#include "kernels/cuda/structures.cuh"

// Binary trees over words, as in kernels/cpu/span_trees.cc; one block per sentence, whose threads
// divide the spans of one width.

namespace dynet::cuda {
namespace {

constexpr unsigned kBlock = 128;

/// Positive numbers of unbounded size, m 2^e, as in kernels/cpu/scaled.h.
struct Scaled {
  static constexpr double kOfZero = -1e300;

  double m, e;
};
inline __device__ double whole_power_of_two(double e) {
  return e < -1000 ? 0 : ldexp(1.0, static_cast<int>(e));
}
/// An equal number with m in [1/2, 1).
inline __device__ Scaled normalized(double m, double e) {
  if (m == 0) return {0, Scaled::kOfZero};
  if (!(m < INFINITY)) return {m, e};
  int power = 0;
  m = frexp(m, &power);
  return {m, e + power};
}
inline __device__ Scaled scaled_exp(double x) {
  if (x == -INFINITY) return {0, Scaled::kOfZero};
  if (!(fabs(x) < INFINITY)) return {NAN, 0};
  const double y = x * 1.4426950408889634, n = rint(y);
  if (!(fabs(y) < 0x1p51)) return {1, n};
  return {exp((x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33), n};
}

/// A sentence: its scores, its scratch, and the other inputs and outputs of an operation.
struct Chart {
  const float* scores;
  double* scratch;
  const LabelledSpan* tree;
  float* out;  // one number, or the marginals
  const float* d_out;
  unsigned words, labels;
  SpanTables tables;

  __device__ std::size_t size() const { return std::size_t{words} * words * labels; }
  __device__ std::size_t score_at(unsigned i, unsigned j, unsigned label) const {
    return (std::size_t{label} * words + j) * words + i;
  }
  /// Table element of the span of `width` words from word i; of the span from word i to word j.
  __device__ double& at(std::size_t table, unsigned width, unsigned i) const {
    return scratch[table + tables.at(width, i)];
  }
  __device__ double& of(std::size_t table, unsigned i, unsigned j) const {
    return at(table, j - i + 1, i);
  }
  __device__ Scaled scaled(std::size_t table, unsigned width, unsigned i) const {
    const double* const p = &at(table, width, i);
    return {*p, p[tables.size()]};
  }
  __device__ void put(std::size_t table, unsigned width, unsigned i, const Scaled& s) const {
    double* const p = &at(table, width, i);
    *p = s.m;
    p[tables.size()] = s.e;
  }
  /// Product of the sums of two adjacent parts.
  __device__ Scaled both(unsigned left, unsigned i, unsigned right) const {
    const Scaled l = scaled(tables.inside(), left, i);
    const Scaled r = scaled(tables.inside(), right, i + left);
    return {l.m * r.m, l.e + r.e};
  }
  /// The probability that a span from word i is split into parts of these widths.
  __device__ double split(unsigned left, unsigned i, unsigned right) const {
    const Scaled all = scaled(tables.norm(), left + right, i), some = both(left, i, right);
    return all.m == 0 ? 0 : some.m * whole_power_of_two(some.e - all.e) / all.m;
  }
  /// The probability of label k, given the span.
  __device__ double label(unsigned i, unsigned j, unsigned k) const {
    const double sum = of(tables.labels(), i, j);
    const auto largest = static_cast<float>(of(tables.largest(), i, j));
    return sum == 0
               ? 0
               : static_cast<double>(exponential(scores[score_at(i, j, k)] - shift(largest))) / sum;
  }
};

/// f(width, i) for the spans of one width, divided among the threads of a block.
template <class F>
__device__ void each_of_width(const Chart& c, unsigned width, F f) {
  for (unsigned i = threadIdx.x; i + width <= c.words; i += blockDim.x) f(width, i);
  __syncthreads();
}
/// f(i, j) for all spans.
template <class F>
__device__ void each_span(const Chart& c, F f) {
  const std::size_t n = c.words;
  for (std::size_t e = threadIdx.x; e < n * n; e += blockDim.x) {
    const Quotient at = divide(e, n);
    if (at.rest <= at.by) f(static_cast<unsigned>(at.rest), static_cast<unsigned>(at.by));
  }
  __syncthreads();
}

// Computes the sums over trees, and the log-partition of each block in `log_z`.
DYNET_GLOBAL void inside_kernel(const Chart* all, double* log_z) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  each_span(c, [&](unsigned i, unsigned j) {
    float largest = c.scores[c.score_at(i, j, 0)];
    double sum = 0;
    for (unsigned k = 1; k < c.labels; ++k)
      largest = Largest()(largest, c.scores[c.score_at(i, j, k)]);
    for (unsigned k = 0; k < c.labels; ++k)
      sum += static_cast<double>(exponential(c.scores[c.score_at(i, j, k)] - shift(largest)));
    c.of(c.tables.largest(), i, j) = static_cast<double>(largest);
    c.of(c.tables.labels(), i, j) = sum;
    const Scaled s = scaled_exp(static_cast<double>(largest));
    c.put(c.tables.inside(), j - i + 1, i, normalized(s.m * sum, s.e));
  });
  for (unsigned width = 2; width <= c.words; ++width)
    each_of_width(c, width, [&](unsigned, unsigned i) {
      double most = 2 * Scaled::kOfZero, sum = 0;
      for (unsigned left = 1; left < width; ++left) {
        const double e = c.both(left, i, width - left).e;
        most = e > most ? e : most;
      }
      for (unsigned left = 1; left < width; ++left) {
        const Scaled s = c.both(left, i, width - left);
        sum += s.m * whole_power_of_two(s.e - most);
      }
      c.put(c.tables.norm(), width, i, {sum, most});
      const Scaled own = c.scaled(c.tables.inside(), width, i);
      c.put(c.tables.inside(), width, i, normalized(sum * own.m, most + own.e));
    });
  if (threadIdx.x > 0) return;
  log_z[blockIdx.x] = 0;
  if (c.words == 0) return;
  const Scaled s = c.scaled(c.tables.inside(), c.words, 0);
  log_z[blockIdx.x] = s.m == 0 ? -INFINITY : log(s.m) + s.e * 0.693147180559945309417;
}

/// The sum of f(parent's width, parent's first word, p) over the possible parents of a span from
/// word i; p is the probability of the parent's split.
template <class F>
__device__ double over_parents(const Chart& c, unsigned width, unsigned i, F f) {
  double sum = 0;
  for (unsigned other = 1; i + width + other <= c.words; ++other)
    sum += f(width + other, i, c.split(width, i, other));
  for (unsigned other = 1; other <= i; ++other)
    sum += f(width + other, i - other, c.split(other, i - other, width));
  return sum;
}

// Computes the marginals of spans.
DYNET_GLOBAL void marginals_kernel(const Chart* all) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  const std::size_t m = c.tables.marginals();
  for (unsigned width = c.words; width > 0; --width)
    each_of_width(c, width, [&](unsigned, unsigned i) {
      c.at(m, width, i) = width == c.words
                              ? (c.at(c.tables.inside(), width, i) == 0 ? 0 : 1)
                              : over_parents(c, width, i, [&](unsigned w, unsigned at, double p) {
                                  return c.at(m, w, at) * p;
                                });
    });
}

/// Direction of derivatives: all scores, or the scores weighted by `d_out`.
struct Direction {
  bool scores;

  __device__ double operator()(const Chart& c, std::size_t at) const {
    if (!scores) return static_cast<double>(c.d_out[at]);
    const float x = c.scores[at];
    return fabsf(x) < INFINITY ? static_cast<double>(x) : 0;
  }
};

// Computes the derivatives of the sums over trees and of the marginals of spans.
DYNET_GLOBAL void derivatives_kernel(const Chart* all, Direction direction) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  const std::size_t di = c.tables.d_inside(), dn = c.tables.d_norm(), dm = c.tables.d_marginals();
  each_span(c, [&](unsigned i, unsigned j) {
    double d = 0;
    for (unsigned k = 0; k < c.labels; ++k)
      if (const double q = c.label(i, j, k); q != 0) d += q * direction(c, c.score_at(i, j, k));
    c.of(di, i, j) = d;
    c.of(dn, i, j) = 0;
  });
  for (unsigned width = 2; width <= c.words; ++width)
    each_of_width(c, width, [&](unsigned, unsigned i) {
      double d = 0;
      for (unsigned left = 1; left < width; ++left)
        d +=
            c.split(left, i, width - left) * (c.at(di, left, i) + c.at(di, width - left, i + left));
      c.at(dn, width, i) = d;
      c.at(di, width, i) += d;
    });
  for (unsigned width = c.words; width > 0; --width)
    each_of_width(c, width, [&](unsigned, unsigned i) {
      c.at(dm, width, i) = over_parents(c, width, i, [&](unsigned w, unsigned at, double p) {
        const double other = at == i ? c.at(di, w - width, i + width) : c.at(di, w - width, at);
        return p * (c.at(dm, w, at) + c.at(c.tables.marginals(), w, at) *
                                          (c.at(di, width, i) + other - c.at(dn, w, at)));
      });
    });
}

/// f(i, j, k) for the span and label of element e of the scores; zero if i > j.
template <class F>
__device__ double of_label(const Chart& c, std::size_t e, F f) {
  const Quotient column = divide(e, c.words), label = divide(column.by, c.words);
  const auto i = static_cast<unsigned>(column.rest), j = static_cast<unsigned>(label.rest);
  return i > j ? 0 : f(i, j, static_cast<unsigned>(label.by));
}
__device__ double marginal(const Chart& c, std::size_t e) {
  return of_label(c, e, [&](unsigned i, unsigned j, unsigned k) {
    return c.label(i, j, k) * c.of(c.tables.marginals(), i, j);
  });
}
__device__ double derivative(const Chart& c, const Direction& direction, std::size_t e) {
  return of_label(c, e, [&](unsigned i, unsigned j, unsigned k) {
    const double q = c.label(i, j, k);
    if (q == 0) return 0.0;
    const double label = c.of(c.tables.d_inside(), i, j) - c.of(c.tables.d_norm(), i, j);
    return q * (c.of(c.tables.d_marginals(), i, j) +
                c.of(c.tables.marginals(), i, j) * (direction(c, e) - label));
  });
}

/// The sentences of a batch, node by node, on the host and on the device.
struct Charts : Structures<Chart> {
  Charts(Queue& q, const Batch<float>& b, const float* const* d_outs = nullptr)
      : Structures(q, b, d_outs, [&](std::size_t i, std::size_t e, const ElementMemory& m) {
          const Dim& d = b.dim(0, i);
          return Chart{b.in(0, i) + e * d.batch_size(),
                       reinterpret_cast<double*>(m.aux),
                       nullptr,
                       m.out,
                       m.d_out,
                       d.rows(),
                       d[2],
                       SpanTables{d.rows()}};
        }) {}
  Grid grid() const { return blocks(kBlock); }
  /// Adds the trees of SpanTreeAttr.
  void add_trees(Queue& q, const Batch<float>& b) {
    for (std::size_t i = 0; i < b.count; ++i) {
      const auto& a = b.attr<SpanTreeAttr>(i);
      const auto* const trees = q.send(b.payload<SpanTreeAttr, LabelledSpan>(i), a.count);
      for (std::size_t e = 0; e < batch; ++e)
        staged[i * batch + e].tree = trees + e * (a.count / batch);
    }
  }
};

double* run_inside(Queue& q, const Charts& c) {
  return log_partitions(q, c, c.grid(), inside_kernel);
}

/// The gradients of all scores: term(sentence, element).
template <class F>
void gradients(Queue& q, const GradientBatch<float>& b, const Charts& c, F term) {
  each_gradient(q, b, 0,
                [=, all = c.all, batch = c.batch] __device__(std::uint32_t node, std::size_t e) {
                  const Quotient at = divide(e, all[node * batch].size());
                  const Chart& chart = all[node * batch + at.by];
                  return static_cast<float>(term(chart, at.rest));
                });
}

void log_partition_forward(Queue& q, const Batch<float>& b) {
  const Charts c(q, b);
  store_log_z(q, c, run_inside(q, c));
}
void log_partition_backward(Queue& q, const GradientBatch<float>& b) {
  const Charts c(q, b, b.d_outs);
  q.launch(c.grid(), marginals_kernel, c.all);
  gradients(q, b, c, [] __device__(const Chart& chart, std::size_t e) {
    return static_cast<double>(*chart.d_out) * marginal(chart, e);
  });
}

inline __device__ unsigned spans_of_tree(const Chart& c) {
  return c.words == 0 ? 0 : 2 * c.words - 1;
}

// One block per sentence.
DYNET_GLOBAL void log_prob_kernel(const Chart* all, const double* log_z) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  double score = 0;
  for (unsigned k = threadIdx.x; k < spans_of_tree(c); k += blockDim.x) {
    const LabelledSpan s = c.tree[k];
    score += s.label == kAnyLabel
                 ? c.of(c.tables.largest(), s.first, s.last) +
                       log(c.of(c.tables.labels(), s.first, s.last))
                 : static_cast<double>(c.scores[c.score_at(s.first, s.last, s.label)]);
  }
  score = over_block(score, AddDoubles());
  if (threadIdx.x > 0) return;
  const double value = score - log_z[blockIdx.x];
  *c.out = static_cast<float>(score == -INFINITY ? score : value > 0 ? 0 : value);
}

void log_prob_forward(Queue& q, const Batch<float>& b) {
  Charts c(q, b);
  c.add_trees(q, b);
  const double* const log_z = run_inside(q, c);
  q.launch(c.grid(), log_prob_kernel, c.all, log_z);
}

// Marks each span: 0 outside the tree, kHasSpan with unknown label, otherwise the label plus one.
constexpr double kHasSpan = -1;
DYNET_GLOBAL void known_kernel(const Chart* all) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  double* const known = c.scratch + c.tables.known();
  for (std::size_t e = threadIdx.x; e < c.tables.size(); e += blockDim.x) known[e] = 0;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < spans_of_tree(c); k += blockDim.x) {
    const LabelledSpan s = c.tree[k];
    c.of(c.tables.known(), s.first, s.last) =
        s.label == kAnyLabel ? kHasSpan : static_cast<double>(s.label) + 1;
  }
}

void log_prob_backward(Queue& q, const GradientBatch<float>& b) {
  Charts c(q, b, b.d_outs);
  c.add_trees(q, b);
  q.launch(c.grid(), known_kernel, c.all);
  q.launch(c.grid(), marginals_kernel, c.all);
  gradients(q, b, c, [] __device__(const Chart& chart, std::size_t e) {
    if (*chart.out == -INFINITY) return 0.0;
    const double right = of_label(chart, e, [&](unsigned i, unsigned j, unsigned k) {
      const double known = chart.of(chart.tables.known(), i, j);
      if (known == kHasSpan) return chart.label(i, j, k);
      return known == static_cast<double>(k) + 1 ? 1.0 : 0.0;
    });
    return static_cast<double>(*chart.d_out) * (right - marginal(chart, e));
  });
}

// One block per sentence.
DYNET_GLOBAL void store_marginals_kernel(const Chart* all) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  for (std::size_t e = threadIdx.x; e < c.size(); e += blockDim.x)
    c.out[e] = static_cast<float>(marginal(c, e));
}

void marginals_forward(Queue& q, const Batch<float>& b) {
  const Charts c(q, b);
  run_inside(q, c);
  q.launch(c.grid(), marginals_kernel, c.all);
  q.launch(c.grid(), store_marginals_kernel, c.all);
}
void marginals_backward(Queue& q, const GradientBatch<float>& b) {
  const Charts c(q, b, b.d_outs);
  const Direction direction{false};
  q.launch(c.grid(), derivatives_kernel, c.all, direction);
  gradients(q, b, c, [direction] __device__(const Chart& chart, std::size_t e) {
    return derivative(chart, direction, e);
  });
}

// Entropy by the chain rule, from the whole sentence down.
DYNET_GLOBAL void entropy_kernel(const Chart* all) {
  begin_kernel();
  const Chart c = all[blockIdx.x];
  const auto surprise = [](double p) { return p > 0 ? -p * log(p) : 0.0; };
  double sum = 0;
  each_span(c, [&](unsigned i, unsigned j) {
    double h = 0;
    for (unsigned k = 0; k < c.labels; ++k) h += surprise(c.label(i, j, k));
    for (unsigned m = i; m < j; ++m) h += surprise(c.split(m - i + 1, i, j - m));
    sum += c.of(c.tables.marginals(), i, j) * h;
  });
  sum = over_block(sum, AddDoubles());
  if (threadIdx.x == 0) *c.out = static_cast<float>(sum < 0 ? 0 : sum);
}

void entropy_forward(Queue& q, const Batch<float>& b) {
  const Charts c(q, b);
  run_inside(q, c);
  q.launch(c.grid(), marginals_kernel, c.all);
  q.launch(c.grid(), entropy_kernel, c.all);
}
void entropy_backward(Queue& q, const GradientBatch<float>& b) {
  const Charts c(q, b, b.d_outs);
  const Direction direction{true};
  q.launch(c.grid(), derivatives_kernel, c.all, direction);
  gradients(q, b, c, [direction] __device__(const Chart& chart, std::size_t e) {
    return -static_cast<double>(*chart.d_out) * derivative(chart, direction, e);
  });
}

}  // namespace

const Kernels kSpanLogPartition = {log_partition_forward, log_partition_backward};
const Kernels kSpanLogProb = {log_prob_forward, log_prob_backward};
const Kernels kSpanMarginals = {marginals_forward, marginals_backward};
const Kernels kSpanEntropy = {entropy_forward, entropy_backward};

}  // namespace dynet::cuda
