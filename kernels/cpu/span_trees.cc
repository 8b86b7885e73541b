#include "kernels/cpu/span_trees.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/scaled.h"

// Binary trees over words. With I(s) the sum of e^score over the trees of a span s, and N(s) the
// sum without the score of s itself, s splits into l and r with probability p(l, r | s) = I(l) I(r)
// / N(s); marginals follow top-down by m(l) = sum of p(l, r | s) m(s) over all spans s with a part
// l, and likewise for r. All sums have positive terms, so nothing cancels. Directional derivatives,
// used for the gradients of marginals and of the entropy, differentiate these formulas. Baker 1979,
// "Trainable grammars for speech recognition"; Stern, Andreas, Klein 2017 for scores of spans.
//
// All spans of one width are computed together: their parts are contiguous.

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Scores of a batch element of a node, and its scratch.
struct Chart {
  std::size_t words, labels;
  const T* scores;
  SpanTables tables;
  double* scratch;

  Chart(const Batch<T>& b, std::size_t i, std::size_t element)
      : words(b.dim(0, i).rows()),
        labels(b.dim(0, i)[2]),
        scores(b.in(0, i) + element * size()),
        tables{words},
        scratch(reinterpret_cast<double*>(
            b.aux(i) + element * (b.node(i).form->aux(b.graph, b.node(i)) / b.dim(0, i).bd))) {}

  /// Number of scores.
  std::size_t size() const { return words * words * labels; }
  /// Index of the score of a label for the span from word i to j.
  std::size_t score_at(std::size_t i, std::size_t j, std::size_t label) const {
    return (label * words + j) * words + i;
  }
  /// Row of a table with the spans of one width.
  double* row(std::size_t table, std::size_t width) const {
    return scratch + table + tables.at(width, 0);
  }
  /// Element of a table for the span from word i to j.
  double& of(std::size_t table, std::size_t i, std::size_t j) const {
    return scratch[table + tables.at(j - i + 1, i)];
  }
};

/// Row of a pair of tables that store scaled numbers.
struct ScaledRow {
  double *m, *e;

  ScaledRow(const Chart& c, std::size_t table, std::size_t width)
      : m(c.row(table, width)), e(m + c.tables.size()) {}
  template <class Part>
  Scaled load(std::size_t at, Part part) const {
    return {Lanes<double>::load(m + at, part), Lanes<double>::load(e + at, part)};
  }
  template <class Part>
  void store(std::size_t at, const Scaled& s, Part part) const {
    Lanes<double>::store(m + at, s.m, part);
    Lanes<double>::store(e + at, s.e, part);
  }
};

/// Contiguous spans with one last word: a piece of a column of the scores.
struct Piece {
  static constexpr std::size_t kMost = 256;
  std::size_t first, last, count;  // spans from word first + i to last, i < count
};
template <class F>
void each_piece(std::size_t words, F f) {
  for (std::size_t j = 0; j < words; ++j)
    for (std::size_t i = 0; i <= j; i += Piece::kMost)
      f(Piece{i, j, std::min(Piece::kMost, j + 1 - i)});
}

template <class To>
void gather(const Chart& c, std::size_t table, const Piece& p, To* to) {
  for (std::size_t i = 0; i < p.count; ++i)
    to[i] = static_cast<To>(c.of(table, p.first + i, p.last));
}
template <class From>
void scatter(const Chart& c, std::size_t table, const Piece& p, const From* from) {
  for (std::size_t i = 0; i < p.count; ++i)
    c.of(table, p.first + i, p.last) = static_cast<double>(from[i]);
}

/// to[i] = e^(score - largest[i]) for one label.
void label_exponentials(const Chart& c, const Piece& p, std::size_t label, const T* largest,
                        T* to) {
  const T* const x = c.scores + c.score_at(p.first, p.last, label);
  for (std::size_t i = 0; i < p.count; ++i) to[i] = x[i] - shift(largest[i]);
  exponentials(to, p.count);
}

