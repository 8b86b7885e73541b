#include "kernels/cpu/ctc.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/exponential.h"

// Connectionist temporal classification (Graves, Fernandez, Gomez, Schmidhuber 2006) in log space,
// one column of states at a time. With a_t(s) the log sum over all paths in state s at frame t, the
// previous state is s - k with probability p_t(k | s), k = 0, 1 or 2, the softmax of a_{t-1}(s -
// k). These are stored: state probabilities follow from the last frame backwards by m_{t-1}(s) =
// sum_k p_t(k | s + k) m_t(s + k), without exponentials or cancellation. Directional derivatives,
// used for the gradients of alignments and of the entropy, differentiate these formulas.

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Batch element of a node, and its scratch.
struct Utterance {
  std::size_t symbols, frames, states;
  unsigned blank;
  const T* scores;
  const unsigned* labels;
  CtcTables tables;
  T* scratch;

  unsigned symbol(std::size_t s) const { return s % 2 ? labels[s / 2] : blank; }
  T score(std::size_t t, std::size_t s) const { return scores[t * symbols + symbol(s)]; }
  T* skips() const { return scratch + tables.skips(); }
  T* stay(std::size_t t) const { return column(tables.stay(), t); }
  T* step(std::size_t t) const { return column(tables.step(), t); }
  T* skip(std::size_t t) const { return column(tables.skip(), t); }
  T* probabilities(std::size_t t) const { return column(tables.ways(), t); }
  T* d_ways(std::size_t t) const { return column(tables.d_ways(), t); }
  T* d_states(std::size_t t) const { return column(tables.d_states(), t); }
  /// Log sums of the states; two elements of padding precede them.
  T* ways(std::size_t t) const { return column(tables.ways(), t) + 2; }

 private:
  T* column(std::size_t table, std::size_t t) const {
    return scratch + table + t * tables.column();
  }
};

/// Calls f(utterance, element) for every batch element of node i.
template <class F>
void each_utterance_of(const Batch<T>& b, std::size_t i, F f) {
  const auto& a = b.attr<CtcAttr>(i);
  const Dim& d = b.dim(0, i);
  const auto* const counts = b.payload<CtcAttr, unsigned>(i);
  const unsigned* labels = counts + a.elements;
  const std::size_t all = b.node(i).form->aux(b.graph, b.node(i));
  const std::size_t columns = 2 * a.count + 3 * a.elements;  // total width of a column
  T* scratch = b.aux(i);
  for (std::size_t e = 0; e < a.elements; ++e) {
    const CtcTables tables = CtcTables::of(counts[e], d.cols());
    f(Utterance{d.rows(), d.cols(), tables.states, static_cast<unsigned>(a.blank),
                b.in(0, i) + e * d.batch_size(), labels, tables, scratch},
      e);
    labels += counts[e];
    scratch += all / columns * tables.column();
  }
}
template <class F>
void each_utterance(const Batch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i)
    each_utterance_of(b, i, [&](const Utterance& u, std::size_t e) { f(u, i, e); });
}

/// Forward pass over the frames; returns the log sum over all alignments.
double run_forward(const Utterance& u) {
  using L = Lanes<T>;
  const std::size_t n = u.states;
  constexpr T kNever = -kInfinity<T>;
  if (u.frames == 0) return n == 1 ? 0 : -kInfinity<double>;
  for (std::size_t s = 0; s < n; ++s)
    u.skips()[s] = s % 2 && s > 1 && u.symbol(s) != u.symbol(s - 2) ? T(1) : T(0);
  double scale = 0;
  for (std::size_t t = 0; t < u.frames; ++t) {
    T* const now = u.ways(t);
    now[-2] = now[-1] = kNever;
    const std::size_t reached = t == 0 ? std::min<std::size_t>(n, 2) : n;
    for (std::size_t s = 0; s < reached; ++s) now[s] = u.score(t, s);
    std::fill(now + reached, now + n, kNever);
    if (t > 0) {
      const T* const before = u.ways(t - 1);
      T *const stay = u.stay(t), *const step = u.step(t), *const skip = u.skip(t);
      each_vector<T>(n, [&](std::size_t at, auto part) {
        const auto a = L::load(before + at, part), b = L::load(before + at - 1, part);
        const auto c = L::load(u.skips() + at, part) == T(0) ? kNever + decltype(a){}
                                                             : L::load(before + at - 2, part);
        auto m = b > a ? b : a;
        m = c > m ? c : m;
        m = m == kNever ? decltype(m){} : m;
        const auto x = exponential(a - m), y = exponential(b - m), z = exponential(c - m);
        const auto sum = x + y + z;
        const auto part_of = sum == T(0) ? sum : T(1) / sum;
        L::store(stay + at, x * part_of, part);
        L::store(step + at, y * part_of, part);
        L::store(skip + at, z * part_of, part);
        // A zero sum means that the state is unreachable.
        const auto way = sum == T(0) ? kNever + decltype(m){} : m + log(sum);
        L::store(now + at, way + L::load(now + at, part), part);
      });
      step[n] = step[n + 1] = skip[n] = skip[n + 1] = T(0);
    }
    T m = kNever;
    for (std::size_t s = 0; s < n; ++s) m = now[s] > m ? now[s] : m;
    m = shift(m);
    array(now, n) -= m;  // keeps numbers small in long utterances
    scale += static_cast<double>(m);
  }
  const T* const last = u.ways(u.frames - 1);
  const T a = last[n - 1];
  T b = kNever;
  if (n > 1) b = last[n - 2];
  const T m = shift(b > a ? b : a);
  const T x = std::exp(a - m), y = std::exp(b - m), sum = x + y;
  T* const ends = u.stay(0);
  std::fill_n(ends, n, T(0));
  ends[n - 1] = sum == T(0) ? T(0) : x / sum;
  if (n > 1) ends[n - 2] = sum == T(0) ? T(0) : y / sum;
  return scale + static_cast<double>(m) + std::log(static_cast<double>(sum));
}

