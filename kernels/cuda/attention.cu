#include <algorithm>

#include "dynet-like/attributes/attention.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/loops.cuh"
#include "kernels/cuda/scores.cuh"

// Attention over blocks of queries and keys, as in kernels/cpu/attention.cc. Values and gradients
// of queries: a thread block has 32 queries of a head, and loops over the keys 32 at a time.
// Gradients of keys and values: a block has 32 keys, and loops over the queries. In a tile a warp
// has four rows, and a lane one column of them.

namespace dynet::cuda {
namespace {

constexpr unsigned kSide = kWarp, kPadded = kSide + 1;  // of a tile
constexpr unsigned kTile = kSide * kPadded;
constexpr unsigned kWarps = kThreads / kWarp, kOwn = kSide / kWarps;  // rows of a warp
constexpr unsigned kPieces = 4, kWide = kPieces * kSide;              // numbers per pass

/// Sizes and flags shared by all nodes of a batch.
struct Heads {
  unsigned heads, key_heads, size, value_size, biases;
  bool causal;
  float scale;

  DYNET_DEVICE unsigned group() const { return heads / key_heads; }
};

/// A batch element of a node.
struct Sentence {
  const float *q, *k, *v, *bias;  // bias: null for none
  float* out;
  float* kept;  // for each query of a head: the largest score, then the inverse sum
  const float* d_out;
  float *d_q, *d_k, *d_v;  // null: not needed
  float *means, *d_bias;   // d_bias: by part
  unsigned queries, keys, length;

  /// Number of keys that query i attends to, from the first on.
  DYNET_DEVICE unsigned visible(const Heads& h, unsigned i) const {
    if (!h.causal) return length;
    const unsigned end = i + 1 + keys, n = end > queries ? end - queries : 0;
    return n < length ? n : length;
  }
  DYNET_DEVICE float* most(unsigned head) const { return kept + std::size_t{2} * queries * head; }
  DYNET_DEVICE float* by_sum(unsigned head) const { return most(head) + queries; }
  DYNET_DEVICE float* mean(unsigned head) const { return means + std::size_t{queries} * head; }

  /// The score of query i and key j, given their product.
  __device__ float score(const Heads& h, unsigned head, unsigned i, unsigned j,
                         float product) const {
    const float s = product * h.scale;
    if (!bias) return s;
    const int reach = static_cast<int>(h.biases / 2);
    const int off = static_cast<int>(j + queries) - static_cast<int>(i + keys);
    const int cut = off < -reach ? -reach : off > reach ? reach : off;
    return s + bias[std::size_t{head} * h.biases + static_cast<unsigned>(cut + reach)];
  }
};

/// A range of queries or keys from `first` on; `number` counts from zero in each sentence.
struct Part {
  unsigned sentence, first, number;
};

/// Columns of a head, at distance `step`.
struct Columns {
  const float* x;
  std::size_t step;
  unsigned size, count;

  /// The columns from `first` on, without their first `row` numbers.
  __device__ Columns from(unsigned first, unsigned row = 0) const {
    return {x + first * step + row, step, size - row, count - first};
  }
};
__device__ Columns queries_of(const Sentence& s, const Heads& h, unsigned head) {
  return {s.q + std::size_t{head} * h.size, std::size_t{h.heads} * h.size, h.size, s.queries};
}
__device__ Columns gradients_of(const Sentence& s, const Heads& h, unsigned head) {
  return {s.d_out + std::size_t{head} * h.value_size, std::size_t{h.heads} * h.value_size,
          h.value_size, s.queries};
}
__device__ Columns keys_of(const Sentence& s, const Heads& h, unsigned key_head) {
  return {s.k + std::size_t{key_head} * h.size, std::size_t{h.key_heads} * h.size, h.size, s.keys};
}
__device__ Columns values_of(const Sentence& s, const Heads& h, unsigned key_head) {
  return {s.v + std::size_t{key_head} * h.value_size, std::size_t{h.key_heads} * h.value_size,
          h.value_size, s.keys};
}

__device__ unsigned lane() { return threadIdx.x % kWarp; }
__device__ unsigned own_row(unsigned u) { return threadIdx.x / kWarp + u * kWarps; }

// Loads numbers [first, first + 32) of 32 columns; missing ones are zero.
__device__ void load(const Columns& c, unsigned first, float* tile) {
  for (unsigned u = 0; u < kOwn; ++u) {
    const unsigned column = own_row(u), r = first + lane();
    tile[column * kPadded + lane()] =
        column < c.count && r < c.size ? c.x[column * c.step + r] : 0.0f;
  }
}

// Products of the warp's own columns of a with the lane's column of b.
__device__ void multiply(const Columns& a, const Columns& b, float* a_tile, float* b_tile,
                         float (&to)[kOwn]) {
  for (float& x : to) x = 0;
  for (unsigned first = 0; first == 0 || first < a.size; first += kSide) {
    __syncthreads();  // until the previous tiles are read
    load(a, first, a_tile);
    load(b, first, b_tile);
    __syncthreads();
    for (unsigned r = 0; r < kSide; ++r) {
      const float x = b_tile[lane() * kPadded + r];
      DYNET_UNROLL(4)
      for (unsigned u = 0; u < kOwn; ++u) to[u] += a_tile[own_row(u) * kPadded + r] * x;
    }
  }
}

/// Sums of a warp for its rows: up to kWide numbers per row; a lane has every 32nd of them.
struct Sums {
  float x[kOwn][kPieces];

