#include "kernels/cpu/semi_crf.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/exponential.h"

// Semi-Markov chains (Sarawagi, Cohen 2004) in log space. With b_t(j) the log sum over all prefixes
// before a segment of label j that begins at t, and e_t(j) over all prefixes that end with a
// segment of label j at t,
//
//     b_t(j) = log sum_i e^(e_{t-1}(i) + a(i, j)),   e_t(j) = log sum_l e^(b_{t-l+1}(j) + s_t(l,
//     j)),
//
// the previous label has probability p_t(i | j) and the length q_t(l | j), the terms of these sums
// over the sums. From the last position backwards, the probability of segments that end at t is
// distributed to lengths by q, and that of segments that begin at t to previous labels by p. All
// sums have positive terms, so nothing cancels. Directional derivatives, used for the gradients of
// marginals and of the entropy, differentiate these formulas.

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Scores of a batch element of a node, and its scratch.
struct Segmented {
  std::size_t labels, longest, length;
  const T *scores, *transitions, *start, *stop;
  SegmentTables tables;
  T* scratch;

  Segmented(const Batch<T>& b, std::size_t i, std::size_t element)
      : labels(b.dim(1, i).rows()),
        longest(b.dim(0, i).rows() / labels),
        length(b.dim(0, i).cols()),
        scores(b.in(0, i) + element * b.dim(0, i).batch_size()),
        transitions(b.in(1, i)),
        start(b.in(2, i)),
        stop(b.in(3, i)),
        tables{labels, length},
        scratch(b.aux(i) + element * (b.node(i).form->aux(b.graph, b.node(i)) / b.dim(0, i).bd)) {}

  std::size_t size() const { return labels * longest * length; }
  /// Index of the scores of segments of length l that end at t.
  std::size_t place(std::size_t t, std::size_t l) const { return (t * longest + l - 1) * labels; }
  std::size_t most(std::size_t t) const { return std::min(longest, t + 1); }
  /// Shift subtracted from the log sums at t and at all later positions.
  T& taken(std::size_t t) const { return scratch[tables.shifts() + t]; }
  T* ends(std::size_t t) const { return row(tables.ends(), t); }
  T* begins(std::size_t t) const { return row(tables.begins(), t); }
  T* ending(std::size_t t) const { return row(tables.ending(), t); }
  T* beginning(std::size_t t) const { return row(tables.beginning(), t); }
  T* d_ends(std::size_t t) const { return row(tables.d_ends(), t); }
  T* d_begins(std::size_t t) const { return row(tables.d_begins(), t); }
  T* d_ending(std::size_t t) const { return row(tables.d_ending(), t); }
  T* d_beginning(std::size_t t) const { return row(tables.d_beginning(), t); }

 private:
  T* row(std::size_t table, std::size_t t) const { return scratch + table + t * labels; }
};

/// Calls use(l, z) with the log weights of labels from `at` on, for each length of segments that
/// end at t; the weights are relative to the shift `off`.
template <class Part, class Use>
void each_length(const Segmented& s, std::size_t t, T off, std::size_t at, Part part, Use use) {
  using L = Lanes<T>;
  for (std::size_t l = 1; l <= s.most(t); ++l) {
    use(l, L::load(s.begins(t + 1 - l) + at, part) + L::load(s.scores + s.place(t, l) + at, part) -
               off);
    if (l < s.most(t)) off += s.taken(t - l);
  }
}