/// Computes state probabilities; calls use(t, probabilities) for each frame, from the last.
template <class Use>
void run_backward(const Utterance& u, Use use) {
  using L = Lanes<T>;
  const std::size_t n = u.states;
  for (std::size_t t = u.frames; t-- > 0;) {
    T* const m = u.probabilities(t);
    m[n] = m[n + 1] = T(0);
    if (t + 1 == u.frames) {
      std::copy_n(u.stay(0), n, m);
    } else {
      const T* const then = u.probabilities(t + 1);
      const T *const stay = u.stay(t + 1), *const step = u.step(t + 1), *const skip = u.skip(t + 1);
      each_vector<T>(n, [&](std::size_t at, auto part) {
        const auto sum = L::load(stay + at, part) * L::load(then + at, part) +
                         L::load(step + at + 1, part) * L::load(then + at + 1, part) +
                         L::load(skip + at + 2, part) * L::load(then + at + 2, part);
        L::store(m + at, sum, part);
      });
    }
    use(t, static_cast<const T*>(m));
  }
}

/// Adds `factor` times the number of each state to the state's symbol.
void add_to_symbols(const Utterance& u, T factor, const T* states, T* to) {
  T blanks = 0;
  for (std::size_t s = 0; s < u.states; s += 2) blanks += states[s];
  to[u.blank] += factor * blanks;
  for (std::size_t s = 1; s < u.states; s += 2) to[u.labels[s / 2]] += factor * states[s];
}

/// Adds `factor` times the derivatives of symbol probabilities in a direction of the scores:
/// d_score(t, s) for state s at frame t, and d_of(p) for a step into a state and for the last
/// state, by their probability p; after run_backward.
template <class E, class A>
void add_derivatives(const Utterance& u, T factor, E d_score, A d_of, T* to) {
  if (u.frames == 0) return;
  using L = Lanes<T>;
  const std::size_t n = u.states;
  // Derivatives of the log sums; sums with the state's own score use a free column of d_states.
  for (std::size_t t = 0; t < u.frames; ++t) {
    T *const own = u.d_ways(t), *const with = u.d_states(t) + 2;
    with[-2] = with[-1] = own[n] = own[n + 1] = T(0);
    if (t == 0) {
      std::fill_n(own, n, T(0));
    } else {
      const T* const before = u.d_states(t - 1) + 2;
      const T *const stay = u.stay(t), *const step = u.step(t), *const skip = u.skip(t);
      each_vector<T>(n, [&](std::size_t at, auto part) {
        const auto arc = [&](const T* table, std::size_t k) {
          const auto p = L::load(table + at, part);
          return p * (L::load(before + at - k, part) + d_of(p));
        };
        L::store(own + at, arc(stay, 0) + arc(step, 1) + arc(skip, 2), part);
      });
    }
    for (std::size_t s = 0; s < n; ++s) with[s] = own[s] + d_score(t, s);
  }
  for (std::size_t t = u.frames; t-- > 0;) {
    T* const dm = u.d_states(t);
    const T *const with = dm + 2, *const m = u.probabilities(t);
    if (t + 1 == u.frames) {
      const auto last = [&](std::size_t s) { return with[s] + d_of(typename L::V{} + m[s])[0]; };
      T mean = 0;
      for (std::size_t s = n - std::min<std::size_t>(n, 2); s < n; ++s) mean += m[s] * last(s);
      for (std::size_t s = 0; s < n; ++s) dm[s] = m[s] * (last(s) - mean);
    } else {
      const T *const then = u.probabilities(t + 1), *const d_then = u.d_states(t + 1);
      const T* const own = u.d_ways(t + 1);
      const T *const stay = u.stay(t + 1), *const step = u.step(t + 1), *const skip = u.skip(t + 1);
      // Stores go two elements before the loads, so the order is safe.
      each_vector<T>(n, [&](std::size_t at, auto part) {
        const auto from = L::load(with + at, part);
        const auto arc = [&](const T* table, std::size_t k) {
          const auto p = L::load(table + at + k, part);
          return p *
                 (L::load(d_then + at + k, part) +
                  L::load(then + at + k, part) * (from + d_of(p) - L::load(own + at + k, part)));
        };
        L::store(dm + at, arc(stay, 0) + arc(step, 1) + arc(skip, 2), part);
      });
    }
    dm[n] = dm[n + 1] = T(0);
    add_to_symbols(u, factor, static_cast<const T*>(dm), to + t * u.symbols);
  }
}

