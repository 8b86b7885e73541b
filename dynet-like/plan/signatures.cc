#include "dynet-like/plan/signatures.h"

#include <algorithm>
#include <cstring>

namespace dynet {
namespace {

// All but the operands.
bool same_head(const GraphStore& graph, const Node& n, const Signature& s) {
  if (n.form != s.form || n.arity != s.arity || !same_planning(n.flags, s.flags)) return false;
  if (!same_shape(n.dim, s.dim()) && !s.ragged.agree(Ragged::kValue, n.dim, s.dim())) return false;
  for (std::uint32_t w = 0; w < s.words; ++w)
    if (graph.attrs[n.attr + w] != graph.attrs[s.attr + w]) return false;
  return true;
}

bool same_operands(const GraphStore& graph, const Node& a, const Node& b) {
  const BatchRule& rule = a.form->batch.value;
  const NodeId *x = graph.args.data() + a.first_arg, *y = graph.args.data() + b.first_arg;
  for (std::size_t k = 0; k < a.arity; ++k)
    if (x[k] != y[k] &&
        ((rule.shares(k) && !a.has_own_matrix()) ||
         !rule.ragged.agree(Ragged::operand(k), graph.nodes[x[k]].dim, graph.nodes[y[k]].dim)))
      return false;
  return true;
}

std::uint64_t hash_of(const GraphStore& graph, const Node& n, bool names_shared) {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(n.form) + n.device_index();
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  const auto add = [&](std::uint64_t x) { h = (h ^ x) * kOdd; };
  const BatchRule& rule = n.form->batch.value;
  const auto add_shape = [&](std::uint32_t which, const Dim& dim) {
    add(dim.bd);
    for (std::uint64_t k = 0; k < dim.nd; ++k) {
      if (k < 2 && ((k == 0 ? rule.ragged.rows : rule.ragged.cols) & which) != 0) continue;
      if (dim.d[k] != 1) add(k << 32 | dim.d[k]);  // {3} and {3, 1} are one shape
    }
  };
  add(n.arity);
  add_shape(Ragged::kValue, n.dim);
  for (std::size_t k = 0; k < n.arity; ++k) {
    const NodeId a = graph.args[n.first_arg + k];
    if (names_shared && rule.shares(k) && !n.has_own_matrix())
      add(a);
    else
      add_shape(Ragged::operand(k), graph.nodes[a].dim);
  }
  for (std::size_t w = 0; w < rule.signature_bytes / 8; ++w) add(graph.attrs[n.attr + w]);
  // Numbers such as doubles differ in their upper bits only, and a table looks at the lower ones.
  h = (h ^ h >> 32) * kOdd;
  return h ^ h >> 32;
}

}  // namespace

std::uint64_t signature_hash(const GraphStore& graph, const Node& n) {
  return hash_of(graph, n, true);
}

std::uint64_t shape_hash(const GraphStore& graph, const Node& n) {
  return hash_of(graph, n, false);
}

bool alike(const GraphStore& graph, const Node& a, const Node& b) {
  if (a.form != b.form || a.arity != b.arity || !same_planning(a.flags, b.flags) ||
      !a.form->batch.value.ragged.agree(Ragged::kValue, a.dim, b.dim))
    return false;
  const std::uint64_t* attr = graph.attrs.data() + a.attr;
  return std::equal(attr, attr + a.form->batch.value.signature_bytes / 8,
                    graph.attrs.data() + b.attr) &&
         same_operands(graph, a, b);
}

void Signatures::number(const GraphStore& graph, NodeId begin, NodeId end,
                        std::uint32_t* first_arg) {
  for (const Signature& s : all) table_[s.slot] = kNone;  // of the last time
  if (table_.empty()) table_.resize(64, kNone);
  all.clear();
  edges.clear();
  operands_.clear();
  recent_.fill(~std::uint64_t{0});
  ragged_values_ = false;
  of.resize_uninitialized(end - begin);
  std::uint32_t last = kNone;
  for (NodeId id = begin; id < end; ++id) {
    const Node& n = graph.nodes[id];
    first_arg[id - begin] = n.first_arg;
    std::uint32_t sig = kNone;
    Seen seen = Seen::nothing;
    if (last != kNone)
      for (const std::uint32_t guess : all[last].next) {
        if (guess == kNone || !same_head(graph, n, all[guess])) continue;
        seen = compare_operands(graph, begin, n, all[guess]);
        sig = guess;
        if (seen != Seen::nothing) break;
      }
    if (seen == Seen::nothing) {
      sig = find(graph, begin, n, id);
      if (last != kNone) all[last].next[all[last].next[0] != kNone] = sig;
    }
    if (seen != Seen::signatures) record(graph, begin, n, sig);
    of[id - begin] = sig;
    ++all[sig].count;
    last = sig;
  }
}

// How the operands of `n` agree with those that a node of signature `s` had the last time.
Signatures::Seen Signatures::compare_operands(const GraphStore& graph, NodeId begin, const Node& n,
                                              const Signature& s) const {
  const NodeId* args = graph.args.data() + n.first_arg;
  const std::uint32_t* last = operands_.data() + s.operands;
  Seen result = Seen::signatures;
  const auto has_one_shape = [&](std::uint32_t sig) {
    return sig != kNone && !(ragged_values_ && all[sig].ragged.in_value());
  };
  const auto differs = [&](std::uint32_t k) {
    const std::uint32_t sig = args[k] < begin ? kNone : of[args[k] - begin];
    if (sig == last[k] && has_one_shape(sig)) return false;
    if (sig != last[k] || sig == kNone) result = Seen::shapes;
    if (has_one_shape(sig) && has_one_shape(last[k]) && !s.ragged.any())
      return !same_shape(all[sig].dim(), all[last[k]].dim());
    const NodeId first = graph.args[graph.nodes[s.first].first_arg + k];
    const Dim &now = graph.nodes[args[k]].dim, &then = graph.nodes[first].dim;
    return args[k] != first && !same_shape(now, then) &&
           !s.ragged.agree(Ragged::operand(k), now, then);
  };
  std::uint32_t k = 0;
  if (s.shares_operands()) {
    for (; k < s.first_pair && k < n.arity; ++k)
      if (args[k] != last[k]) return Seen::nothing;
    for (; k < n.arity; k += 2)
      if (args[k] != last[k] || (k + 1 < n.arity && differs(k + 1))) return Seen::nothing;
    return result;
  }
  for (; k < n.arity; ++k)
    if (differs(k)) return Seen::nothing;
  return result;
}

std::uint32_t Signatures::find(const GraphStore& graph, NodeId begin, const Node& n, NodeId id) {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = signature_hash(graph, n) & mask;
  for (; table_[slot] != kNone; slot = (slot + 1) & mask) {
    const Signature& s = all[table_[slot]];
    if (same_head(graph, n, s) && compare_operands(graph, begin, n, s) != Seen::nothing)
      return table_[slot];
  }
  const auto sig = static_cast<std::uint32_t>(all.size());
  const BatchRule& rule = n.form->batch.value;
  const auto operands = static_cast<std::uint32_t>(operands_.size());
  std::fill_n(operands_.append(n.arity), n.arity, kNone);
  all.push_back({.form = n.form,
                 .shape = &n.dim,
                 .first = id,
                 .count = 0,
                 .arity = n.arity,
                 .edge = kNone,
                 .first_pair = static_cast<std::uint32_t>(rule.first_pair),
                 .words = static_cast<std::uint32_t>(rule.signature_bytes / 8),
                 .attr = n.attr,
                 .operands = operands,
                 .next = {kNone, kNone},
                 .slot = static_cast<std::uint32_t>(slot),
                 .flags = n.flags,
                 .ragged = rule.ragged});
  ragged_values_ |= rule.ragged.in_value();
  table_[slot] = sig;
  if (all.size() * 2 > table_.size()) grow_table(graph);
  return sig;
}

// The operands of a node, as those seen last; edges for what is new.
void Signatures::record(const GraphStore& graph, NodeId begin, const Node& n, std::uint32_t sig) {
  const BatchRule& rule = n.form->batch.value;
  const NodeId* args = graph.args.data() + n.first_arg;
  std::uint32_t* seen = operands_.data() + all[sig].operands;
  for (std::uint32_t k = 0; k < n.arity; ++k) {
    const std::uint32_t kind = args[k] < begin ? kNone : of[args[k] - begin];
    const std::uint32_t now = rule.shares(k) && !n.has_own_matrix() ? args[k] : kind;
    if (kind != kNone && seen[k] != now) add_edge(kind, sig);
    seen[k] = now;
  }
}

void Signatures::add_edge(std::uint32_t from, std::uint32_t to) {
  const std::uint64_t edge = std::uint64_t{from} << 32 | to;
  std::uint64_t& recent = recent_[(from * 7 + to) % recent_.size()];
  if (recent == edge) return;
  recent = edge;
  edges.push_back({from, all[to].edge});
  all[to].edge = static_cast<std::uint32_t>(edges.size() - 1);
}

void Signatures::grow_table(const GraphStore& graph) {
  const std::size_t size = table_.size() * 4;
  table_.clear();
  table_.resize(size, kNone);
  for (std::uint32_t sig = 0; sig < all.size(); ++sig) {
    std::size_t slot = signature_hash(graph, graph.nodes[all[sig].first]) & (size - 1);
    while (table_[slot] != kNone) slot = (slot + 1) & (size - 1);
    table_[slot] = sig;
    all[sig].slot = static_cast<std::uint32_t>(slot);
  }
}

}  // namespace dynet