/// Conditional probabilities of labels, given the spans of a piece; zero for a span without any
/// label.
class Labels {
 public:
  Labels(const Chart& c, const Piece& p) : c_(c), p_(p) {
    gather(c, c.tables.largest(), p, largest_);
    gather(c, c.tables.labels(), p, factor_);
    for (std::size_t i = 0; i < p.count; ++i) factor_[i] = factor_[i] == 0 ? 0 : 1 / factor_[i];
  }
  /// Probabilities of label k.
  const double* operator()(std::size_t k) {
    label_exponentials(c_, p_, k, largest_, e_);
    for (std::size_t i = 0; i < p_.count; ++i) q_[i] = static_cast<double>(e_[i]) * factor_[i];
    return q_;
  }

 private:
  const Chart& c_;
  const Piece& p_;
  alignas(64) T largest_[Piece::kMost], e_[Piece::kMost];
  alignas(64) double factor_[Piece::kMost], q_[Piece::kMost];
};

/// Computes `largest` and `labels`, and initializes `inside` with the scores of the spans alone.
void find_weights(const Chart& c) {
  alignas(64) T largest[Piece::kMost], e[Piece::kMost];
  alignas(64) double sum[Piece::kMost];
  each_piece(c.words, [&](const Piece& p) {
    const auto scores = [&](std::size_t k) { return c.scores + c.score_at(p.first, p.last, k); };
    std::copy_n(scores(0), p.count, largest);
    for (std::size_t k = 1; k < c.labels; ++k)
      for (std::size_t i = 0; i < p.count; ++i)
        largest[i] = scores(k)[i] > largest[i] ? scores(k)[i] : largest[i];
    std::fill_n(sum, p.count, 0.0);
    for (std::size_t k = 0; k < c.labels; ++k) {
      label_exponentials(c, p, k, largest, e);
      for (std::size_t i = 0; i < p.count; ++i) sum[i] += static_cast<double>(e[i]);
    }
    scatter(c, c.tables.largest(), p, largest);
    scatter(c, c.tables.labels(), p, sum);
  });
  const double* const all = c.scratch + c.tables.largest();
  const double* const sums = c.scratch + c.tables.labels();
  double* const inside = c.scratch + c.tables.inside();
  each_vector<double>(c.tables.size(), [&](std::size_t at, auto part) {
    using L = Lanes<double>;
    const Scaled s = scaled_exp(L::load(all + at, part));
    const Scaled weight = normalized(s.m * L::load(sums + at, part), s.e);
    L::store(inside + at, weight.m, part);
    L::store(inside + c.tables.size() + at, weight.e, part);
  });
}

/// Computes `largest`, `labels`, `inside` and `norm`, and returns the log-partition.
double run_inside(const Chart& c) {
  if (c.words == 0) return 0;
  find_weights(c);
  for (std::size_t width = 2; width <= c.words; ++width) {
    const ScaledRow inside(c, c.tables.inside(), width), norm(c, c.tables.norm(), width);
    each_vector<double>(c.words - width + 1, [&](std::size_t at, auto part) {
      const auto products = [&](auto use) {
        for (std::size_t left = 1; left < width; ++left) {
          const Scaled l = ScaledRow(c, c.tables.inside(), left).load(at, part);
          const Scaled r = ScaledRow(c, c.tables.inside(), width - left).load(at + left, part);
          use(l.m * r.m, l.e + r.e);
        }
      };
      Doubles most = Doubles{} + 2 * Scaled::kOfZero, sum{};
      products([&](Doubles, Doubles e) { most = e > most ? e : most; });
      products([&](Doubles m, Doubles e) { sum += m * whole_power_of_two(e - most); });
      norm.store(at, {sum, most}, part);
      const Scaled own = inside.load(at, part);
      inside.store(at, normalized(sum * own.m, most + own.e), part);
    });
  }
  const ScaledRow all(c, c.tables.inside(), c.words);
  return all.m[0] == 0 ? -kInfinity<double>
                       : std::log(all.m[0]) + all.e[0] * 0.693147180559945309417;
}