/// Computes the log sums, and returns the log-partition.
double run_forward(const Segmented& s) {
  using L = Lanes<T>;
  constexpr T kNever = -kInfinity<T>;
  const std::size_t n = s.labels;
  if (s.length == 0) return 0;
  const auto log_sum_of = [n](const T* before, const T* into) {
    T m = kNever;
    for (std::size_t i = 0; i < n; ++i) m = before[i] + into[i] > m ? before[i] + into[i] : m;
    m = shift(m);
    return m + std::log(sum_of_exponentials<T>(n, [&](std::size_t at, std::size_t size, T* to) {
             array(to, size) = array(before + at, size) + array(into + at, size) - m;
           }));
  };
  double scale = 0;
  for (std::size_t t = 0; t < s.length; ++t) {
    T *const begins = s.begins(t), *const ends = s.ends(t);
    for (std::size_t j = 0; j < n; ++j)
      begins[j] = t == 0 ? s.start[j] : log_sum_of(s.ends(t - 1), s.transitions + j * n);
    each_vector<T>(n, [&](std::size_t at, auto part) {
      typename L::V m = kNever + typename L::V{}, sum{};
      each_length(s, t, T(0), at, part, [&](std::size_t, auto z) { m = z > m ? z : m; });
      m = m == kNever ? typename L::V{} : m;
      each_length(s, t, T(0), at, part, [&](std::size_t, auto z) { sum += exponential(z - m); });
      L::store(ends + at, sum == T(0) ? kNever + typename L::V{} : m + log(sum), part);
    });
    T m = kNever;
    for (std::size_t j = 0; j < n; ++j) m = ends[j] > m ? ends[j] : m;
    s.taken(t) = m = shift(m);
    array(ends, n) -= m;  // keeps numbers small in long sentences
    scale += static_cast<double>(m);
  }
  return scale + static_cast<double>(log_sum_of(s.ends(s.length - 1), s.stop));
}

/// Calls use(j, p) with the probabilities p_t(i | j). Unreachable labels have zero probabilities.
/// The largest transition is subtracted first, so that large ones leave the digits of the sums.
template <class Use>
void each_step(const Segmented& s, std::size_t t, Use use) {
  const std::size_t n = s.labels;
  const T* const before = s.ends(t - 1);
  over_softmaxes<T>(
      0, n, n,
      [&](std::size_t j, T* to) {
        const T* const into = s.transitions + j * n;
        array(to, n) = (array(into, n) - shift(largest(into, n))) + array(before, n);
      },
      use);
}

/// Calls use(l, q) with the probabilities q_t(l | j) of labels from `at` on. Where scores are so
/// large that their sums have lost digits, q is divided by its sum.
template <class Part, class Use>
void each_share(const Segmented& s, std::size_t t, std::size_t at, Part part, Use use) {
  using V = typename Lanes<T>::V;
  constexpr T kLarge = 256;
  const V all = Lanes<T>::load(s.ends(t) + at, part);
  const auto share = [&](V z) { return all == -kInfinity<T> ? V{} : exponential(z - all); };
  bool large = std::abs(s.taken(t)) > kLarge;
  for (std::size_t k = 0; k < Lanes<T>::kWidth; ++k)
    large = large || (std::abs(all[k]) > kLarge && all[k] != -kInfinity<T>);
  V sum{};
  if (large) each_length(s, t, s.taken(t), at, part, [&](std::size_t, V z) { sum += share(z); });
  each_length(s, t, s.taken(t), at, part, [&](std::size_t l, V z) {
    const V q = share(z);
    use(l, large ? (sum == T(0) ? V{} : q / sum) : q);
  });
}

/// Computes probabilities; after run_forward. Calls use(t, l, at, part, m) with those of segments.
/// All are zero if there is no valid segmentation.
template <class Use>
void run_backward(const Segmented& s, Use use) {
  using L = Lanes<T>;
  const std::size_t n = s.labels;
  if (s.length == 0) return;
  T* const last = s.ending(s.length - 1);
  array(last, n) = array(s.ends(s.length - 1), n) + array(s.stop, n);
  softmax_columns<T>(last, last, n, 1);
  std::fill_n(s.beginning(0), n * s.length, T(0));
  for (std::size_t t = s.length; t-- > 0;) {
    each_vector<T>(n, [&](std::size_t at, auto part) {
      const auto ending = L::load(s.ending(t) + at, part);
      each_share(s, t, at, part, [&](std::size_t l, auto q) {
        put<T>(true, s.beginning(t + 1 - l) + at, ending * q, part);
        use(t, l, at, part, ending * q);
      });
    });
    if (t == 0) continue;
    T* const before = s.ending(t - 1);
    std::fill_n(before, n, T(0));
    each_step(s, t, [&](std::size_t j, const T* p) {
      const T weight = s.beginning(t)[j];
      if (weight != T(0)) array(before, n) += weight * array(p, n);
    });
  }
}

/// Direction of a derivative: all scores, represented by the log-probabilities, or the scores of
/// segments alone, in `segments`.
struct ScoreDirection {
  const T* segments = nullptr;