  __device__ Sums() {
    for (auto& row : x)
      for (float& v : row) v = 0;
  }
  __device__ void scale(unsigned u, float by) {
    DYNET_UNROLL(4)
    for (unsigned p = 0; p < kPieces; ++p) x[u][p] *= by;
  }
  /// Adds columns [begin[u], end[u]) to row u, with the weights in the tile's row.
  __device__ void add(const float* weights, const unsigned (&begin)[kOwn],
                      const unsigned (&end)[kOwn], const Columns& c, float* tile) {
    DYNET_UNROLL(4)
    for (unsigned p = 0; p < kPieces; ++p) {
      if (p * kSide >= c.size) continue;
      __syncthreads();  // until weights are written and the tile is read
      load(c, p * kSide, tile);
      __syncthreads();
      DYNET_UNROLL(4)
      for (unsigned u = 0; u < kOwn; ++u)
        for (unsigned j = begin[u]; j < end[u]; ++j)
          x[u][p] += weights[own_row(u) * kPadded + j] * tile[j * kPadded + lane()];
    }
  }
  /// Stores row u times `by`: its first `size` numbers, or fewer in the last pass.
  __device__ void store(unsigned u, float by, unsigned size, float* to) const {
    DYNET_UNROLL(4)
    for (unsigned p = 0; p < kPieces; ++p)
      if (const unsigned r = p * kSide + lane(); r < size) to[r] = x[u][p] * by;
  }
};

/// Part, head, and range of the result's numbers that a block computes.
struct Job {
  unsigned part, head, first;

