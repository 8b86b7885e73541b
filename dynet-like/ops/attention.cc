#include "dynet-like/ops/attention.h"

#include <array>
#include <cmath>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/attention_rules.h"
#include "dynet-like/shape/broken.h"
#include "kernels/cpu/attention.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim attended(const Operands& x) {
  const auto& a = x.as<AttentionAttr>();
  const Dim y = shape::attention(x.dims, a.heads, a.key_heads);
  if (!std::isfinite(a.scale))
    shape::broken("the scale must be finite, got " + std::to_string(a.scale),
                  shape::Kind::argument);
  if (a.count != 0 && a.count != y.bd)
    shape::broken("needs the number of keys of each of " + std::to_string(y.bd) +
                      " batch elements, got " + std::to_string(a.count),
                  shape::Kind::argument);
  const auto* const lengths = static_cast<const unsigned*>(x.payload);
  for (std::size_t e = 0; e < a.count; ++e)
    if (lengths[e] > x[1].cols())
      shape::broken("batch element " + std::to_string(e) + " cannot have " +
                        std::to_string(lengths[e]) + " of " + std::to_string(x[1].cols()) + " keys",
                    shape::Kind::argument);
  return y;
}

// Two numbers for each query of each head: the shift of its scores, and the inverse of their sum.
std::size_t two_of_each_query(const GraphStore& graph, const Node& n) {
  return 2 * graph.attr<AttentionAttr>(n).heads * n.dim.cols() * n.dim.bd;
}

constexpr std::uint32_t kSequences = Ragged::operand(0) | Ragged::operand(1) | Ragged::operand(2);

const OpForm kAttention{
    .name = "attention",
    .shape = attended,
    .batch = BatchRule::sequences({.rows = 0, .cols = kSequences | Ragged::kValue},
                                  AttentionAttr::kBatchBytes),
    .reads = Reads::both,
    .aux = two_of_each_query,
    .forward = DYNET_FORWARD(cpu::Attention::forward),
    .backward = DYNET_BACKWARD(cpu::Attention::backward),
    .cuda = CudaRule::by(&cuda::kAttention)};

template <std::size_t N>
Expression attend(const std::array<Expression, N>& operands, const AttentionSettings& s,
                  SourceLocation at) {
  const std::vector<unsigned>& lengths = s.key_lengths;
  return add_node(kAttention, operands,
                  {AttentionAttr{s.heads, s.key_heads == 0 ? s.heads : s.key_heads, s.scale,
                                 std::uint64_t{s.causal}, lengths.size()},
                   lengths.data(), lengths.size() * sizeof(unsigned)},
                  at);
}

}  // namespace

OpFamily attention_ops() {
  static constexpr const OpForm* kAll[] = {&kAttention};
  return kAll;
}

Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const AttentionSettings& settings, SourceLocation at) {
  return attend(std::array{queries, keys, values}, settings, at);
}
Expression attention(const Expression& queries, const Expression& keys, const Expression& values,
                     const Expression& biases, const AttentionSettings& settings,
                     SourceLocation at) {
  return attend(std::array{queries, keys, values, biases}, settings, at);
}

}  // namespace dynet
