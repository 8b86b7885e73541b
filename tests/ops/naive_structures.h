#pragma once

#include "dynet-like/dynet.h"
#include "tests/support/op_case.h"

// Structures in loops, and the results that all of them have.

namespace dynet::test {

/// f(structure, batch element) of the structures of all batch elements.
template <class Naive, class F>
Array of_elements(const Arrays& x, F f) {
  return fill(Dim({1}, x[0].dim.bd),
              [&](const Place& p) { return f(Naive(x, p[kBatch]), p[kBatch]); });
}
template <class Naive>
Array log_partitions(const Arrays& x) {
  return of_elements<Naive>(x, [](const Naive& y, unsigned) { return y.log_z(); });
}
template <class Naive>
Array entropies(const Arrays& x) {
  return of_elements<Naive>(x, [](const Naive& y, unsigned) { return y.entropy(); });
}

/// A sentence of one batch element: tables by loops over pairs of segments. Those of a linear chain
/// have one word each.
class NaiveSegments {
 public:
  NaiveSegments(const Arrays& x, unsigned element) : x_(x), element_(element) {
    const unsigned k = labels(), n = length();
    before_.assign(n, std::vector<double>(k, -kInfinity));
    after_ = before_;
    for (unsigned t = 0; t < n; ++t)
      for (unsigned j = 0; j < k; ++j) {
        if (t == 0) before_[t][j] = x[2].at(j);
        for (unsigned i = 0; i < k; ++i)
          for (unsigned l = 1; l <= longest() && l <= t; ++l) {
            double& b = before_[t][j];
            b = log_add(b, before_[t - l][i] + score(t - 1, l, i) + transition(t, i, j));
          }
      }
    for (unsigned t = n; t-- > 0;)
      for (unsigned i = 0; i < k; ++i) {
        if (t + 1 == n) after_[t][i] = x[3].at(i);
        for (unsigned j = 0; j < k; ++j)
          for (unsigned l = 1; l <= longest() && t + l < n; ++l) {
            double& a = after_[t][i];
            a = log_add(a, transition(t + 1, i, j) + score(t + l, l, j) + after_[t + l][j]);
          }
      }
    log_z_ = n == 0 ? 0 : -kInfinity;
    for (unsigned j = 0; j < k; ++j)
      for (unsigned l = 1; l <= longest() && l <= n; ++l)
        log_z_ = log_add(log_z_, x[2].at(j) + score(l - 1, l, j) + after_[l - 1][j]);
  }

  unsigned labels() const { return x_[1].dim.rows(); }
  unsigned longest() const { return x_[0].dim.rows() / labels(); }
  unsigned length() const { return x_[0].dim.cols(); }
  double log_z() const { return log_z_; }
  double marginal(unsigned row, unsigned t) const {
    const unsigned l = row / labels() + 1, j = row % labels();
    return l > t + 1 ? 0 : probability(before_[t + 1 - l][j] + score(t, l, j) + after_[t][j]);
  }
  /// log Z less the expected score.
  double entropy() const {
    if (log_z_ == -kInfinity) return 0;
    double h = log_z_;
    const auto use = [&](double p, double score) { h -= p == 0 ? 0 : p * score; };
    for (unsigned t = 0; t < length(); ++t)
      for (unsigned j = 0; j < labels(); ++j) {
        for (unsigned l = 1; l <= longest() && l <= t + 1; ++l) {
          const double p = marginal((l - 1) * labels() + j, t);
          use(p, score(t, l, j) + (l == t + 1 ? x_[2].at(j) : 0) +
                     (t + 1 == length() ? x_[3].at(j) : 0));
          for (unsigned i = 0; i < labels() && l <= t; ++i)
            for (unsigned m = 1; m <= longest() && m + l <= t + 1; ++m) {
              const double step = transition(t + 1 - l, i, j);
              use(probability(before_[t + 1 - l - m][i] + score(t - l, m, i) + step +
                              score(t, l, j) + after_[t][j]),
                  step);
            }
        }
      }
    return h;
  }
  double score_of(const Segment* segments) const {
    double sum = 0;
    for (unsigned t = 0; t < length(); t += segments++->length) {
      const unsigned end = t + segments->length;
      sum += score(end - 1, segments->length, segments->label);
      sum +=
          t == 0 ? x_[2].at(segments->label) : transition(t, segments[-1].label, segments->label);
      if (end == length()) sum += x_[3].at(segments->label);
    }
    return sum;
  }

 private:
  double score(unsigned t, unsigned l, unsigned j) const {
    return x_[0].at((l - 1) * labels() + j, t, element_);
  }
  /// From label i to label j at the segment that begins at word t; the same for all words, or not.
  double transition(unsigned t, unsigned i, unsigned j) const {
    return x_[1].at({i, j, t - 1, 0, 0, 0, 0, 0});
  }
  double probability(double score) const {
    return log_z_ == -kInfinity ? 0 : std::exp(score - log_z_);
  }

  const Arrays& x_;
  unsigned element_;
  std::vector<std::vector<double>> before_, after_;  // of segments that begin, or end, there
  double log_z_;
};

inline Array segment_marginals(const Arrays& x) {
  return fill(x[0].dim,
              [&](const Place& p) { return NaiveSegments(x, p[kBatch]).marginal(p[0], p[1]); });
}

}  // namespace dynet::test
