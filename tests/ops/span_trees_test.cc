#include "tests/ops/cases.h"
#include "tests/ops/naive_structures.h"

namespace dynet::test {
namespace {

/// The trees of one batch element: tables of logarithms by loops over spans and their parts.
class NaiveSpanTrees {
 public:
  NaiveSpanTrees(const Arrays& x, unsigned element) : x_(x), element_(element) {
    const unsigned n = words();
    inside_.assign(n, std::vector<double>(n, -kInfinity));
    outside_ = inside_;
    for (unsigned width = 1; width <= n; ++width)
      for (unsigned i = 0; i + width <= n; ++i) {
        const unsigned j = i + width - 1;
        double parts = width == 1 ? 0 : -kInfinity;
        for (unsigned m = i; m < j; ++m) parts = log_add(parts, inside_[i][m] + inside_[m + 1][j]);
        inside_[i][j] = parts + span(i, j);
      }
    if (n > 0) outside_[0][n - 1] = 0;
    for (unsigned width = n; width > 1; --width)
      for (unsigned i = 0; i + width <= n; ++i) {
        const unsigned j = i + width - 1;
        for (unsigned m = i; m < j; ++m) {
          const double above = outside_[i][j] + span(i, j);
          outside_[i][m] = log_add(outside_[i][m], above + inside_[m + 1][j]);
          outside_[m + 1][j] = log_add(outside_[m + 1][j], above + inside_[i][m]);
        }
      }
  }

  unsigned words() const { return x_[0].dim.rows(); }
  unsigned labels() const { return x_[0].dim[2]; }
  double log_z() const { return words() == 0 ? 0 : inside_[0][words() - 1]; }
  double label(unsigned i, unsigned j, unsigned k) const {
    return x_[0].at({i, j, k, 0, 0, 0, 0, element_});
  }
  /// log sum over the labels.
  double span(unsigned i, unsigned j) const {
    double sum = -kInfinity;
    for (unsigned k = 0; k < labels(); ++k) sum = log_add(sum, label(i, j, k));
    return sum;
  }
  double marginal(unsigned i, unsigned j, unsigned k) const {
    if (i > j || log_z() == -kInfinity || inside_[i][j] == -kInfinity) return 0;
    return std::exp(outside_[i][j] + inside_[i][j] - span(i, j) + label(i, j, k) - log_z());
  }
  /// log Z less the expected score.
  double entropy() const {
    if (log_z() == -kInfinity) return 0;
    double h = log_z();
    for (unsigned i = 0; i < words(); ++i)
      for (unsigned j = i; j < words(); ++j)
        for (unsigned k = 0; k < labels(); ++k)
          if (const double p = marginal(i, j, k); p > 0) h -= p * label(i, j, k);
    return h;
  }

 private:
  const Arrays& x_;
  unsigned element_;
  std::vector<std::vector<double>> inside_, outside_;
};

/// A tree for each batch element, of which some labels are not known; right parts come first.
void add_tree(unsigned first, unsigned last, unsigned labels, unsigned variant,
              std::vector<LabelledSpan>& to) {
  const unsigned mix = variant + 5 * first + 3 * last;
  if (first < last) {
    const unsigned split = first + mix % (last - first);
    add_tree(split + 1, last, labels, variant, to);
    add_tree(first, split, labels, variant + 1, to);
  }
  to.push_back({first, last, mix % 3 == 0 ? kAnyLabel : mix % std::max(labels, 1u)});
}
std::vector<LabelledSpan> some_trees(const Dim& spans, unsigned variant) {
  std::vector<LabelledSpan> all;
  for (unsigned e = 0; e < spans.bd && spans.rows() > 0; ++e)
    add_tree(0, spans.rows() - 1, spans[2], variant + e, all);
  return all;
}

OpCase trees(const std::string& name, const std::function<Expression(const Operand&)>& build,
             const std::function<Array(const Arrays&)>& reference) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    unsigned words = std::min(s.size(), 40u);
    if (s.kind() != Shapes::ones && words > 0) words += static_cast<unsigned>(s.below(3));
    if (s.coin()) return std::vector{Dim({words, words}, s.full_batch())};
    return std::vector{Dim({words, words, std::min(s.positive(), 40u)}, s.full_batch())};
  };
  c.build = build;
  c.reference = reference;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes("{2,3} | {3,2,2} | {2,2,2,2} | {2,2,0}");
  return c;
}

}  // namespace

std::vector<OpCase> span_tree_cases() {
  const auto log_prob = [](const Arrays& x) {
    const std::vector<LabelledSpan> spans = some_trees(x[0].dim, x.variant);
    return of_elements<NaiveSpanTrees>(x, [&](const NaiveSpanTrees& t, unsigned e) {
      double score = 0;
      const std::size_t each = spans.size() / x[0].dim.bd;
      for (std::size_t k = e * each; k < (e + 1) * each; ++k) {
        const LabelledSpan& s = spans[k];
        score += s.label == kAnyLabel ? t.span(s.first, s.last) : t.label(s.first, s.last, s.label);
      }
      return score == -kInfinity ? score : score - t.log_z();
    });
  };
  const auto marginals = [](const Arrays& x) {
    std::vector<NaiveSpanTrees> each;
    for (unsigned e = 0; e < x[0].dim.bd; ++e) each.emplace_back(x, e);
    return fill(x[0].dim,
                [&](const Place& p) { return each[p[kMaxTensorDim]].marginal(p[0], p[1], p[2]); });
  };
  OpCase entropy = trees(
      "span_entropy", [](const Operand& x) { return span_entropy(x[0]); },
      entropies<NaiveSpanTrees>);
  entropy.value_tolerance = 1e-9;  // the loop's own: log Z and scores of 1e4 cancel
  return {
      trees(
          "span_log_partition", [](const Operand& x) { return span_log_partition(x[0]); },
          log_partitions<NaiveSpanTrees>),
      trees(
          "span_log_prob",
          [](const Operand& x) { return span_log_prob(x[0], some_trees(x[0].dim(), x.variant)); },
          log_prob),
      trees(
          "span_marginals", [](const Operand& x) { return span_marginals(x[0]); }, marginals),
      entropy};
}

DYNET_OP_TESTS("span trees", span_tree_cases())

}  // namespace dynet::test
