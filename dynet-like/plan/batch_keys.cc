#include "dynet-like/plan/batch_keys.h"

#include <bit>

#include "dynet-like/graph/node_kind_table.h"

namespace dynet {
namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;

// Whether nodes of one kind may have different keys: because products share operands, or because
// the kind does not cover all operands.
bool compares(const Node& n) {
  return (n.form->batch.value.has_products() && !n.has_own_matrix()) ||
         n.arity > NodeKindTable::kMostOperands;
}

// Whether the operands beyond NodeKindTable::kMostOperands agree in shape.
bool same_shapes(const GraphStore& graph, const Ragged& ragged, std::span<const NodeId> x,
                 const NodeId* y) {
  for (std::size_t k = NodeKindTable::kMostOperands; k < x.size(); ++k)
    if (x[k] != y[k] &&
        !ragged.agree(Ragged::operand(k), graph.nodes[x[k]].dim, graph.nodes[y[k]].dim))
      return false;
  return true;
}

// Whether a node of the key's kind has the shared operands of the key and, for long operand lists,
// equal shapes.
bool same_operands(const GraphStore& graph, const Node& n, const BatchKey& s) {
  const NodeId *x = graph.args.data() + n.first_arg, *y = graph.args.data() + s.args;
  bool same = s.bias == kNoIndex || x[s.bias] == y[s.bias];
  for (std::uint32_t k = s.first_matrix; k < s.arity; k += 2) same &= x[k] == y[k];
  return same && (s.arity <= NodeKindTable::kMostOperands ||
                  same_shapes(graph, n.form->batch.value.ragged, {x, s.arity}, y));
}

// Hash of the kind and of the operands that `same_operands` compares.
std::uint64_t hash_of(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  const BatchRule& rule = n.form->batch.value;
  std::uint64_t h = graph.kinds[id] + 1;
  const NodeId* args = graph.args.data() + n.first_arg;
  for (std::size_t k = 0; k < n.arity; ++k) {
    if (rule.shares(k) && !n.has_own_matrix())
      h = (h ^ args[k]) * kOdd;
    else if (k >= NodeKindTable::kMostOperands && !rule.ragged.any())
      h = (h ^ graph.nodes[args[k]].dim.size()) * kOdd;
  }
  h *= kOdd;
  return h ^ h >> 32;
}

}  // namespace

void BatchKeys::assign(const GraphStore& graph, NodeId begin, NodeId end,
                       std::uint32_t* first_arg) {
  for (const BatchKey& s : all) {  // keys of the last call
    latest_[s.kind] = kNoIndex;
    if (s.compares) table_[s.slot] = kNoIndex;
  }
  if (latest_.size() < graph.kind_table->size()) latest_.resize(graph.kind_table->size(), kNoIndex);
  all.clear();
  edges.clear();
  recent_.fill(~std::uint64_t{0});
  guesses_.fill(kNoIndex);
  comparing_ = 0;
  of.resize_uninitialized(end - begin);
  const std::uint32_t* const kinds = graph.kinds.data() + begin;
  std::uint32_t* const keys = of.data();
  for (NodeId i = 0; i < end - begin; ++i) {
    const Node& n = graph.nodes[begin + i];
    first_arg[i] = n.first_arg;
    std::uint32_t key = latest_[kinds[i]];
    if (key == kNoIndex || all[key].compares) {
      // Products of one kind often alternate between matrices: the first operand that a batch
      // shares selects a guess.
      const std::uint32_t shared = key == kNoIndex || all[key].bias == kNoIndex ? 0 : all[key].bias;
      const std::size_t chosen = n.arity ? graph.args[n.first_arg + shared] % guesses_.size() : 0;
      std::uint32_t& guess = guesses_[chosen];
      key = guess;
      if (key == kNoIndex || all[key].kind != kinds[i] || !same_operands(graph, n, all[key]))
        guess = latest_[kinds[i]] = key = find(graph, begin + i);
    }
    keys[i] = key;
    std::uint64_t operands = 0;
    for (const NodeId a : graph.args_of(n)) {
      if (a < begin) continue;
      const std::uint32_t from = keys[a - begin];
      if (from < kMasked)
        operands |= std::uint64_t{1} << from;
      else
        add_edge(from, key);
    }
    BatchKey& s = all[key];
    s.operands |= operands;
    ++s.count;
  }
  for (std::uint32_t key = 0; key < all.size(); ++key)
    for (std::uint64_t left = all[key].operands; left != 0; left &= left - 1)
      link(static_cast<std::uint32_t>(std::countr_zero(left)), key);
}

void BatchKeys::add_edge(std::uint32_t from, std::uint32_t to) {
  const std::uint64_t edge = std::uint64_t{from} << 32 | to;
  std::uint64_t& recent = recent_[(from * 7 + to) % recent_.size()];
  if (recent == edge) return;
  recent = edge;
  link(from, to);
}

void BatchKeys::link(std::uint32_t from, std::uint32_t to) {
  edges.push_back({from, all[to].edge});
  all[to].edge = static_cast<std::uint32_t>(edges.size() - 1);
}

std::uint32_t BatchKeys::find(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  if (!compares(n)) return add(graph, id);
  if (2 * (comparing_ + 1) > table_.size()) grow_table(graph);
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_of(graph, id) & mask;
  for (; table_[slot] != kNoIndex; slot = (slot + 1) & mask) {
    const BatchKey& s = all[table_[slot]];
    if (s.kind == graph.kinds[id] && same_operands(graph, n, s)) return table_[slot];
  }
  const std::uint32_t key = add(graph, id);
  all[key].compares = true;
  all[key].slot = static_cast<std::uint32_t>(slot);
  table_[slot] = key;
  ++comparing_;
  return key;
}

std::uint32_t BatchKeys::add(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  const BatchRule& rule = n.form->batch.value;
  const bool shares = rule.has_products() && !n.has_own_matrix();
  const auto first_pair = static_cast<std::uint32_t>(rule.first_pair);
  all.push_back({.form = n.form,
                 .first = id,
                 .kind = graph.kinds[id],
                 .count = 0,
                 .arity = n.arity,
                 .args = n.first_arg,
                 .bias = shares ? first_pair - 1 : kNoIndex,  // kNoIndex if there is no bias
                 .first_matrix = shares ? first_pair : n.arity,
                 .edge = kNoIndex,
                 .first_pair = first_pair,
                 .flags = n.flags,
                 .operands = 0,
                 .compares = false,
                 .slot = kNoIndex});
  return static_cast<std::uint32_t>(all.size() - 1);
}

void BatchKeys::grow_table(const GraphStore& graph) {
  const std::size_t size = table_.empty() ? 64 : 4 * table_.size();
  table_.clear();
  table_.resize(size, kNoIndex);
  for (std::uint32_t key = 0; key < all.size(); ++key) {
    if (!all[key].compares) continue;
    std::size_t slot = hash_of(graph, all[key].first) & (size - 1);
    while (table_[slot] != kNoIndex) slot = (slot + 1) & (size - 1);
    table_[slot] = key;
    all[key].slot = static_cast<std::uint32_t>(slot);
  }
}

}  // namespace dynet