/// Calls use(width, left, at, part, p) with the probabilities that spans of a width split after
/// `left` words; zero for a span without trees.
template <class Use>
void each_split(const Chart& c, std::size_t width, Use use) {
  const ScaledRow norm(c, c.tables.norm(), width);
  each_vector<double>(c.words - width + 1, [&](std::size_t at, auto part) {
    const Scaled all = norm.load(at, part);
    for (std::size_t left = 1; left < width; ++left) {
      const Scaled l = ScaledRow(c, c.tables.inside(), left).load(at, part);
      const Scaled r = ScaledRow(c, c.tables.inside(), width - left).load(at + left, part);
      const Doubles p = l.m * r.m * whole_power_of_two(l.e + r.e - all.e) / all.m;
      use(left, at, part, all.m == 0.0 ? Doubles{} : p);
    }
  });
}

/// Adds v to a table at both parts of spans.
template <class Part>
void add_to_parts(const Chart& c, std::size_t table, std::size_t width, std::size_t left,
                  std::size_t at, Doubles v, Part part) {
  put<double>(true, c.row(table, left) + at, v, part);
  put<double>(true, c.row(table, width - left) + at + left, v, part);
}

/// Computes the marginals of spans; after run_inside. All are zero if there is no tree.
void find_marginals(const Chart& c) {
  if (c.words == 0) return;
  const std::size_t table = c.tables.marginals();
  std::fill_n(c.scratch + table, c.tables.size(), 0.0);
  *c.row(table, c.words) = *c.row(c.tables.inside(), c.words) == 0 ? 0 : 1;
  for (std::size_t width = c.words; width > 1; --width)
    each_split(c, width, [&](std::size_t left, std::size_t at, auto part, Doubles p) {
      const Doubles m = Lanes<double>::load(c.row(table, width) + at, part);
      add_to_parts(c, table, width, left, at, m * p, part);
    });
}

/// Derivatives of the marginals of spans in a direction of all scores; `direction(offset)` is that
/// of one score.
template <class D>
void find_derivatives(const Chart& c, D direction) {
  if (c.words == 0) return;
  const std::size_t di = c.tables.d_inside(), dn = c.tables.d_norm(), dm = c.tables.d_marginals();
  std::fill_n(c.scratch + dn, c.tables.size(), 0.0);
  std::fill_n(c.scratch + dm, c.tables.size(), 0.0);
  each_piece(c.words, [&](const Piece& p) {
    Labels labels(c, p);
    double d[Piece::kMost] = {};
    for (std::size_t k = 0; k < c.labels; ++k) {
      const double* const q = labels(k);
      for (std::size_t i = 0; i < p.count; ++i)
        if (q[i] != 0) d[i] += q[i] * direction(c.score_at(p.first + i, p.last, k));
    }
    scatter(c, di, p, d);
  });
  const auto of_parts = [&](std::size_t width, std::size_t left, std::size_t at, auto part) {
    return Lanes<double>::load(c.row(di, left) + at, part) +
           Lanes<double>::load(c.row(di, width - left) + at + left, part);
  };
  for (std::size_t width = 2; width <= c.words; ++width) {
    each_split(c, width, [&](std::size_t left, std::size_t at, auto part, Doubles p) {
      put<double>(true, c.row(dn, width) + at, p * of_parts(width, left, at, part), part);
    });
    array(c.row(di, width), c.words - width + 1) += array(c.row(dn, width), c.words - width + 1);
  }
  for (std::size_t width = c.words; width > 1; --width)
    each_split(c, width, [&](std::size_t left, std::size_t at, auto part, Doubles p) {
      const auto own = [&](std::size_t table) {
        return Lanes<double>::load(c.row(table, width) + at, part);
      };
      const Doubles d =
          own(dm) + own(c.tables.marginals()) * (of_parts(width, left, at, part) - own(dn));
      add_to_parts(c, dm, width, left, at, p * d, part);
    });
}