  __device__ Job(unsigned heads, unsigned jobs)
      : part(blockIdx.x / jobs / heads),
        head(blockIdx.x / jobs % heads),
        first(blockIdx.x % jobs * kWide) {}
};

/// Number of keys, or queries, of a tile that begins at `first`, out of `n`.
__device__ unsigned in_tile(unsigned n, unsigned first) {
  return n <= first ? 0 : n - first < kSide ? n - first : kSide;
}

DYNET_GLOBAL void attention_kernel(const Sentence* sentences, const Part* parts, Heads h,
                                   unsigned jobs) {
  begin_kernel();
  DYNET_SHARED(float, a, kTile);
  DYNET_SHARED(float, b, kTile);
  DYNET_SHARED(float, weights, kTile);
  const Job job(h.heads, jobs);
  const Part part = parts[job.part];
  const Sentence s = sentences[part.sentence];
  const Columns queries = queries_of(s, h, job.head).from(part.first);
  const Columns keys = keys_of(s, h, job.head / h.group());
  const Columns values = values_of(s, h, job.head / h.group());
  const unsigned last = part.first + in_tile(s.queries, part.first) - 1;
  Sums sums;
  float most[kOwn], sum[kOwn];
  for (unsigned u = 0; u < kOwn; ++u) most[u] = -INFINITY, sum[u] = 0;
  for (unsigned first = 0; first < s.visible(h, last); first += kSide) {
    float product[kOwn];
    unsigned begin[kOwn], end[kOwn];
    multiply(queries, keys.from(first), a, b, product);
    DYNET_UNROLL(4)
    for (unsigned u = 0; u < kOwn; ++u) {
      const unsigned i = part.first + own_row(u);
      begin[u] = 0;
      end[u] = i <= last ? in_tile(s.visible(h, i), first) : 0;
      const bool seen = lane() < end[u];
      const float score = seen ? s.score(h, job.head, i, first + lane(), product[u]) : -INFINITY;
      // NaN is never the largest score, in any lane.
      const float m = over_warp(score == score ? score : -INFINITY, Largest());
      if (m > most[u]) {
        const float by = exponential(most[u] - m);
        sums.scale(u, by);
        sum[u] *= by;
        most[u] = m;
      }
      const float p = seen ? exponential(score - shift(most[u])) : 0.0f;
      sum[u] += over_warp(p, Sum());
      weights[own_row(u) * kPadded + lane()] = p;
    }
    sums.add(weights, begin, end, values.from(first, job.first), b);
  }
  for (unsigned u = 0; u < kOwn; ++u) {
    const unsigned i = part.first + own_row(u);
    if (i > last) continue;
    const float by_sum = sum[u] == 0 ? 0 : 1 / sum[u];
    if (h.value_size > 0)
      sums.store(u, by_sum, h.value_size - job.first,
                 s.out + (std::size_t{i} * h.heads + job.head) * h.value_size + job.first);
    if (job.first == 0 && lane() == 0) {
      s.most(job.head)[i] = shift(most[u]);
      s.by_sum(job.head)[i] = by_sum;
    }
  }
}

// The product of each query's value and its gradient: the expected slope of its scores.
DYNET_GLOBAL void means_kernel(const Sentence* sentences, const Part* parts, Heads h) {
  begin_kernel();
  const Job job(h.heads, 1);
  const Part part = parts[job.part];
  const Sentence s = sentences[part.sentence];
  for (unsigned u = 0; u < kOwn; ++u) {
    const unsigned i = part.first + own_row(u);
    if (i >= s.queries) continue;  // uniform in the warp
    const std::size_t at = (std::size_t{i} * h.heads + job.head) * h.value_size;
    float sum = 0;
    for (unsigned r = lane(); r < h.value_size; r += kWarp) sum += s.out[at + r] * s.d_out[at + r];
    sum = over_warp(sum, Sum());
    if (lane() == 0) s.mean(job.head)[i] = sum;
  }
}

// Adds slopes of a tile to those of the biases; `off` is its first key minus its first query.
__device__ void add_biases(const Heads& h, const float* slopes, int off, float* diagonals,
                           float* to) {
  constexpr int kAcross = static_cast<int>(kSide) - 1;
  const int reach = static_cast<int>(h.biases / 2), d = static_cast<int>(threadIdx.x) - kAcross;
  __syncthreads();
  if (d <= kAcross) {
    float sum = 0;
    for (int i = d < 0 ? -d : 0; i <= kAcross && i + d <= kAcross; ++i)
      sum += slopes[i * static_cast<int>(kPadded) + i + d];
    diagonals[d + kAcross] = sum;
    if (off + d > -reach && off + d < reach) to[off + d + reach] += sum;
  }
  __syncthreads();
  // Sums beyond both ends, which are the same element for reach 0.
  if (threadIdx.x > 1 || (threadIdx.x == 1 && reach == 0)) return;
  float sum = 0;
  for (int e = -kAcross; e <= kAcross; ++e)
    if (reach == 0 || (threadIdx.x == 0 ? off + e <= -reach : off + e >= reach))
      sum += diagonals[e + kAcross];
  to[threadIdx.x == 0 ? 0 : 2 * reach] += sum;
}

// Gradients of queries and biases.
DYNET_GLOBAL void d_queries_kernel(const Sentence* sentences, const Part* parts, Heads h,
                                   unsigned jobs) {
  begin_kernel();
  DYNET_SHARED(float, a, kTile);
  DYNET_SHARED(float, b, kTile);
  DYNET_SHARED(float, slopes, kTile);
  DYNET_SHARED(float, diagonals, 2 * kSide);
  const Job job(h.heads, jobs);
  const Part part = parts[job.part];
  const Sentence s = sentences[part.sentence];
  const Columns queries = queries_of(s, h, job.head).from(part.first);
  const Columns d_values = gradients_of(s, h, job.head).from(part.first);
  const Columns keys = keys_of(s, h, job.head / h.group());
  const Columns values = values_of(s, h, job.head / h.group());
  const unsigned last = part.first + in_tile(s.queries, part.first) - 1;
  float* const d_bias = s.d_bias && job.first == 0
                            ? s.d_bias + (std::size_t{part.number} * h.heads + job.head) * h.biases
                            : nullptr;
  for (unsigned r = threadIdx.x; r < h.biases && d_bias; r += kThreads) d_bias[r] = 0;
  Sums sums;
  for (unsigned first = 0; first < s.visible(h, last); first += kSide) {
    float product[kOwn], slope[kOwn];
    unsigned begin[kOwn], end[kOwn];
    multiply(d_values, values.from(first), a, b, slope);
    multiply(queries, keys.from(first), a, b, product);
    DYNET_UNROLL(4)
    for (unsigned u = 0; u < kOwn; ++u) {
      const unsigned i = part.first + own_row(u);
      begin[u] = 0;
      end[u] = i <= last ? in_tile(s.visible(h, i), first) : 0;
      float ds = 0;
      if (lane() < end[u]) {
        const float score = s.score(h, job.head, i, first + lane(), product[u]);
        ds = exponential(score - s.most(job.head)[i]) * s.by_sum(job.head)[i] *
             (slope[u] - s.mean(job.head)[i]);
      }
      slopes[own_row(u) * kPadded + lane()] = ds;
    }
    if (d_bias)
      add_biases(h, slopes,
                 static_cast<int>(first + s.queries) - static_cast<int>(part.first + s.keys),
                 diagonals, d_bias);
    if (s.d_q) sums.add(slopes, begin, end, keys.from(first, job.first), b);
  }
  for (unsigned u = 0; u < kOwn && s.d_q && h.size > 0; ++u)
    if (const unsigned i = part.first + own_row(u); i <= last)
      sums.store(u, h.scale, h.size - job.first,
                 s.d_q + (std::size_t{i} * h.heads + job.head) * h.size + job.first);
}

// Gradients of keys, or of values; rows of tiles are keys.
DYNET_GLOBAL void d_keys_kernel(const Sentence* sentences, const Part* parts, Heads h,
                                unsigned jobs, bool of_values) {
  begin_kernel();
  DYNET_SHARED(float, a, kTile);
  DYNET_SHARED(float, b, kTile);
  DYNET_SHARED(float, weights, kTile);
  const Job job(h.key_heads, jobs);
  const Part part = parts[job.part];
  const Sentence s = sentences[part.sentence];
  const Columns keys = keys_of(s, h, job.head).from(part.first);
  const Columns values = values_of(s, h, job.head).from(part.first);
  Sums sums;
  for (unsigned head = job.head * h.group(); head < (job.head + 1) * h.group(); ++head)
    for (unsigned first = 0; first < s.queries; first += kSide) {
      const unsigned count = in_tile(s.queries, first);
      if (s.visible(h, first + count - 1) <= part.first) continue;  // no query sees them
      const Columns queries = queries_of(s, h, head).from(first);
      const Columns d_values = gradients_of(s, h, head).from(first);
      float product[kOwn], slope[kOwn];
      unsigned begin[kOwn], end[kOwn];
      multiply(keys, queries, a, b, product);
      if (!of_values) multiply(values, d_values, a, b, slope);
      const unsigned i = first + lane();
      const unsigned visible = lane() < count ? s.visible(h, i) : 0;
      DYNET_UNROLL(4)
      for (unsigned u = 0; u < kOwn; ++u) {
        const unsigned j = part.first + own_row(u);
        // The queries that attend to a key are the last ones.
        const unsigned earliest = h.causal && j + s.queries > s.keys ? j + s.queries - s.keys : 0;
        begin[u] = earliest < first ? 0 : earliest - first;
        end[u] = j < s.length ? count : 0;
        float weight = 0;
        if (j < visible) {
          const float score = s.score(h, head, i, j, product[u]);
          weight = exponential(score - s.most(head)[i]) * s.by_sum(head)[i];
          if (!of_values) weight *= slope[u] - s.mean(head)[i];
        }
        weights[own_row(u) * kPadded + lane()] = weight;
      }
      sums.add(weights, begin, end, (of_values ? d_values : queries).from(0, job.first), b);
    }
  const unsigned size = of_values ? h.value_size : h.size;
  float* const to = of_values ? s.d_v : s.d_k;
  for (unsigned u = 0; u < kOwn && size > 0; ++u)
    if (const unsigned j = part.first + own_row(u); j < s.keys)
      sums.store(u, of_values ? 1.0f : h.scale, size - job.first,
                 to + (std::size_t{j} * h.key_heads + job.head) * size + job.first);
}

/// The sentences of a batch, node by node, on the host and on the device.
struct Sentences {
  Heads heads;
  Sentence* staged;
  const Sentence* all;
  std::size_t count, batch;