/// Calls f(utterance, node, element, to) for every element of every node with a gradient; `to` is
/// zeroed before a store.
template <class F>
void each_utterance_gradient(const GradientBatch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const to = b.d_in(0, i);
    if (!to) continue;
    const Dim& d = b.dim(0, i);
    if (!b.add(0, i)) std::fill_n(to, d.size(), T(0));
    each_utterance_of(
        b, i, [&](const Utterance& u, std::size_t e) { f(u, i, e, to + e * d.batch_size()); });
  }
}

}  // namespace

void CtcLoss::forward(const Batch<T>& b) {
  each_utterance(b, [&](const Utterance& u, std::size_t i, std::size_t e) {
    const double log_sum = run_forward(u);
    const bool zero = b.attr<CtcAttr>(i).zero_infinity && log_sum == -kInfinity<double>;
    b.out(i)[e] = zero ? T(0) : static_cast<T>(-log_sum);
  });
}

void CtcLoss::backward(const GradientBatch<T>& b) {
  each_utterance_gradient(b, [&](const Utterance& u, std::size_t i, std::size_t e, T* to) {
    const T factor = -b.d_out(i)[e];
    run_backward(
        u, [&](std::size_t t, const T* m) { add_to_symbols(u, factor, m, to + t * u.symbols); });
  });
}

void CtcAlignment::forward(const Batch<T>& b) {
  each_utterance(b, [&](const Utterance& u, std::size_t i, std::size_t e) {
    T* const to = b.out(i) + e * u.symbols * u.frames;
    std::fill_n(to, u.symbols * u.frames, T(0));
    run_forward(u);
    run_backward(
        u, [&](std::size_t t, const T* m) { add_to_symbols(u, T(1), m, to + t * u.symbols); });
  });
}

void CtcAlignment::backward(const GradientBatch<T>& b) {
  each_utterance_gradient(b, [&](const Utterance& u, std::size_t i, std::size_t e, T* to) {
    const T* const d = b.d_out(i) + e * u.symbols * u.frames;
    add_derivatives(
        u, T(1), [&](std::size_t t, std::size_t s) { return d[t * u.symbols + u.symbol(s)]; },
        [](auto p) { return decltype(p){}; }, to);
  });
}

// Entropy by the chain rule, from the last frame backwards: that of the last state, and of each
// state given its successor.
void CtcEntropy::forward(const Batch<T>& b) {
  each_utterance(b, [&](const Utterance& u, std::size_t i, std::size_t e) {
    const double log_z = run_forward(u);
    double sum = 0;
    const auto add = [&](T weight, T p) {
      if (p > T(0))
        sum -=
            static_cast<double>(weight) * static_cast<double>(p) * std::log(static_cast<double>(p));
    };
    run_backward(u, [&](std::size_t t, const T* m) {
      for (std::size_t s = 0; s < u.states; ++s) {
        if (t + 1 == u.frames) add(T(1), m[s]);
        if (t == 0 || m[s] == T(0)) continue;
        for (const T p : {u.stay(t)[s], u.step(t)[s], u.skip(t)[s]}) add(m[s], p);
      }
    });
    b.out(i)[e] = static_cast<T>(checked_entropy(log_z, sum));
  });
}

// With x the scores and m the expected counts, H = log Z - m' x, so dH = -x' dm: the derivative of
// m in the direction of the scores. log p_t and the log-probability of the last state sum to the
// score of an alignment minus log Z, a constant that changes no expectation. Log-probabilities are
// therefore an equivalent direction, with small values for large scores.
void CtcEntropy::backward(const GradientBatch<T>& b) {
  each_utterance_gradient(b, [&](const Utterance& u, std::size_t i, std::size_t e, T* to) {
    add_derivatives(
        u, -b.d_out(i)[e], [](std::size_t, std::size_t) { return T(0); },
        [](auto p) { return p == T(0) ? decltype(p){} : log(p); }, to);
  });
}

}  // namespace dynet::cpu::DYNET_ISA