/// Calls f(chart, node, element) for every batch element of every node.
template <class F>
void each_chart(const Batch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) f(Chart(b, i, e), i, e);
}

/// Calls f(chart, node, element, to) for every gradient; `to` is zeroed before a store.
template <class F>
void each_gradient(const GradientBatch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const to = b.d_in(0, i);
    if (!to) continue;
    if (!b.add(0, i)) std::fill_n(to, b.dim(0, i).size(), T(0));
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) {
      const Chart c(b, i, e);
      f(c, i, e, to + e * c.size());
    }
  }
}

/// Adds `factor` times the probability of each label of each span.
void add_marginals(const Chart& c, double factor, T* to) {
  each_piece(c.words, [&](const Piece& p) {
    Labels labels(c, p);
    alignas(64) double m[Piece::kMost];
    gather(c, c.tables.marginals(), p, m);
    array(m, p.count) *= factor;
    for (std::size_t k = 0; k < c.labels; ++k) {
      const double* const q = labels(k);
      T* const at = to + c.score_at(p.first, p.last, k);
      for (std::size_t i = 0; i < p.count; ++i) at[i] += static_cast<T>(q[i] * m[i]);
    }
  });
}

/// Adds `factor` times the derivatives of these probabilities.
template <class D>
void add_derivatives(const Chart& c, double factor, D direction, T* to) {
  each_piece(c.words, [&](const Piece& p) {
    Labels labels(c, p);
    alignas(64) double m[Piece::kMost], dm[Piece::kMost], parts[Piece::kMost], all[Piece::kMost];
    gather(c, c.tables.marginals(), p, m);
    gather(c, c.tables.d_marginals(), p, dm);
    gather(c, c.tables.d_norm(), p, parts);
    gather(c, c.tables.d_inside(), p, all);
    for (std::size_t k = 0; k < c.labels; ++k) {
      const double* const q = labels(k);
      for (std::size_t i = 0; i < p.count; ++i) {
        if (q[i] == 0) continue;
        const std::size_t at = c.score_at(p.first + i, p.last, k);
        const double d = dm[i] + m[i] * (direction(at) - (all[i] - parts[i]));
        to[at] += static_cast<T>(factor * (q[i] * d));
      }
    }
  });
}

/// Calls f(span) for the spans of a batch element's tree.
template <class F>
void each_span(const Batch<T>& b, const Chart& c, std::size_t i, std::size_t e, F f) {
  const std::size_t count = c.words == 0 ? 0 : 2 * c.words - 1;
  const auto* const spans = b.payload<SpanTreeAttr, LabelledSpan>(i) + e * count;
  std::for_each(spans, spans + count, f);
}

/// Scores as a direction, with zero for forbidden labels.
auto finite_scores(const Chart& c) {
  return [x = c.scores](std::size_t at) {
    return std::isfinite(x[at]) ? static_cast<double>(x[at]) : 0.0;
  };
}

}  // namespace

void SpanLogPartition::forward(const Batch<T>& b) {
  each_chart(b, [&](const Chart& c, std::size_t i, std::size_t e) {
    b.out(i)[e] = static_cast<T>(run_inside(c));
  });
}

void SpanLogPartition::backward(const GradientBatch<T>& b) {
  each_gradient(b, [&](const Chart& c, std::size_t i, std::size_t e, T* to) {
    find_marginals(c);
    add_marginals(c, static_cast<double>(b.d_out(i)[e]), to);
  });
}

void SpanLogProb::forward(const Batch<T>& b) {
  each_chart(b, [&](const Chart& c, std::size_t i, std::size_t e) {
    const double all = run_inside(c);
    double score = 0;
    each_span(b, c, i, e, [&](const LabelledSpan& s) {
      score += s.label == kAnyLabel
                   ? c.of(c.tables.largest(), s.first, s.last) +
                         std::log(c.of(c.tables.labels(), s.first, s.last))
                   : static_cast<double>(c.scores[c.score_at(s.first, s.last, s.label)]);
    });
    const bool possible = score != -kInfinity<double>;  // otherwise log Z may also be -infinity
    b.out(i)[e] = possible ? std::min(T(0), static_cast<T>(score - all)) : -kInfinity<T>;
    if (possible && std::isnan(score - all)) b.out(i)[e] = static_cast<T>(score - all);
  });
}