  /// Direction of the scores at `at`, for segments whose lengths have the probabilities q.
  template <class Part, class V>
  V segment(std::size_t at, Part part, V q) const {
    if (segments) return Lanes<T>::load(segments + at, part);
    return q == T(0) ? V{} : log(q);
  }
  /// Direction of a transition or a stop score, by its probability.
  T by(T p) const { return segments || p == T(0) ? T(0) : std::log(p); }
};

/// Calls use(i, j, d) with the derivatives of the probabilities that a segment of label i ends
/// before t and one of label j begins at t.
template <class Use>
void each_step_derivative(const Segmented& s, std::size_t t, const ScoreDirection& d, Use use) {
  const T *const before = s.d_ends(t - 1), *const now = s.d_begins(t);
  const T *const b = s.beginning(t), *const db = s.d_beginning(t);
  each_step(s, t, [&](std::size_t j, const T* p) {
    for (std::size_t i = 0; i < s.labels; ++i)
      if (p[i] != T(0)) use(i, j, p[i] * (db[j] + b[j] * (before[i] + d.by(p[i]) - now[j])));
  });
}

/// Computes derivatives; after run_backward. Calls use(t, l, at, part, dm) with those of segments.
template <class Use>
void run_derivatives(const Segmented& s, const ScoreDirection& d, Use use) {
  using L = Lanes<T>;
  const std::size_t n = s.labels;
  if (s.length == 0) return;
  for (std::size_t t = 0; t < s.length; ++t) {
    T* const now = s.d_begins(t);
    std::fill_n(now, n, T(0));
    if (t > 0)
      each_step(s, t, [&](std::size_t j, const T* p) {
        for (std::size_t i = 0; i < n; ++i)
          if (p[i] != T(0)) now[j] += p[i] * (s.d_ends(t - 1)[i] + d.by(p[i]));
      });
    each_vector<T>(n, [&](std::size_t at, auto part) {
      typename L::V sum{};
      each_share(s, t, at, part, [&](std::size_t l, auto q) {
        sum += q *
               (L::load(s.d_begins(t + 1 - l) + at, part) + d.segment(s.place(t, l) + at, part, q));
      });
      L::store(s.d_ends(t) + at, sum, part);
    });
  }
  const T *const m = s.ending(s.length - 1), *const last = s.d_ends(s.length - 1);
  const auto d_last = [&](std::size_t j) { return last[j] + d.by(m[j]); };
  T mean = 0;
  for (std::size_t j = 0; j < n; ++j) mean += m[j] * d_last(j);
  for (std::size_t j = 0; j < n; ++j) s.d_ending(s.length - 1)[j] = m[j] * (d_last(j) - mean);
  std::fill_n(s.d_beginning(0), n * s.length, T(0));
  for (std::size_t t = s.length; t-- > 0;) {
    each_vector<T>(n, [&](std::size_t at, auto part) {
      const auto ending = L::load(s.ending(t) + at, part);
      const auto d_ending = L::load(s.d_ending(t) + at, part);
      const auto own = L::load(s.d_ends(t) + at, part);
      each_share(s, t, at, part, [&](std::size_t l, auto q) {
        const auto way =
            L::load(s.d_begins(t + 1 - l) + at, part) + d.segment(s.place(t, l) + at, part, q);
        const auto dm = q * (d_ending + ending * (way - own));
        put<T>(true, s.d_beginning(t + 1 - l) + at, dm, part);
        use(t, l, at, part, dm);
      });
    });
    if (t == 0) continue;
    T* const before = s.d_ending(t - 1);
    std::fill_n(before, n, T(0));
    each_step_derivative(s, t, d, [&](std::size_t i, std::size_t, T x) { before[i] += x; });
  }
}

/// Calls f(sentence, node, element) for all batch elements.
template <class F>
void each_segmented(const Batch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) f(Segmented(b, i, e), i, e);
}

/// Gradients of all operands, one after another; memory is zeroed before a store.
/// segments(sentence, node, element, to) adds to the gradient of the segment scores unless `to` is
/// null; rest(sentence, node, element, k, to) adds to that of operand k.
template <class S, class R>
void segmented_gradients(const GradientBatch<T>& b, S segments, R rest) {
  const auto clear = [&](std::size_t k, std::size_t i) {
    T* const to = b.d_in(k, i);
    if (to && !b.add(k, i)) std::fill_n(to, b.dim(k, i).size(), T(0));
    return to;
  };
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const to = clear(0, i);
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e)
      segments(Segmented(b, i, e), i, e, to ? to + e * b.dim(0, i).batch_size() : nullptr);
  }
  for (std::size_t k = 1; k < 4; ++k)
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* const to = clear(k, i); to && b.dim(0, i).cols() > 0)
        for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) rest(Segmented(b, i, e), i, e, k, to);
}

