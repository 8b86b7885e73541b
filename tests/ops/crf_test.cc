#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// A chain of one batch element: tables by loops over pairs of tags.
class NaiveChain {
 public:
  NaiveChain(const Arrays& x, unsigned element) : x_(x), element_(element) {
    const unsigned k = tags(), n = length();
    forward_.assign(n, std::vector<double>(k, -kInfinity));
    backward_.assign(n, std::vector<double>(k, -kInfinity));
    for (unsigned j = 0; j < k && n > 0; ++j) {
      forward_[0][j] = x[2].at(j) + emission(0, j);
      backward_[n - 1][j] = x[3].at(j);
    }
    for (unsigned t = 1; t < n; ++t)
      for (unsigned j = 0; j < k; ++j)
        for (unsigned i = 0; i < k; ++i) {
          double& f = forward_[t][j];
          f = log_add(f, forward_[t - 1][i] + transition(t, i, j) + emission(t, j));
        }
    for (unsigned t = n; t-- > 1;)
      for (unsigned j = 0; j < k; ++j)
        for (unsigned i = 0; i < k; ++i) {
          double& b = backward_[t - 1][i];
          b = log_add(b, transition(t, i, j) + emission(t, j) + backward_[t][j]);
        }
    log_z_ = n == 0 ? 0 : -kInfinity;
    for (unsigned j = 0; j < k && n > 0; ++j)
      log_z_ = log_add(log_z_, forward_[n - 1][j] + x[3].at(j));
  }

  unsigned tags() const { return x_[0].dim.rows(); }
  unsigned length() const { return x_[0].dim.cols(); }
  double log_z() const { return log_z_; }
  double marginal(unsigned j, unsigned t) const {
    return probability(forward_[t][j] + backward_[t][j]);
  }
  double score(const unsigned* y) const {
    if (length() == 0) return 0;
    double sum = x_[2].at(y[0]) + x_[3].at(y[length() - 1]);
    for (unsigned t = 0; t < length(); ++t)
      sum += emission(t, y[t]) + (t > 0 ? transition(t, y[t - 1], y[t]) : 0);
    return sum;
  }
  /// log Z less the expected score.
  double entropy() const {
    if (log_z_ == -kInfinity) return 0;
    double h = log_z_;
    const auto use = [&](double p, double score) { h -= p == 0 ? 0 : p * score; };
    for (unsigned t = 0; t < length(); ++t)
      for (unsigned j = 0; j < tags(); ++j) {
        use(marginal(j, t),
            emission(t, j) + (t == 0 ? x_[2].at(j) : 0) + (t + 1 == length() ? x_[3].at(j) : 0));
        for (unsigned i = 0; i < tags() && t > 0; ++i)
          use(probability(forward_[t - 1][i] + transition(t, i, j) + emission(t, j) +
                          backward_[t][j]),
              transition(t, i, j));
      }
    return h;
  }
  double emission(unsigned t, unsigned j) const { return x_[0].at(j, t, element_); }

 private:
  double probability(double score) const {
    return log_z_ == -kInfinity ? 0 : std::exp(score - log_z_);
  }
  double transition(unsigned t, unsigned i, unsigned j) const {
    return x_[1].at({i, j, t - 1, 0, 0, 0, 0, 0});
  }

  const Arrays& x_;
  unsigned element_;
  std::vector<std::vector<double>> forward_, backward_;
  double log_z_;
};

Array of_elements(const Arrays& x, const std::function<double(const NaiveChain&, unsigned)>& f) {
  return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
    const unsigned element = p[kMaxTensorDim];
    return f(NaiveChain(x, element), element);
  });
}

/// Some tags for each position, of which some are not known.
std::vector<unsigned> some_tags(const Dim& emissions, unsigned variant, bool partly) {
  std::vector<unsigned> tags;
  for (unsigned k = 0; k < emissions.cols() * emissions.bd; ++k)
    tags.push_back(partly && (k + variant) % 3 != 0 ? kAnyTag
                                                    : (k * 7 + variant) % emissions.rows());
  return tags;
}

OpCase chain(const std::string& name, const std::function<Expression(const Operand&)>& build,
             const std::function<Array(const Arrays&)>& reference) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    const unsigned tags = std::min(s.positive(), 40u), length = std::min(s.size(), 70u);
    const bool by_position = length > 2 && s.coin();
    return std::vector{Dim({tags, length}, s.full_batch()),
                       by_position ? Dim({tags, tags, length - 1}) : Dim({tags, tags}), Dim({tags}),
                       Dim({tags})};
  };
  c.build = build;
  c.reference = reference;
  c.float_tolerance = 1e-4;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes(
      "{2,3,2} {2,2} {2} {2} | {2,3} {3,3} {2} {2} | {2,3} {2,2X2} {2} {2} | {2,4} {2,2,4} {2} {2} "
      "| {2,3} {2,2} {3} {2} | {2,3} {2,2} {2} {2X2}");
  return c;
}

OpCase log_prob(bool partly) {
  OpCase c = chain(
      partly ? "crf_log_prob, partly known" : "crf_log_prob",
      [partly](const Operand& x) {
        return crf_log_prob(x[0], x[1], x[2], x[3], some_tags(x[0].dim(), x.variant, partly));
      },
      [partly](const Arrays& x) {
        const std::vector<unsigned> tags = some_tags(x[0].dim, x.variant, partly);
        Arrays known = x;
        for (unsigned e = 0; e < x[0].dim.bd; ++e)
          for (unsigned t = 0; t < x[0].dim.cols(); ++t)
            for (unsigned j = 0; j < x[0].dim.rows(); ++j)
              if (const unsigned y = tags[e * x[0].dim.cols() + t]; y != j && y != kAnyTag)
                known[0].v[(e * x[0].dim.cols() + t) * x[0].dim.rows() + j] = -kInfinity;
        return of_elements(x, [&](const NaiveChain& all, unsigned e) {
          const double score = NaiveChain(known, e).log_z();
          return score == -kInfinity ? score : score - all.log_z();
        });
      });
  return c;
}

}  // namespace

std::vector<OpCase> crf_cases() {
  const auto log_z = [](const Arrays& x) {
    return of_elements(x, [](const NaiveChain& c, unsigned) { return c.log_z(); });
  };
  const auto entropy = [](const Arrays& x) {
    return of_elements(x, [](const NaiveChain& c, unsigned) { return c.entropy(); });
  };
  const auto marginals = [](const Arrays& x) {
    return fill(x[0].dim, [&](const Place& p) {
      return NaiveChain(x, p[kMaxTensorDim]).marginal(p[0], p[1]);
    });
  };
  OpCase entropies = chain(
      "crf_entropy", [](const Operand& x) { return crf_entropy(x[0], x[1], x[2], x[3]); }, entropy);
  entropies.value_tolerance = 1e-9;  // the loop's own: log Z and scores of 1e4 cancel
  return {chain(
              "crf_log_partition",
              [](const Operand& x) { return crf_log_partition(x[0], x[1], x[2], x[3]); }, log_z),
          log_prob(false), log_prob(true),
          chain(
              "crf_marginals",
              [](const Operand& x) { return crf_marginals(x[0], x[1], x[2], x[3]); }, marginals),
          entropies};
}

DYNET_OP_TESTS("crf", crf_cases())

}  // namespace dynet::test
