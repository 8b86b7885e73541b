#pragma once

// Sums over all dependency trees, as in kernels/cpu/spanning_trees.h, in logarithms; one block per
// sentence.

#include "kernels/cuda/tree_sentence.cuh"

namespace dynet::cuda {

inline constexpr unsigned kTreeLevels = 40;  // recursive halvings of the words

/// State of an elimination, as in SpanningElimination.
struct TakenOut {
  unsigned count, root;
  bool dead;
};

// Sum of x[0], if `zero`, and of x[first] to x[last].
inline __device__ LogSlope sum_of_heads(const LogSlope* x, bool zero, unsigned first,
                                        unsigned last) {
  double m = -INFINITY, sum = 0, d = 0;
  const auto each = [&](auto f) {
    if (zero && threadIdx.x == 0) f(x[0]);
    for (unsigned h = first + threadIdx.x; h <= last; h += blockDim.x) f(x[h]);
  };
  each([&](LogSlope v) { m = LargestDouble()(m, v.log); });
  m = over_block(m, LargestDouble());
  if (m == -INFINITY) return log_zero();
  each([&](LogSlope v) {
    const double e = exp(v.log - m);
    sum += e;
    d += e * v.d;
  });
  sum = over_block(sum, AddDoubles());
  d = over_block(d, AddDoubles());
  return {m + log(sum), d / sum};
}

// Eliminates word k; the words first to last remain. Returns the total weight of k's heads.
inline __device__ LogSlope take_out(const TreeSentence& s, LogSlope* a, unsigned k, unsigned first,
                                    unsigned last, TakenOut& t) {
  const unsigned n = s.nodes;
  const LogSlope* const heads = a + std::size_t{k} * n;
  LogSlope* const steps = s.steps + std::size_t{t.count} * n;
  const bool roots_apart = s.single_root && t.root == ~0u;
  LogSlope sum = sum_of_heads(heads, !roots_apart, first, last);
  const bool is_root = roots_apart && sum.log == -INFINITY;
  if (is_root) {
    sum = heads[0];
    t.root = t.count;
  }
  t.dead = t.dead || sum.log == -INFINITY;
  if (t.dead) return sum;
  for (unsigned h = threadIdx.x; h < n; h += blockDim.x) {
    const bool left = h == 0 || (first <= h && h <= last);
    if (is_root)
      steps[h] = h == 0 ? LogSlope{0, 0} : log_zero();
    else
      steps[h] = left ? times(heads[h], {-sum.log, -sum.d}) : log_zero();
  }
  if (threadIdx.x == 0) s.taken[t.count] = k;
  ++t.count;
  __syncthreads();
  const unsigned words = first > last ? 0 : last - first + 1;
  for (std::size_t e = threadIdx.x; e < std::size_t{words} * (words + 1); e += blockDim.x) {
    const auto d = first + static_cast<unsigned>(e / (words + 1));
    const auto at = static_cast<unsigned>(e % (words + 1));
    const unsigned h = at == 0 ? 0 : first + at - 1;
    LogSlope* const column = a + std::size_t{d} * n;
    if (is_root) {
      if (h == 0) column[0] = column[k];
    } else if (h != d) {
      column[h] = plus(column[h], times(steps[h], column[k]));
    }
  }
  __syncthreads();
  return sum;
}

inline __device__ void copy_weights(const TreeSentence& s, const LogSlope* from, LogSlope* to,
                                    unsigned first, unsigned last) {
  const unsigned n = s.nodes, words = last - first + 1;
  for (std::size_t e = threadIdx.x; e < std::size_t{words} * (words + 1); e += blockDim.x) {
    const std::size_t d = first + e / (words + 1), at = e % (words + 1);
    const std::size_t h = at == 0 ? 0 : first + at - 1;
    to[d * n + h] = from[d * n + h];
  }
  __syncthreads();
}

// Computes column `word` of p, after all other words were eliminated.
inline __device__ void finish_word(const TreeSentence& s, unsigned word, const TakenOut& t,
                                   bool with_slopes) {
  const unsigned n = s.nodes;
  LogSlope* const reach = s.reach;  // solved backwards
  for (unsigned h = threadIdx.x; h < n; h += blockDim.x)
    reach[h] = h == 0 ? LogSlope{0, 0} : log_zero();
  __syncthreads();
  // A word eliminated before the root was found has no direct step to it.
  for (unsigned k = threadIdx.x; k < t.count; k += blockDim.x)
    if (t.root == ~0u || k >= t.root) reach[s.taken[k]] = s.steps[std::size_t{k} * n];
  for (unsigned k = t.count; k-- > 1;) {
    __syncthreads();
    const unsigned known = s.taken[k];
    const LogSlope v = reach[known];
    for (unsigned e = threadIdx.x; e < k; e += blockDim.x) {
      LogSlope& to = reach[s.taken[e]];
      to = plus(to, times(s.steps[std::size_t{e} * n + known], v));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && t.root != ~0u) reach[0] = log_zero();
  __syncthreads();
  const LogSlope* const heads = s.weights + std::size_t{word} * n;
  double m = -INFINITY, sum = 0, d = 0;
  const auto each = [&](auto f) {
    for (unsigned h = threadIdx.x; h < n; h += blockDim.x)
      if (h != word) f(h, times(heads[h], reach[h]));
  };
  each([&](unsigned, LogSlope v) { m = LargestDouble()(m, v.log); });
  m = over_block(m, LargestDouble());
  each([&](unsigned, LogSlope v) {
    const double e = m == -INFINITY ? 0 : exp(v.log - m);
    sum += e;
    d += e * v.d;
  });
  sum = over_block(sum, AddDoubles());
  d = over_block(d, AddDoubles());
  each([&](unsigned h, LogSlope v) {
    const double p = m == -INFINITY ? 0 : exp(v.log - m) / sum;
    s.p[std::size_t{word} * n + h] = p == 0 ? 0 : with_slopes ? p * (v.d - d / sum) : p;
  });
  __syncthreads();
}

inline __device__ void read_weights(const TreeSentence& s, Wanted wanted) {
  const unsigned n = s.nodes;
  for (std::size_t e = threadIdx.x; e < s.size(); e += blockDim.x) {
    const auto d = static_cast<unsigned>(e / n), h = static_cast<unsigned>(e % n);
    const bool none = d == 0 || d == h || s.arcs[e] == -INFINITY;
    s.weights[e] = none ? log_zero() : LogSlope{s.score(h, d), s.direction(wanted, h, d)};
  }
  __syncthreads();
}

static DYNET_GLOBAL void spanning_sum_kernel(const TreeSentence* all) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  read_weights(s, Wanted::probabilities);
  TakenOut t{0, ~0u, false};
  double sum = 0;
  for (unsigned k = s.nodes - 1; k > 0 && !t.dead; --k)
    sum += take_out(s, s.weights, k, 1, k - 1, t).log;
  if (threadIdx.x == 0) *s.log_z = t.dead ? -INFINITY : sum;
}

// Computes `p`. Eliminates all words but one for each word; halves of the words share eliminations.
static DYNET_GLOBAL void spanning_shares_kernel(const TreeSentence* all, Wanted wanted) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  const unsigned n = s.nodes;
  read_weights(s, wanted);
  for (std::size_t e = threadIdx.x; e < s.size(); e += blockDim.x) s.p[e] = 0;
  if (n == 1) return;
  // Words first to last of a level; words `kept` to `end` remain, all other words are eliminated.
  struct Task {
    unsigned first, last, kept, end, level;
    TakenOut taken;
  };
  Task tasks[kTreeLevels];
  unsigned waiting = 0;
  tasks[waiting++] = {1, n - 1, 1, n - 1, 0, {0, ~0u, false}};
  while (waiting > 0) {
    Task t = tasks[--waiting];
    const LogSlope* const from =
        t.level == 0 ? s.weights : s.levels + std::size_t{t.level - 1} * s.size();
    LogSlope* const to = s.levels + std::size_t{t.level} * s.size();
    __syncthreads();
    copy_weights(s, from, to, t.first, t.last);
    for (unsigned k = t.last; k > t.end && !t.taken.dead; --k)
      take_out(s, to, k, t.kept, k - 1, t.taken);
    for (unsigned k = t.first; k < t.kept && !t.taken.dead; ++k)
      take_out(s, to, k, k + 1, t.end, t.taken);
    if (t.taken.dead) return;
    if (t.kept == t.end) {
      finish_word(s, t.kept, t.taken, wanted != Wanted::probabilities);
      continue;
    }
    const unsigned middle = t.kept + (t.end - t.kept) / 2;
    tasks[waiting++] = {t.kept, t.end, middle + 1, t.end, t.level + 1, t.taken};
    tasks[waiting++] = {t.kept, t.end, t.kept, middle, t.level + 1, t.taken};
  }
}

// log Z minus the expected score, both relative to the most probable heads.
static DYNET_GLOBAL void spanning_entropy_kernel(const TreeSentence* all) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  const unsigned n = s.nodes;
  double sum = 0, unsure = 0, best_scores = 0;
  for (unsigned d = 1 + threadIdx.x; d < n; d += blockDim.x) {
    const double* const p = s.p + std::size_t{d} * n;
    unsigned best = 0;
    for (unsigned h = 1; h < n; ++h)
      if (p[h] > p[best]) best = h;
    if (p[best] == 0) continue;
    best_scores += s.score(best, d);
    for (unsigned h = 0; h < n; ++h) {
      if (p[h] == 0) continue;
      if (p[h] != 1) unsure = 1;
      sum -= p[h] * (s.score(h, d) - s.score(best, d));
    }
  }
  sum = over_block(sum, AddDoubles());
  best_scores = over_block(best_scores, AddDoubles());
  unsure = over_block(unsure, LargestDouble());
  if (threadIdx.x > 0) return;
  const double h = *s.log_z - best_scores + sum;
  *s.out = static_cast<float>(*s.log_z == -INFINITY || unsure <= 0 || h < 0 ? 0 : h);
}

}  // namespace dynet::cuda