  Sentences(Queue& q, const Batch<float>& b) : heads(heads_of(b)), batch(b.dim().bd) {
    count = b.count * batch;
    staged = q.stage<Sentence>(count);
    for (std::size_t i = 0; i < b.count; ++i) {
      const auto& a = b.attr<AttentionAttr>(i);
      const auto* const lengths = b.payload<AttentionAttr, unsigned>(i);
      const unsigned queries = b.dim(0, i).cols(), keys = b.dim(1, i).cols();
      const auto in = [&](std::size_t k, std::size_t e) {
        const Dim& d = b.dim(k, i);
        return b.in(k, i) + (d.bd == 1 ? 0 : e * d.batch_size());
      };
      for (std::size_t e = 0; e < batch; ++e) {
        Sentence s{};
        s.q = in(0, e), s.k = in(1, e), s.v = in(2, e);
        s.bias = b.arity > 3 ? in(3, e) : nullptr;
        s.out = b.out(i) + e * b.node(i).dim.batch_size();
        s.kept = b.aux(i) + e * 2 * queries * heads.heads;
        s.queries = queries, s.keys = keys;
        s.length = a.count == 0 ? keys : lengths[e];
        staged[i * batch + e] = s;
      }
    }
    all = q.on_device(staged);
  }
  static Heads heads_of(const Batch<float>& b) {
    const AttentionSizes s(b.attr<AttentionAttr>(), b.dim(0), b.dim(1), b.dim(2),
                           b.arity > 3 ? &b.dim(3) : nullptr);
    const auto n = [](std::size_t x) { return static_cast<unsigned>(x); };
    return {n(s.heads),
            n(s.key_heads),
            n(s.size),
            n(s.value_size),
            n(s.biases),
            s.causal,
            static_cast<float>(s.scale)};
  }

