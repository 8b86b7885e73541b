#include "dynet-like/structures/span_trees/op.h"

#include <algorithm>
#include <vector>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/structures/span_trees/shape.h"
#include "kernels/cpu/span_trees.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim span_number_shape(const Operands& x) { return shape::span_trees(x[0]); }
Dim marginals_shape(const Operands& x) {
  shape::span_trees(x[0]);
  return x[0];
}

std::string text(unsigned first, unsigned last) {
  return "[" + std::to_string(first) + ", " + std::to_string(last) + "]";
}

/// Throws unless `spans`, which have the number of spans of a tree, form one. Sorting puts them in
/// preorder: a span is followed by its left part, whose end determines the right part.
void need_tree(std::vector<LabelledSpan> spans, unsigned words) {
  std::sort(spans.begin(), spans.end(), [](const LabelledSpan& a, const LabelledSpan& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  struct Wanted {
    unsigned first, last;
  };
  std::vector<Wanted> wanted = {{0, words - 1}};
  const auto no_tree = [&](const std::string& why) {
    shape::broken("the spans must be those of a binary tree of " + std::to_string(words) +
                      " words, but " + why + " is missing",
                  shape::Kind::argument);
  };
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const LabelledSpan& s = spans[k];
    const Wanted w = wanted.back();
    wanted.pop_back();
    if (s.first != w.first || s.last != w.last) no_tree(text(w.first, w.last));
    if (s.first == s.last) continue;
    const bool has_left =
        k + 1 < spans.size() && spans[k + 1].first == s.first && spans[k + 1].last < s.last;
    if (!has_left) no_tree("a left part of " + text(s.first, s.last));
    wanted.push_back({spans[k + 1].last + 1, s.last});
    wanted.push_back({s.first, spans[k + 1].last});
  }
}

Dim tree_shape(const Operands& x) {
  const Dim y = shape::span_trees(x[0]);
  const unsigned words = x[0].rows(), labels = x[0][2];
  const std::size_t each = words == 0 ? 0 : 2 * std::size_t{words} - 1, wanted = each * x[0].bd;
  const std::size_t count = x.as<SpanTreeAttr>().count;
  if (count != wanted)
    shape::broken(
        "a binary tree of " + std::to_string(words) + " words has " + std::to_string(each) +
            " spans" +
            (x[0].bd > 1 ? ", and " + std::to_string(x[0].bd) + " trees are needed" : "") +
            ", got " + std::to_string(count),
        shape::Kind::argument);
  const auto* const spans = static_cast<const LabelledSpan*>(x.payload);
  for (std::size_t k = 0; k < count; ++k) {
    const LabelledSpan& s = spans[k];
    if (s.first > s.last || s.last >= words)
      shape::broken("the span " + text(s.first, s.last) + " is not one of " +
                        std::to_string(words) + " words",
                    shape::Kind::argument);
    if (s.label != kAnyLabel) shape::need_below(s.label, labels, "label", "labels");
  }
  for (std::size_t k = 0; k < count; k += each) need_tree({spans + k, spans + k + each}, words);
  return y;
}

// Tables hold doubles; one double is the size of two floats.
template <std::size_t Tables>
std::size_t tables(const GraphStore& graph, const Node& n) {
  const Dim& spans = graph.nodes[graph.args[n.first_arg]].dim;
  return 2 * Tables * SpanTables{spans.rows()}.size() * spans.bd;
}
constexpr AuxRule kPlain = tables<SpanTables::kPlain>;
constexpr AuxRule kWithDerivatives = tables<SpanTables::kWithDerivatives>;

constexpr OpForm over_trees(const char* name, Dim (*shape)(const Operands&), AuxRule aux,
                            Forward forward, Backward backward, const cuda::Kernels* on_cuda,
                            std::uint32_t value = 0, Reads reads = Reads::inputs) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::sequences(
              {.rows = Ragged::operand(0) | value, .cols = Ragged::operand(0) | value}),
          .reads = reads,
          .aux = aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

const OpForm kLogPartition = over_trees(
    "span_log_partition", span_number_shape, kPlain, DYNET_FORWARD(cpu::SpanLogPartition::forward),
    DYNET_BACKWARD(cpu::SpanLogPartition::backward), &cuda::kSpanLogPartition);
const OpForm kLogProb =
    over_trees("span_log_prob", tree_shape, tables<SpanTables::kWithTree>,
               DYNET_FORWARD(cpu::SpanLogProb::forward), DYNET_BACKWARD(cpu::SpanLogProb::backward),
               &cuda::kSpanLogProb, 0, Reads::both);
const OpForm kMarginals = over_trees(
    "span_marginals", marginals_shape, kWithDerivatives, DYNET_FORWARD(cpu::SpanMarginals::forward),
    DYNET_BACKWARD(cpu::SpanMarginals::backward), &cuda::kSpanMarginals, Ragged::kValue);
const OpForm kEntropy = over_trees("span_entropy", span_number_shape, kWithDerivatives,
                                   DYNET_FORWARD(cpu::SpanEntropy::forward),
                                   DYNET_BACKWARD(cpu::SpanEntropy::backward), &cuda::kSpanEntropy);

}  // namespace

OpFamily span_tree_ops() {
  static constexpr const OpForm* kAll[] = {&kLogPartition, &kLogProb, &kMarginals, &kEntropy};
  return kAll;
}

Expression span_log_partition(const Expression& spans, SourceLocation at) {
  return add_node(kLogPartition, spans, {}, at);
}
Expression span_log_prob(const Expression& spans, std::span<const LabelledSpan> tree,
                         SourceLocation at) {
  return add_node(kLogProb, spans, {SpanTreeAttr{tree.size()}, tree.data(), tree.size_bytes()}, at);
}
Expression span_marginals(const Expression& spans, SourceLocation at) {
  return add_node(kMarginals, spans, {}, at);
}
Expression span_entropy(const Expression& spans, SourceLocation at) {
  return add_node(kEntropy, spans, {}, at);
}

}  // namespace dynet
