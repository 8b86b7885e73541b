#include "dynet-like/structures/dependency_trees/op.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/structures/dependency_trees/shape.h"
#include "kernels/cpu/dependency_trees.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim tree_number_shape(const Operands& x) { return shape::dependencies(x.dims); }
Dim tree_arcs_shape(const Operands& x) {
  shape::dependencies(x.dims);
  return x[0];
}
Dim tree_heads_shape(const Operands& x) {
  const Dim y = shape::dependencies(x.dims);
  const std::uint64_t count = x.as<DependencyHeadsAttr>().count;
  const std::size_t words = x[0].rows() - 1, wanted = words * x[0].bd;
  if (count != wanted)
    shape::broken("needs " + std::to_string(wanted) + " heads, got " + std::to_string(count),
                  shape::Kind::argument);
  const auto* const heads = static_cast<const unsigned*>(x.payload);
  for (std::size_t k = 0; k < count; ++k)
    if (heads[k] > words)
      shape::broken("head " + std::to_string(heads[k]) + " is outside the " +
                        std::to_string(words) + " words",
                    shape::Kind::index);
  return y;
}

// Scratch for the sums of projective trees.
std::size_t tree_tables(const GraphStore& graph, const Node& n) {
  const Dim& arcs = graph.nodes[graph.args[n.first_arg]].dim;
  const bool projective = graph.attr<DependencyAttr>(n).projective != 0;
  return projective ? DependencyTables{arcs.rows()}.elements() * arcs.bd : 0;
}

// The same, or the probabilities of the arcs of other trees, from which the gradient is made.
std::size_t tree_sums(const GraphStore& graph, const Node& n) {
  if (graph.attr<DependencyAttr>(n).projective) return tree_tables(graph, n);
  return n.needs_gradient() ? graph.nodes[graph.args[n.first_arg]].dim.size() : 0;
}

constexpr std::uint32_t kArcs = Ragged::operand(0);
constexpr Ragged kAnyWords{.rows = kArcs, .cols = kArcs};

constexpr OpForm tree_form(const char* name, Dim (*shape)(const Operands&), Forward forward,
                           Backward backward, const cuda::Kernels* on_cuda, AuxRule aux,
                           Ragged ragged = kAnyWords) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::sequences(ragged, sizeof(DependencyAttr)),
          .reads = Reads::inputs,
          .aux = aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

const OpForm kTreeLogPartition = tree_form("dependency_log_partition", tree_number_shape,
                                           DYNET_FORWARD(cpu::DependencyLogPartition::forward),
                                           DYNET_BACKWARD(cpu::DependencyLogPartition::backward),
                                           &cuda::kDependencyLogPartition, tree_sums);
const OpForm kTreeLogProb = tree_form(
    "dependency_log_prob", tree_heads_shape, DYNET_FORWARD(cpu::DependencyLogProb::forward),
    DYNET_BACKWARD(cpu::DependencyLogProb::backward), &cuda::kDependencyLogProb, tree_sums);
const OpForm kTreeMarginals = tree_form(
    "dependency_marginals", tree_arcs_shape, DYNET_FORWARD(cpu::DependencyMarginals::forward),
    DYNET_BACKWARD(cpu::DependencyMarginals::backward), &cuda::kDependencyMarginals, tree_tables,
    {.rows = kArcs | Ragged::kValue, .cols = kArcs | Ragged::kValue});
const OpForm kTreeEntropy = tree_form(
    "dependency_entropy", tree_number_shape, DYNET_FORWARD(cpu::DependencyEntropy::forward),
    DYNET_BACKWARD(cpu::DependencyEntropy::backward), &cuda::kDependencyEntropy, tree_tables);

constexpr DependencyAttr tree_rules(DependencyRules rules) {
  return {rules.projective, rules.single_root};
}

}  // namespace

OpFamily dependency_tree_ops() {
  static constexpr const OpForm* kAll[] = {&kTreeLogPartition, &kTreeLogProb, &kTreeMarginals,
                                           &kTreeEntropy};
  return kAll;
}

Expression dependency_log_partition(const Expression& arcs, DependencyRules rules,
                                    SourceLocation at) {
  return add_node(kTreeLogPartition, arcs, tree_rules(rules), at);
}
Expression dependency_log_prob(const Expression& arcs, std::span<const unsigned> heads,
                               DependencyRules rules, SourceLocation at) {
  return add_node(
      kTreeLogProb, arcs,
      {DependencyHeadsAttr{tree_rules(rules), heads.size()}, heads.data(), heads.size_bytes()}, at);
}
Expression dependency_marginals(const Expression& arcs, DependencyRules rules, SourceLocation at) {
  return add_node(kTreeMarginals, arcs, tree_rules(rules), at);
}
Expression dependency_entropy(const Expression& arcs, DependencyRules rules, SourceLocation at) {
  return add_node(kTreeEntropy, arcs, tree_rules(rules), at);
}

}  // namespace dynet