  /// Ranges of 32 queries or keys.
  struct Parts {
    const Part* all;
    unsigned count;
  };
  Parts parts(Queue& q, unsigned Sentence::*size) const {
    std::size_t n = 0;
    for (std::size_t s = 0; s < count; ++s) n += (staged[s].*size + kSide - 1) / kSide;
    Part *const first = q.stage<Part>(n), *to = first;
    for (std::size_t s = 0; s < count; ++s)
      for (unsigned at = 0; at < staged[s].*size; at += kSide)
        *to++ = {static_cast<unsigned>(s), at, at / kSide};
    return {q.on_device(first), static_cast<unsigned>(n)};
  }
  /// Allocates `size(s)` temporary numbers for each sentence s.
  template <class F>
  void reserve(Queue& q, float* Sentence::*to, F size) {
    std::size_t total = 0;
    for (std::size_t s = 0; s < count; ++s) total += size(staged[s]);
    float* at = q.temporary(total);
    for (std::size_t s = 0; s < count; ++s) {
      staged[s].*to = at;
      at += size(staged[s]);
    }
  }
};

/// Number of passes for results of `size` numbers; at least one.
unsigned jobs_for(unsigned size) { return std::max((size + kWide - 1) / kWide, 1u); }

void forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  const auto parts = s.parts(q, &Sentence::queries);
  const unsigned jobs = jobs_for(s.heads.value_size);
  q.launch(Grid{parts.count * s.heads.heads * jobs}, attention_kernel, s.all, parts.all, s.heads,
           jobs);
}

/// Gradient of an operand of a sentence, as a whole.
struct Whole {
  unsigned operand;  // queries, keys, values
  std::size_t rows;

