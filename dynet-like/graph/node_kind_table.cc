#include "dynet-like/graph/node_kind_table.h"

#include <algorithm>

namespace dynet {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;

}  // namespace

std::uint64_t NodeKindTable::hash(const Asked& node) {
  std::uint64_t h =
      reinterpret_cast<std::uintptr_t>(&node.form) + (node.flags & Node::kPlanningBits);
  const auto add = [&](std::uint64_t x) { h = (h ^ x) * kOdd; };
  const BatchRule& rule = node.form.batch.value;
  const auto add_shape = [&](std::uint32_t which, const Dim& dim) {
    add(dim.bd);
    for (std::uint64_t k = 0; k < dim.nd; ++k) {
      if (k < 2 && ((k == 0 ? rule.ragged.rows : rule.ragged.cols) & which) != 0) continue;
      if (dim.d[k] != 1) add(k << 32 | dim.d[k]);  // {3} and {3, 1} are equal shapes
    }
  };
  add(node.operands.size());
  add_shape(Ragged::kValue, node.shape);
  const std::size_t listed = std::min(node.operands.size(), kMostOperands);
  for (std::size_t k = 0; k < listed; ++k) add_shape(Ragged::operand(k), *node.operands[k]);
  for (std::size_t w = 0; w < rule.attribute_bytes / 8; ++w) add(node.words[w]);
  // Mixes upper bits into lower bits: numbers such as doubles differ in upper bits only, and the
  // table is indexed by lower bits.
  h = (h ^ h >> 32) * kOdd;
  return h ^ h >> 32;
}

void NodeKindTable::note(Recent& recent, const Asked& node, std::size_t all_words) {
  const std::size_t arity = node.operands.size(), words = node.form.batch.value.attribute_bytes / 8;
  recent.kind = find(node);
  recent.form = arity <= Recent::kMostOperands ? &node.form : nullptr;
  recent.rule = node.form.shape;
  recent.arity = static_cast<std::uint32_t>(arity);
  recent.flags = node.flags;
  recent.shape = &node.shape;
  recent.complete = words == all_words;
  std::copy_n(node.operands.data(), recent.form ? arity : 0, recent.operands);
  std::copy_n(node.words, std::min(words, Recent::kMostWords), recent.words);
}

std::uint32_t NodeKindTable::find(const Asked& node) {
  if (2 * (all_.size() + 1) > table_.size()) grow();
  const std::uint64_t h = hash(node) & hash_mask_;
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = h & mask;
  for (; table_[slot] != kNone; slot = (slot + 1) & mask) {
    const Known& known = all_[table_[slot]];
    if (known.hash == h && is(known, node)) return table_[slot];
  }
  const auto number = static_cast<std::uint32_t>(all_.size());
  const std::size_t listed = std::min(node.operands.size(), kMostOperands),
                    words = node.form.batch.value.attribute_bytes / 8;
  const auto operands = static_cast<std::uint32_t>(operands_.size());
  std::copy_n(node.operands.data(), listed, operands_.append(listed));
  const auto attributes = static_cast<std::uint32_t>(words_.size());
  std::copy_n(node.words, words, words_.append(words));
  all_.push_back({.form = &node.form,
                  .rule = node.form.shape,
                  .batch = node.form.batch,
                  .shape = &node.shape,
                  .hash = h,
                  .arity = static_cast<std::uint32_t>(node.operands.size()),
                  .flags = node.flags,
                  .operands = operands,
                  .words = attributes});
  table_[slot] = number;
  return number;
}

bool NodeKindTable::is(const Known& known, const Asked& node) const {
  const BatchRule& rule = node.form.batch.value;
  if (known.form != &node.form || known.rule != node.form.shape.value ||
      !same_batches(known.batch, rule) || known.arity != node.operands.size() ||
      !same_planning(known.flags, node.flags) ||
      !rule.ragged.agree(Ragged::kValue, *known.shape, node.shape))
    return false;
  const std::size_t listed = std::min(node.operands.size(), kMostOperands);
  for (std::size_t k = 0; k < listed; ++k)
    if (!rule.ragged.agree(Ragged::operand(k), *operands_[known.operands + k], *node.operands[k]))
      return false;
  return std::equal(node.words, node.words + rule.attribute_bytes / 8, words_.data() + known.words);
}

void NodeKindTable::grow() {
  const std::size_t size = table_.empty() ? 64 : 4 * table_.size();
  table_.clear();
  table_.resize(size, kNone);
  for (std::uint32_t number = 0; number < all_.size(); ++number) {
    std::size_t slot = all_[number].hash & (size - 1);
    while (table_[slot] != kNone) slot = (slot + 1) & (size - 1);
    table_[slot] = number;
  }
}

void NodeKindTable::forget() {
  recent_.fill({});
  all_.clear();
  operands_.clear();
  words_.clear();
  table_.clear();
  ++generation_;
}

void NodeKindTable::release() {
  forget();
  all_ = {};
  operands_ = {};
  words_ = {};
  table_ = {};
}

}  // namespace dynet