/// Callback of run_backward and run_derivatives that adds `factor` times each result to `to` unless
/// that is null.
auto adding_segments(const Segmented& s, T factor, T* to) {
  return [&s, factor, to](std::size_t t, std::size_t l, std::size_t at, auto part, auto m) {
    if (to) put<T>(true, to + s.place(t, l) + at, factor * m, part);
  };
}

/// Adds `factor` times the expected count of each score of operand k > 0.
void add_expected_uses(const Segmented& s, std::size_t k, T factor, T* to) {
  const std::size_t n = s.labels;
  if (k == 2) array(to, n) += factor * array(s.beginning(0), n);
  if (k == 3) array(to, n) += factor * array(s.ending(s.length - 1), n);
  for (std::size_t t = 1; k == 1 && t < s.length; ++t)
    each_step(s, t, [&](std::size_t j, const T* p) {
      const T weight = factor * s.beginning(t)[j];
      if (weight != T(0)) array(to + j * n, n) += weight * array(p, n);
    });
}
/// Adds `factor` times the derivatives of the expected counts.
void add_derivatives_of_uses(const Segmented& s, std::size_t k, T factor, const ScoreDirection& d,
                             T* to) {
  const std::size_t n = s.labels;
  if (k == 2) array(to, n) += factor * array(s.d_beginning(0), n);
  if (k == 3) array(to, n) += factor * array(s.d_ending(s.length - 1), n);
  for (std::size_t t = 1; k == 1 && t < s.length; ++t)
    each_step_derivative(s, t, d,
                         [&](std::size_t i, std::size_t j, T x) { to[j * n + i] += factor * x; });
}

/// Calls use(k, place) for each use of a score of operand k by the segments of this element;
/// returns the first segment of the next element.
template <class Use>
const Segment* each_use(const Segmented& s, const Segment* segments, Use use) {
  for (std::size_t t = 0; t < s.length; t += segments++->length) {
    const std::size_t y = segments->label, end = t + segments->length;
    use(0, s.place(end - 1, segments->length) + y);
    if (t == 0)
      use(2, y);
    else
      use(1, y * s.labels + segments[-1].label);
    if (end == s.length) use(3, y);
  }
  return segments;
}
const Segment* segments_of(const Batch<T>& b, std::size_t i, std::size_t element) {
  const auto* at = b.payload<SemiCrfAttr, Segment>(i);
  for (std::size_t e = 0; e < element; ++e)
    at = each_use(Segmented(b, i, e), at, [](std::size_t, std::size_t) {});
  return at;
}

}  // namespace

void SemiCrfLogPartition::forward(const Batch<T>& b) {
  each_segmented(b, [&](const Segmented& s, std::size_t i, std::size_t e) {
    b.out(i)[e] = static_cast<T>(run_forward(s));
  });
}

void SemiCrfLogPartition::backward(const GradientBatch<T>& b) {
  segmented_gradients(
      b,
      [&](const Segmented& s, std::size_t i, std::size_t e, T* to) {
        run_backward(s, adding_segments(s, b.d_out(i)[e], to));
      },
      [&](const Segmented& s, std::size_t i, std::size_t e, std::size_t k, T* to) {
        add_expected_uses(s, k, b.d_out(i)[e], to);
      });
}

void SemiCrfLogProb::forward(const Batch<T>& b) {
  each_segmented(b, [&](const Segmented& s, std::size_t i, std::size_t e) {
    const double all = run_forward(s);
    const T* const operands[] = {s.scores, s.transitions, s.start, s.stop};
    double score = 0;
    each_use(s, segments_of(b, i, e), [&](std::size_t k, std::size_t place) {
      score += static_cast<double>(operands[k][place]);
    });
    const bool possible = score != -kInfinity<double>;  // otherwise log Z may also be -infinity
    b.out(i)[e] = possible ? std::min(T(0), static_cast<T>(score - all)) : -kInfinity<T>;
    if (possible && std::isnan(score - all)) b.out(i)[e] = static_cast<T>(score - all);
  });
}

