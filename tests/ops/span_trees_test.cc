#include "tests/support/span_trees.h"

#include "tests/ops/cases.h"
#include "tests/ops/naive_structures.h"

namespace dynet::test {
namespace {

/// All trees of a batch element, whose parts are spans; labels are summed over.
struct NaiveSpanTrees {
  const Array& x;
  unsigned element, words = x.dim.rows(), labels = x.dim[2];
  Listed trees{std::size_t{words} * words};

  NaiveSpanTrees(const Arrays& operands, unsigned e) : x(operands[0]), element(e) {
    for (const ScoredSpans& tree : all_span_trees({words, labels, {}}, false)) {
      double score = 0;
      std::vector<std::size_t> places;
      for (const LabelledSpan& s : tree.spans) {
        score += span(s);
        places.push_back(std::size_t{s.last} * words + s.first);
      }
      trees.add(score, places);
    }
    trees.end();
  }
  /// The score of a label, or the log sum over all labels.
  double span(const LabelledSpan& s) const {
    double sum = -kInfinity;
    for (unsigned k = 0; k < labels; ++k)
      if (s.label == k || s.label == kAnyLabel) sum = log_add(sum, label(s, k));
    return sum;
  }
  double marginal(unsigned first, unsigned last, unsigned k) const {
    const double p = trees.marginal(std::size_t{last} * words + first);
    return p == 0 ? 0 : p * share({first, last}, k);
  }
  /// That of trees, and that of the labels of their spans.
  double entropy() const {
    double h = trees.entropy();
    for (unsigned i = 0; i < words; ++i)
      for (unsigned j = i; j < words; ++j)
        for (unsigned k = 0; k < labels; ++k)
          if (const double p = marginal(i, j, k); p > 0) h -= p * std::log(share({i, j}, k));
    return h;
  }

 private:
  double label(const LabelledSpan& s, unsigned k) const {
    return x.at({s.first, s.last, k, 0, 0, 0, 0, element});
  }
  double share(const LabelledSpan& s, unsigned k) const { return std::exp(label(s, k) - span(s)); }
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
             const Reference& reference) {
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
  const auto log_prob = [](const Arrays& x, unsigned e) {
    const std::vector<LabelledSpan> spans = some_trees(x[0].dim, x.variant);
    const NaiveSpanTrees t(x, e);
    double score = 0;
    const std::size_t each = spans.size() / x[0].dim.bd;
    for (std::size_t k = e * each; k < (e + 1) * each; ++k) score += t.span(spans[k]);
    return t.trees.log_prob(score);
  };
  const auto marginals = [](const Arrays& x) {
    std::vector<NaiveSpanTrees> each;
    for (unsigned e = 0; e < x[0].dim.bd; ++e) each.emplace_back(x, e);
    return fill(x[0].dim,
                [&](const Place& p) { return each[p[kBatch]].marginal(p[0], p[1], p[2]); });
  };
  return {
      trees(
          "span_log_partition", [](const Operand& x) { return span_log_partition(x[0]); },
          log_partitions([](const Arrays& x, unsigned e) { return NaiveSpanTrees(x, e).trees; })),
      trees(
          "span_log_prob",
          [](const Operand& x) { return span_log_prob(x[0], some_trees(x[0].dim(), x.variant)); },
          of_elements(log_prob)),
      trees(
          "span_marginals", [](const Operand& x) { return span_marginals(x[0]); }, marginals),
      trees(
          "span_entropy", [](const Operand& x) { return span_entropy(x[0]); },
          of_elements([](const Arrays& x, unsigned e) { return NaiveSpanTrees(x, e).entropy(); }))};
}

DYNET_OP_TESTS("span trees", span_tree_cases())

}  // namespace dynet::test