void SpanLogProb::backward(const GradientBatch<T>& b) {
  each_gradient(b, [&](const Chart& c, std::size_t i, std::size_t e, T* to) {
    const T d = b.d_out(i)[e];
    if (b.out(i)[e] == -kInfinity<T>) return;
    find_marginals(c);
    add_marginals(c, -static_cast<double>(d), to);
    each_span(b, c, i, e, [&](const LabelledSpan& s) {
      if (s.label != kAnyLabel) {
        to[c.score_at(s.first, s.last, s.label)] += d;
        return;
      }
      const double largest = c.of(c.tables.largest(), s.first, s.last);
      const double sum = c.of(c.tables.labels(), s.first, s.last);
      for (std::size_t k = 0; k < c.labels; ++k) {
        const std::size_t at = c.score_at(s.first, s.last, k);
        const double weight = std::exp(static_cast<double>(c.scores[at]) - largest);
        to[at] += static_cast<T>(static_cast<double>(d) * (weight / sum));
      }
    });
  });
}

void SpanMarginals::forward(const Batch<T>& b) {
  each_chart(b, [&](const Chart& c, std::size_t i, std::size_t e) {
    run_inside(c);
    find_marginals(c);
    T* const to = b.out(i) + e * c.size();
    std::fill_n(to, c.size(), T(0));
    add_marginals(c, 1, to);
  });
}

void SpanMarginals::backward(const GradientBatch<T>& b) {
  each_gradient(b, [&](const Chart& c, std::size_t i, std::size_t e, T* to) {
    const auto direction = [d = b.d_out(i) + e * c.size()](std::size_t at) {
      return static_cast<double>(d[at]);
    };
    find_derivatives(c, direction);
    add_derivatives(c, 1, direction, to);
  });
}

// Entropy by the chain rule, top-down: that of the label of each span, and of its split point.
void SpanEntropy::forward(const Batch<T>& b) {
  each_chart(b, [&](const Chart& c, std::size_t i, std::size_t e) {
    run_inside(c);
    find_marginals(c);
    const auto surprise = [](double p) { return p > 0 ? -p * std::log(p) : 0.0; };
    double sum = 0;
    each_piece(c.words, [&](const Piece& p) {
      Labels labels(c, p);
      alignas(64) double m[Piece::kMost];
      gather(c, c.tables.marginals(), p, m);
      for (std::size_t k = 0; k < c.labels; ++k) {
        const double* const q = labels(k);
        for (std::size_t n = 0; n < p.count; ++n) sum += m[n] * surprise(q[n]);
      }
    });
    for (std::size_t width = 2; width <= c.words; ++width)
      each_split(c, width, [&](std::size_t, std::size_t at, auto part, Doubles p) {
        const Doubles m = Lanes<double>::load(c.row(c.tables.marginals(), width) + at, part);
        const Doubles h = m * by_buffer(p, surprise);
        for (std::size_t n = 0; n < Lanes<double>::kWidth; ++n) sum += h[n];
      });
    b.out(i)[e] = static_cast<T>(sum < 0 ? 0.0 : sum);
  });
}

// With s the scores and m the expected counts, H = log Z - m' s, so dH = -s' dm: the derivative of
// m in the direction of the scores.
void SpanEntropy::backward(const GradientBatch<T>& b) {
  each_gradient(b, [&](const Chart& c, std::size_t i, std::size_t e, T* to) {
    find_derivatives(c, finite_scores(c));
    add_derivatives(c, -static_cast<double>(b.d_out(i)[e]), finite_scores(c), to);
  });
}

}  // namespace dynet::cpu::DYNET_ISA