void SemiCrfLogProb::backward(const GradientBatch<T>& b) {
  const auto add_known = [&](const Segmented& s, std::size_t i, std::size_t e, std::size_t k,
                             T* to) {
    each_use(s, segments_of(b, i, e), [&](std::size_t operand, std::size_t place) {
      if (operand == k) to[place] += b.d_out(i)[e];
    });
  };
  segmented_gradients(
      b,
      [&](const Segmented& s, std::size_t i, std::size_t e, T* to) {
        if (b.out(i)[e] == -kInfinity<T>) return;
        run_backward(s, adding_segments(s, -b.d_out(i)[e], to));
        if (to) add_known(s, i, e, 0, to);
      },
      [&](const Segmented& s, std::size_t i, std::size_t e, std::size_t k, T* to) {
        if (b.out(i)[e] == -kInfinity<T>) return;
        add_expected_uses(s, k, -b.d_out(i)[e], to);
        add_known(s, i, e, k, to);
      });
}

void SemiCrfMarginals::forward(const Batch<T>& b) {
  each_segmented(b, [&](const Segmented& s, std::size_t i, std::size_t e) {
    T* const to = b.out(i) + e * s.size();
    std::fill_n(to, s.size(), T(0));
    run_forward(s);
    run_backward(s, adding_segments(s, T(1), to));
  });
}

void SemiCrfMarginals::backward(const GradientBatch<T>& b) {
  const auto direction = [&](const Segmented& s, std::size_t i, std::size_t e) {
    return ScoreDirection{b.d_out(i) + e * s.size()};
  };
  segmented_gradients(
      b,
      [&](const Segmented& s, std::size_t i, std::size_t e, T* to) {
        run_derivatives(s, direction(s, i, e), adding_segments(s, T(1), to));
      },
      [&](const Segmented& s, std::size_t i, std::size_t e, std::size_t k, T* to) {
        add_derivatives_of_uses(s, k, T(1), direction(s, i, e), to);
      });
}

// Entropy by the chain rule, from the last position backwards: that of the last label, of each
// length given the end of a segment, and of each previous label given the beginning.
void SemiCrfEntropy::forward(const Batch<T>& b) {
  each_segmented(b, [&](const Segmented& s, std::size_t i, std::size_t e) {
    const auto log_z = static_cast<double>(run_forward(s));
    run_backward(s, [](auto...) {});
    double sum = 0;
    const auto add = [&](T weight, T p) {
      if (p > T(0))
        sum -=
            static_cast<double>(weight) * static_cast<double>(p) * std::log(static_cast<double>(p));
    };
    for (std::size_t t = 0; t < s.length; ++t) {
      const T *const ending = s.ending(t), *const beginning = s.beginning(t);
      for (std::size_t j = 0; j < s.labels && t + 1 == s.length; ++j) add(T(1), ending[j]);
      each_vector<T>(s.labels, [&](std::size_t at, auto part) {
        each_share(s, t, at, part, [&](std::size_t, auto q) {
          for (std::size_t k = 0; k < Lanes<T>::kWidth && at + k < s.labels; ++k)
            if (ending[at + k] != T(0)) add(ending[at + k], q[k]);
        });
      });
      if (t == 0) continue;
      each_step(s, t, [&](std::size_t j, const T* p) {
        for (std::size_t k = 0; k < s.labels && beginning[j] != T(0); ++k) add(beginning[j], p[k]);
      });
    }
    b.out(i)[e] = static_cast<T>(checked_entropy(log_z, sum));
  });
}

// With x the scores and m the expected counts, H = log Z - m' x, so dH = -x' dm: the derivative of
// m in the direction of the scores. log p_t and log q_t along a segmentation sum to its score minus
// log Z, a constant that changes no marginal. Log-probabilities are therefore an equivalent
// direction, with small values for large scores.
void SemiCrfEntropy::backward(const GradientBatch<T>& b) {
  segmented_gradients(
      b,
      [&](const Segmented& s, std::size_t i, std::size_t e, T* to) {
        run_derivatives(s, ScoreDirection{}, adding_segments(s, -b.d_out(i)[e], to));
      },
      [&](const Segmented& s, std::size_t i, std::size_t e, std::size_t k, T* to) {
        add_derivatives_of_uses(s, k, -b.d_out(i)[e], ScoreDirection{}, to);
      });
}

}  // namespace dynet::cpu::DYNET_ISA