  DYNET_DEVICE std::size_t size(const Sentence& s) const {
    return rows * (operand == 0 ? s.queries : s.keys);
  }
  DYNET_DEVICE float value(const Sentence& s, std::size_t e) const {
    return (operand == 0 ? s.d_q : operand == 1 ? s.d_k : s.d_v)[e];
  }
};
struct InParts {
  std::size_t elements;

  DYNET_DEVICE std::size_t size(const Sentence&) const { return elements; }
  DYNET_DEVICE float value(const Sentence& s, std::size_t e) const {
    float sum = 0;
    for (std::size_t p = 0; p < (s.queries + kSide - 1) / kSide; ++p)
      sum += s.d_bias[p * elements + e];
    return sum;
  }
};

bool is_needed(const GradientBatch<float>& b, std::size_t k) {
  return k < b.arity && std::any_of(b.d_ins + k * b.count, b.d_ins + (k + 1) * b.count,
                                    [](const float* d) { return d != nullptr; });
}

/// Stores the gradient of operand k; an operand shared by all batch elements gets their sum.
template <class F>
void add_found(Queue& q, const GradientBatch<float>& b, const Sentences& s, std::size_t k,
               F found) {
  if (!is_needed(b, k)) return;
  const std::size_t batch = s.batch;
  const bool shared = b.dim(k).bd == 1;
  each_gradient(q, b, k, [=, all = s.all] __device__(std::uint32_t node, std::size_t e) {
    const Sentence* const first = all + node * batch;
    if (!shared) {
      const Quotient at = divide(e, found.size(*first));
      return found.value(first[at.by], at.rest);
    }
    float sum = 0;
    for (std::size_t n = 0; n < batch; ++n) sum += found.value(first[n], e);
    return sum;
  });
}

void backward(Queue& q, const GradientBatch<float>& b) {
  Sentences s(q, b);
  const Heads h = s.heads;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < s.batch; ++e)
      s.staged[i * s.batch + e].d_out = b.d_out(i) + e * b.node(i).dim.batch_size();
  s.reserve(q, &Sentence::means,
            [&](const Sentence& x) { return std::size_t{x.queries} * h.heads; });
  const std::size_t q_size = std::size_t{h.size} * h.heads;
  const std::size_t k_size = std::size_t{h.size} * h.key_heads;
  const std::size_t v_size = std::size_t{h.value_size} * h.key_heads;
  const std::size_t bias_size = std::size_t{h.biases} * h.heads;
  if (is_needed(b, 0))
    s.reserve(q, &Sentence::d_q, [=](const Sentence& x) { return q_size * x.queries; });
  if (is_needed(b, 1))
    s.reserve(q, &Sentence::d_k, [=](const Sentence& x) { return k_size * x.keys; });
  if (is_needed(b, 2))
    s.reserve(q, &Sentence::d_v, [=](const Sentence& x) { return v_size * x.keys; });
  if (is_needed(b, 3))
    s.reserve(q, &Sentence::d_bias,
              [=](const Sentence& x) { return bias_size * ((x.queries + kSide - 1) / kSide); });
  const auto queries = s.parts(q, &Sentence::queries), keys = s.parts(q, &Sentence::keys);
  q.launch(Grid{queries.count * h.heads}, means_kernel, s.all, queries.all, h);
  if (is_needed(b, 0) || is_needed(b, 3)) {
    const unsigned jobs = is_needed(b, 0) ? jobs_for(h.size) : 1;
    q.launch(Grid{queries.count * h.heads * jobs}, d_queries_kernel, s.all, queries.all, h, jobs);
  }
  for (const bool of_values : {false, true}) {
    if (!is_needed(b, of_values ? 2 : 1)) continue;
    const unsigned jobs = jobs_for(of_values ? h.value_size : h.size);
    q.launch(Grid{keys.count * h.key_heads * jobs}, d_keys_kernel, s.all, keys.all, h, jobs,
             of_values);
  }
  add_found(q, b, s, 0, Whole{0, q_size});
  add_found(q, b, s, 1, Whole{1, k_size});
  add_found(q, b, s, 2, Whole{2, v_size});
  add_found(q, b, s, 3, InParts{bias_size});
}

}  // namespace

const Kernels kAttention = {forward, backward};

}  // namespace dynet::cuda
