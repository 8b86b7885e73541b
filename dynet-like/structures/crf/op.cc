#include "dynet-like/structures/crf/op.h"

#include <algorithm>
#include <array>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/structures/crf/shape.h"
#include "kernels/cpu/crf.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim chain_shape(const Operands& x) { return shape::chain(x.dims); }
Dim marginals_shape(const Operands& x) {
  shape::chain(x.dims);
  return x[0];
}
Dim tags_shape(const Operands& x) {
  const Dim y = shape::chain(x.dims);
  const auto& a = x.as<CrfTagsAttr>();
  const std::size_t wanted = std::size_t{x[0].cols()} * x[0].bd;
  if (a.count != wanted)
    shape::broken("needs " + std::to_string(wanted) + " tags, got " + std::to_string(a.count),
                  shape::Kind::argument);
  const auto* const tags = static_cast<const unsigned*>(x.payload);
  for (std::size_t k = 0; k < a.count; ++k)
    if (tags[k] != kAnyTag) shape::need_below(tags[k], x[0].rows(), "tag", "tags");
  return y;
}

// Tables of the chain, see CrfTables.
template <std::size_t Tables>
std::size_t tables(const GraphStore& graph, const Node& n) {
  return Tables * graph.nodes[graph.args[n.first_arg]].dim.size();
}
// With partly known tags, the constrained chain has its own tables.
std::size_t tables_with_tags(const GraphStore& graph, const Node& n) {
  return graph.attr<CrfTagsAttr>(n).partly ? tables<7>(graph, n) : tables<3>(graph, n);
}

constexpr Ragged kAnyLength{.rows = 0, .cols = Ragged::operand(0)};

constexpr OpForm chain(const char* name, Dim (*shape)(const Operands&), AuxRule aux,
                       Forward forward, Backward backward, const cuda::Kernels* on_cuda,
                       Ragged ragged = kAnyLength, Reads reads = Reads::inputs) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::sequences(ragged),
          .reads = reads,
          .aux = aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

const OpForm kLogPartition =
    chain("crf_log_partition", chain_shape, tables<3>, DYNET_FORWARD(cpu::CrfLogPartition::forward),
          DYNET_BACKWARD(cpu::CrfLogPartition::backward), &cuda::kCrfLogPartition);
const OpForm kLogProb =
    chain("crf_log_prob", tags_shape, tables_with_tags, DYNET_FORWARD(cpu::CrfLogProb::forward),
          DYNET_BACKWARD(cpu::CrfLogProb::backward), &cuda::kCrfLogProb, kAnyLength, Reads::both);
const OpForm kMarginals =
    chain("crf_marginals", marginals_shape, tables<5>, DYNET_FORWARD(cpu::CrfMarginals::forward),
          DYNET_BACKWARD(cpu::CrfMarginals::backward), &cuda::kCrfMarginals,
          {.rows = 0, .cols = Ragged::operand(0) | Ragged::kValue});
const OpForm kEntropy =
    chain("crf_entropy", chain_shape, tables<5>, DYNET_FORWARD(cpu::CrfEntropy::forward),
          DYNET_BACKWARD(cpu::CrfEntropy::backward), &cuda::kCrfEntropy);

}  // namespace

OpFamily crf_ops() {
  static constexpr const OpForm* kAll[] = {&kLogPartition, &kLogProb, &kMarginals, &kEntropy};
  return kAll;
}

Expression crf_log_partition(const Expression& emissions, const Expression& transitions,
                             const Expression& start, const Expression& stop, SourceLocation at) {
  return add_node(kLogPartition, std::array{emissions, transitions, start, stop}, {}, at);
}
Expression crf_log_prob(const Expression& emissions, const Expression& transitions,
                        const Expression& start, const Expression& stop,
                        std::span<const unsigned> tags, SourceLocation at) {
  const bool partly = std::find(tags.begin(), tags.end(), kAnyTag) != tags.end();
  return add_node(kLogProb, std::array{emissions, transitions, start, stop},
                  {CrfTagsAttr{tags.size(), partly}, tags.data(), tags.size_bytes()}, at);
}
Expression crf_marginals(const Expression& emissions, const Expression& transitions,
                         const Expression& start, const Expression& stop, SourceLocation at) {
  return add_node(kMarginals, std::array{emissions, transitions, start, stop}, {}, at);
}
Expression crf_entropy(const Expression& emissions, const Expression& transitions,
                       const Expression& start, const Expression& stop, SourceLocation at) {
  return add_node(kEntropy, std::array{emissions, transitions, start, stop}, {}, at);
}

}  // namespace dynet
