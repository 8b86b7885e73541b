#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// A sentence of one batch element: tables by loops over pairs of segments.
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
            b = log_add(b, before_[t - l][i] + score(t - 1, l, i) + x[1].at(i, j));
          }
      }
    for (unsigned t = n; t-- > 0;)
      for (unsigned i = 0; i < k; ++i) {
        if (t + 1 == n) after_[t][i] = x[3].at(i);
        for (unsigned j = 0; j < k; ++j)
          for (unsigned l = 1; l <= longest() && t + l < n; ++l) {
            double& a = after_[t][i];
            a = log_add(a, x[1].at(i, j) + score(t + l, l, j) + after_[t + l][j]);
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
            for (unsigned m = 1; m <= longest() && m + l <= t + 1; ++m)
              use(probability(before_[t + 1 - l - m][i] + score(t - l, m, i) + x_[1].at(i, j) +
                              score(t, l, j) + after_[t][j]),
                  x_[1].at(i, j));
        }
      }
    return h;
  }
  double score_of(const Segment* segments) const {
    double sum = 0;
    for (unsigned t = 0; t < length(); t += segments++->length) {
      const unsigned end = t + segments->length;
      sum += score(end - 1, segments->length, segments->label);
      sum += t == 0 ? x_[2].at(segments->label) : x_[1].at(segments[-1].label, segments->label);
      if (end == length()) sum += x_[3].at(segments->label);
    }
    return sum;
  }

 private:
  double score(unsigned t, unsigned l, unsigned j) const {
    return x_[0].at((l - 1) * labels() + j, t, element_);
  }
  double probability(double score) const {
    return log_z_ == -kInfinity ? 0 : std::exp(score - log_z_);
  }

  const Arrays& x_;
  unsigned element_;
  std::vector<std::vector<double>> before_, after_;  // of segments that begin, or end, there
  double log_z_;
};

Array of_elements(const Arrays& x, const std::function<double(const NaiveSegments&, unsigned)>& f) {
  return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
    const unsigned element = p[kMaxTensorDim];
    return f(NaiveSegments(x, element), element);
  });
}

/// Segments of each batch element, and where those of each begin.
struct SomeSegments {
  std::vector<Segment> all;
  std::vector<std::size_t> first;
};
SomeSegments some_segments(const Dim& scores, unsigned labels, unsigned variant) {
  SomeSegments s;
  const unsigned longest = std::max(1u, scores.rows() / labels);
  for (unsigned e = 0; e < scores.bd; ++e) {
    s.first.push_back(s.all.size());
    for (unsigned t = 0; t < scores.cols(); t += s.all.back().length)
      s.all.push_back({(t * 3 + variant + e) % labels,
                       std::min(1 + (t + variant) % longest, scores.cols() - t)});
  }
  return s;
}

OpCase segments(const std::string& name, const std::function<Expression(const Operand&)>& build,
                const std::function<Array(const Arrays&)>& reference) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    const unsigned labels = std::min(s.positive(), 34u), length = std::min(s.size(), 20u);
    const auto longest = static_cast<unsigned>(1 + s.below(4));
    return std::vector{Dim({labels * longest, length}, s.full_batch()), Dim({labels, labels}),
                       Dim({labels}), Dim({labels})};
  };
  c.build = build;
  c.reference = reference;
  c.float_tolerance = 1e-4;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes(
      "{2,3,2} {2,2} {2} {2} | {5,3} {2,2} {2} {2} | {0,3} {2,2} {2} {2} | {6,3} {2,3} {2} {2} | "
      "{6,3} {2,2X2} {2} {2} | {6,3} {2,2} {3} {2} | {6,3} {2,2} {2} {2X2}");
  return c;
}

}  // namespace

std::vector<OpCase> semi_crf_cases() {
  OpCase entropies = segments(
      "semi_crf_entropy", [](const Operand& x) { return semi_crf_entropy(x[0], x[1], x[2], x[3]); },
      [](const Arrays& x) {
        return of_elements(x, [](const NaiveSegments& s, unsigned) { return s.entropy(); });
      });
  entropies.value_tolerance = 1e-9;  // the loop's own: log Z and scores of 1e4 cancel
  return {segments(
              "semi_crf_log_partition",
              [](const Operand& x) { return semi_crf_log_partition(x[0], x[1], x[2], x[3]); },
              [](const Arrays& x) {
                return of_elements(x, [](const NaiveSegments& s, unsigned) { return s.log_z(); });
              }),
          segments(
              "semi_crf_log_prob",
              [](const Operand& x) {
                const SomeSegments y = some_segments(x[0].dim(), x[1].dim().rows(), x.variant);
                return semi_crf_log_prob(x[0], x[1], x[2], x[3], y.all);
              },
              [](const Arrays& x) {
                const SomeSegments y = some_segments(x[0].dim, x[1].dim.rows(), x.variant);
                return of_elements(x, [&](const NaiveSegments& s, unsigned e) {
                  const double score = s.score_of(y.all.data() + y.first[e]);
                  return score == -kInfinity ? score : score - s.log_z();
                });
              }),
          segments(
              "semi_crf_marginals",
              [](const Operand& x) { return semi_crf_marginals(x[0], x[1], x[2], x[3]); },
              [](const Arrays& x) {
                return fill(x[0].dim, [&](const Place& p) {
                  return NaiveSegments(x, p[kMaxTensorDim]).marginal(p[0], p[1]);
                });
              }),
          entropies};
}

DYNET_OP_TESTS("semi crf", semi_crf_cases())

}  // namespace dynet::test
