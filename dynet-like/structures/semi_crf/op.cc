#include "dynet-like/structures/semi_crf/op.h"

#include <array>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/structures/semi_crf/shape.h"
#include "kernels/cpu/semi_crf.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim segmented(const Operands& x) { return shape::segments(x.dims); }
Dim segment_marginals(const Operands& x) {
  shape::segments(x.dims);
  return x[0];
}
Dim known_segments(const Operands& x) {
  const Dim y = shape::segments(x.dims);
  const unsigned labels = x[1].rows(), longest = x[0].rows() / labels, length = x[0].cols();
  const auto* const segments = static_cast<const Segment*>(x.payload);
  std::size_t at = 0;  // words of the segments so far
  for (std::size_t k = 0; k < x.as<SemiCrfAttr>().count; ++k) {
    const Segment& s = segments[k];
    shape::need_below(s.label, labels, "label", "labels");
    if (s.length == 0 || s.length > longest)
      shape::broken("the length of a segment must be in 1 ... " + std::to_string(longest) +
                        ", got " + std::to_string(s.length),
                    shape::Kind::argument);
    if (length == 0 || at % length + s.length > length)
      shape::broken(
          "segment " + std::to_string(k) + " goes beyond the " + std::to_string(length) + " words",
          shape::Kind::argument);
    at += s.length;
  }
  const std::size_t words = std::size_t{length} * x[0].bd;
  if (at != words)
    shape::broken(
        "needs segments of " + std::to_string(words) + " words, got those of " + std::to_string(at),
        shape::Kind::argument);
  return y;
}

template <std::size_t Tables>
std::size_t segment_tables(const GraphStore& graph, const Node& n) {
  const auto dim = [&](std::size_t k) -> const Dim& {
    return graph.nodes[graph.args[n.first_arg + k]].dim;
  };
  return SegmentTables{dim(1).rows(), dim(0).cols()}.size(Tables) * dim(0).bd;
}

constexpr Ragged kAnyColumns{.rows = 0, .cols = Ragged::operand(0)};

constexpr OpForm semi_chain(const char* name, Dim (*shape)(const Operands&), AuxRule aux,
                            Forward forward, Backward backward, const cuda::Kernels* on_cuda,
                            Ragged ragged = kAnyColumns, Reads reads = Reads::inputs) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::sequences(ragged),
          .reads = reads,
          .aux = aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

const OpForm kSemiLogPartition =
    semi_chain("semi_crf_log_partition", segmented, segment_tables<4>,
               DYNET_FORWARD(cpu::SemiCrfLogPartition::forward),
               DYNET_BACKWARD(cpu::SemiCrfLogPartition::backward), &cuda::kSemiCrfLogPartition);
const OpForm kSemiLogProb = semi_chain("semi_crf_log_prob", known_segments, segment_tables<4>,
                                       DYNET_FORWARD(cpu::SemiCrfLogProb::forward),
                                       DYNET_BACKWARD(cpu::SemiCrfLogProb::backward),
                                       &cuda::kSemiCrfLogProb, kAnyColumns, Reads::both);
const OpForm kSemiMarginals = semi_chain(
    "semi_crf_marginals", segment_marginals, segment_tables<8>,
    DYNET_FORWARD(cpu::SemiCrfMarginals::forward), DYNET_BACKWARD(cpu::SemiCrfMarginals::backward),
    &cuda::kSemiCrfMarginals, {.rows = 0, .cols = Ragged::operand(0) | Ragged::kValue});
const OpForm kSemiEntropy = semi_chain(
    "semi_crf_entropy", segmented, segment_tables<8>, DYNET_FORWARD(cpu::SemiCrfEntropy::forward),
    DYNET_BACKWARD(cpu::SemiCrfEntropy::backward), &cuda::kSemiCrfEntropy);

}  // namespace

OpFamily semi_crf_ops() {
  static constexpr const OpForm* kAll[] = {&kSemiLogPartition, &kSemiLogProb, &kSemiMarginals,
                                           &kSemiEntropy};
  return kAll;
}

Expression semi_crf_log_partition(const Expression& scores, const Expression& transitions,
                                  const Expression& start, const Expression& stop,
                                  SourceLocation at) {
  return add_node(kSemiLogPartition, std::array{scores, transitions, start, stop}, {}, at);
}
Expression semi_crf_log_prob(const Expression& scores, const Expression& transitions,
                             const Expression& start, const Expression& stop,
                             std::span<const Segment> segments, SourceLocation at) {
  return add_node(kSemiLogProb, std::array{scores, transitions, start, stop},
                  {SemiCrfAttr{segments.size()}, segments.data(), segments.size_bytes()}, at);
}
Expression semi_crf_marginals(const Expression& scores, const Expression& transitions,
                              const Expression& start, const Expression& stop, SourceLocation at) {
  return add_node(kSemiMarginals, std::array{scores, transitions, start, stop}, {}, at);
}
Expression semi_crf_entropy(const Expression& scores, const Expression& transitions,
                            const Expression& start, const Expression& stop, SourceLocation at) {
  return add_node(kSemiEntropy, std::array{scores, transitions, start, stop}, {}, at);
}

}  // namespace dynet
