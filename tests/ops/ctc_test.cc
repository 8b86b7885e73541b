#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

using Labels = std::vector<std::vector<unsigned>>;

/// An utterance: tables by the recurrences of the paper, forward and backward.
class NaiveUtterance {
 public:
  NaiveUtterance(const Array& x, unsigned element, const std::vector<unsigned>& labels,
                 unsigned blank)
      : x_(x), element_(element) {
    symbols_.push_back(blank);
    for (const unsigned y : labels) symbols_.insert(symbols_.end(), {y, blank});
    const unsigned n = states(), frames = x.dim.cols();
    const auto may_skip = [&](unsigned s) {
      return s > 1 && symbols_[s] != blank && symbols_[s] != symbols_[s - 2];
    };
    forward_.assign(frames, std::vector<double>(n, -kInfinity));
    backward_ = forward_;
    for (unsigned t = 0; t < frames; ++t)
      for (unsigned s = 0; s < n; ++s) {
        double& f = forward_[t][s];
        if (t == 0) {
          f = s < 2 ? 0 : -kInfinity;
        } else {
          f = forward_[t - 1][s];
          if (s > 0) f = log_add(f, forward_[t - 1][s - 1]);
          if (may_skip(s)) f = log_add(f, forward_[t - 1][s - 2]);
        }
        f += score(t, s);
      }
    for (unsigned t = frames; t-- > 0;)
      for (unsigned s = 0; s < n; ++s) {
        double& b = backward_[t][s];
        if (t + 1 == frames) {
          b = s + 2 >= n ? 0 : -kInfinity;
        } else {
          b = then(t, s);
          if (s + 1 < n) b = log_add(b, then(t, s + 1));
          if (s + 2 < n && may_skip(s + 2)) b = log_add(b, then(t, s + 2));
        }
      }
    log_sum_ = frames == 0 && n == 1 ? 0 : -kInfinity;
    for (unsigned s = 0; s < n && frames > 0; ++s)
      log_sum_ = log_add(log_sum_, forward_[0][s] + backward_[0][s]);
  }

  double log_sum() const { return log_sum_; }
  double probability(unsigned t, unsigned symbol) const {
    double sum = 0;
    for (unsigned s = 0; s < states(); ++s)
      if (symbols_[s] == symbol && log_sum_ > -kInfinity)
        sum += std::exp(forward_[t][s] + backward_[t][s] - log_sum_);
    return sum;
  }
  /// The log sum less the expected score.
  double entropy() const {
    if (log_sum_ == -kInfinity) return 0;
    double h = log_sum_;
    for (unsigned t = 0; t < x_.dim.cols(); ++t)
      for (unsigned v = 0; v < x_.dim.rows(); ++v)
        if (const double p = probability(t, v); p > 0) h -= p * x_.at(v, t, element_);
    return h;
  }

 private:
  unsigned states() const { return static_cast<unsigned>(symbols_.size()); }
  double score(unsigned t, unsigned s) const { return x_.at(symbols_[s], t, element_); }
  double then(unsigned t, unsigned s) const { return score(t + 1, s) + backward_[t + 1][s]; }

  const Array& x_;
  unsigned element_;
  std::vector<unsigned> symbols_;
  std::vector<std::vector<double>> forward_, backward_;
  double log_sum_;
};

unsigned blank_of(const Dim& d, unsigned variant) { return variant % d.rows(); }

/// Labels for each batch element: with repeats, and as many as fit, or now and then more.
Labels some_labels(const Dim& d, unsigned variant, bool too_many) {
  Labels all(d.bd);
  const unsigned blank = blank_of(d, variant);
  for (unsigned e = 0; e < d.bd && d.rows() > 1; ++e) {
    const unsigned wanted = (variant * 5 + e * 3) % (d.cols() + (too_many ? 3 : 1));
    for (unsigned k = 0, frames = 0; k < wanted; ++k) {
      unsigned y = (k / 2 + variant + e) % (d.rows() - 1);
      y += y >= blank;
      frames += !all[e].empty() && all[e].back() == y ? 2 : 1;
      if (too_many || frames <= d.cols()) all[e].push_back(y);
      if (frames > d.cols() && !too_many) break;
    }
  }
  return all;
}

OpCase utterances(
    const std::string& name, bool too_many,
    const std::function<Expression(const Expression&, const Labels&, unsigned)>& build,
    const std::function<double(const NaiveUtterance&, unsigned, unsigned)>& reference,
    bool one = true) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    return std::vector{Dim({std::min(s.positive(), 40u), std::min(s.size(), 70u)}, s.full_batch())};
  };
  c.build = [=](const Operand& x) {
    const Dim d = x[0].dim();
    return build(x[0], some_labels(d, x.variant, too_many), blank_of(d, x.variant));
  };
  c.reference = [=](const Arrays& x) {
    const Dim& d = x[0].dim;
    const Labels labels = some_labels(d, x.variant, too_many);
    std::vector<NaiveUtterance> all;
    for (unsigned e = 0; e < d.bd; ++e)
      all.emplace_back(x[0], e, labels[e], blank_of(d, x.variant));
    return fill(one ? Dim({1}, d.bd) : d,
                [&](const Place& p) { return reference(all[p[kMaxTensorDim]], p[0], p[1]); });
  };
  c.float_tolerance = 1e-4;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes("{2,3,2}");
  return c;
}

}  // namespace

std::vector<OpCase> ctc_cases() {
  const auto loss = [](const NaiveUtterance& u, unsigned, unsigned) { return -u.log_sum(); };
  const auto finite_loss = [](const NaiveUtterance& u, unsigned, unsigned) {
    return u.log_sum() == -kInfinity ? 0 : -u.log_sum();
  };
  const auto entropy = [](const NaiveUtterance& u, unsigned, unsigned) { return u.entropy(); };
  const auto probability = [](const NaiveUtterance& u, unsigned v, unsigned t) {
    return u.probability(t, v);
  };
  const auto losses = [](const Expression& x, const Labels& y, unsigned blank) {
    return ctc_loss(x, y, {.blank = blank});
  };
  const auto finite = [](const Expression& x, const Labels& y, unsigned blank) {
    return ctc_loss(x, y, {.blank = blank, .zero_infinity = true});
  };
  const auto alignments = [](const Expression& x, const Labels& y, unsigned blank) {
    return ctc_alignment(x, y, {.blank = blank});
  };
  const auto entropies = [](const Expression& x, const Labels& y, unsigned blank) {
    return ctc_entropy(x, y, {.blank = blank});
  };
  OpCase h = utterances("ctc_entropy", true, entropies, entropy);
  h.value_tolerance = 1e-9;  // the loop's own: sums of scores of 1e4 cancel
  return {utterances("ctc_loss", false, losses, loss),
          utterances("ctc_loss, zero for infinity", true, finite, finite_loss),
          utterances("ctc_alignment", true, alignments, probability, false), h};
}

DYNET_OP_TESTS("ctc", ctc_cases())

}  // namespace dynet::test
