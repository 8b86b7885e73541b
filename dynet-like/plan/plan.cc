#include "dynet-like/plan/plan.h"

#include <algorithm>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/random.h"
#include "dynet-like/graph/op.h"

namespace dynet {
namespace {

// Elements are float or double; borders of 16 elements keep cache lines and vector loads whole.
// Small values are packed closer.
constexpr std::uint64_t aligned(std::uint64_t n) {
  const std::uint64_t border = n >= 16 ? 16 : 4;
  return (n + border - 1) / border * border;
}

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 58;

[[noreturn, gnu::cold]] void throw_too_large() {
  throw OutOfMemoryError("out of memory: the values of the graph do not fit the address space");
}

void extend(Plan& plan, std::uint64_t size) {
  plan.extent += aligned(size);
  if (plan.extent > kMostElements) throw_too_large();
}

bool has_memory(const Node& n) {
  switch (n.form->kind) {
    case Kind::parameter:
    case Kind::alias:
      return false;
    case Kind::lookup:
      return n.dim.bd != 1;  // one row is used in place
    default:
      return true;
  }
}

void place(const GraphStore& graph, NodeId id, Plan& plan) {
  const Node& n = graph.nodes[id];
  const std::size_t i = id - plan.begin;
  if (!has_memory(n)) {
    plan.value[i] = plan.aux[i] = Plan::kNoMemory;
    return;
  }
  const std::uint64_t size = n.dim.size();
  if (size >= 16) plan.extent = (plan.extent + 15) / 16 * 16;
  plan.value[i] = plan.extent;
  plan.aux[i] = Plan::kNoMemory;
  extend(plan, size);
}

// The values of a batch: the first on a border, the others right behind it.
template <class GetId>
void place_batch(const GraphStore& graph, std::uint32_t count, GetId id, Plan& plan) {
  place(graph, id(0), plan);
  if (count == 1) return;
  const std::uint64_t base = plan.value[id(0) - plan.begin];
  const bool none = base == Plan::kNoMemory;
  const std::uint64_t size = graph.nodes[id(0)].dim.size();
  for (std::uint32_t k = 1; k < count; ++k) {
    const std::size_t i = id(k) - plan.begin;
    plan.value[i] = none ? Plan::kNoMemory : base + k * size;
    plan.aux[i] = Plan::kNoMemory;
  }
  if (none) return;
  if (size > kMostElements / count) throw_too_large();
  plan.extent = base;
  extend(plan, size * count);
}

void place_aux(const GraphStore& graph, NodeId id, Plan& plan) {
  const Node& n = graph.nodes[id];
  if (n.form->aux.value == no_aux) return;
  if (const std::size_t size = n.form->aux.value(graph, n)) {
    plan.aux[id - plan.begin] = plan.extent;
    extend(plan, size);
  }
}

bool is_shared(const BatchRule& rule, std::size_t k) {
  return k < 32 && (rule.shared_operands >> k & 1);
}

std::uint64_t hash_signature(const GraphStore& graph, const Node& n) {
  std::uint64_t h = mix_bits(reinterpret_cast<std::uintptr_t>(n.form));
  const auto add = [&](std::uint64_t x) { h = mix_bits(h ^ x); };
  const BatchRule& rule = n.form->batch.value;
  add(n.arity);
  add(n.dim.size());
  for (std::size_t k = 0; k < n.arity; ++k)
    if (is_shared(rule, k)) add(graph.args[n.first_arg + k]);
  for (std::size_t w = 0; w < rule.signature_bytes / 8; ++w) add(graph.attrs[n.attr + w]);
  return h;
}

}  // namespace

void Plan::reset(NodeId from, NodeId to) {
  begin = from;
  end = to;
  extent = 0;
  steps.clear();
  order.clear();
  value.resize_uninitialized(to - from);
  aux.resize_uninitialized(to - from);
}

void plan_in_order(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
  plan.reset(begin, end);
  const std::uint32_t n = end - begin;
  Step* steps = plan.steps.append(n);
  NodeId* order = plan.order.append(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    steps[i] = {i, 1};
    order[i] = begin + i;
    place(graph, begin + i, plan);
    place_aux(graph, begin + i, plan);
  }
}

bool same_signature(const GraphStore& graph, const Node& a, const Node& b) {
  if (a.form != b.form || a.arity != b.arity || a.dim != b.dim) return false;
  const BatchRule& rule = a.form->batch.value;
  if (!rule.batches) return false;
  for (std::size_t k = 0; k < a.arity; ++k) {
    const NodeId x = graph.args[a.first_arg + k], y = graph.args[b.first_arg + k];
    if (is_shared(rule, k) ? x != y : graph.nodes[x].dim != graph.nodes[y].dim) return false;
  }
  return std::equal(graph.attrs.data() + a.attr,
                    graph.attrs.data() + a.attr + rule.signature_bytes / 8,
                    graph.attrs.data() + b.attr);
}

void plan_by_level(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
  plan.reset(begin, end);
  const std::uint32_t n = end - begin;
  struct Key {
    std::uint32_t level;
    std::uint64_t hash;
    NodeId id;
  };
  std::vector<std::uint32_t> level(n);
  std::vector<Key> keys(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Node& node = graph.nodes[begin + i];
    std::uint32_t l = 0;
    for (NodeId a : graph.args_of(node))
      if (a >= begin) l = std::max(l, level[a - begin] + 1);
    level[i] = l;
    keys[i] = {l, hash_signature(graph, node), begin + i};
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.level != b.level ? a.level < b.level
           : a.hash != b.hash ? a.hash < b.hash
                              : a.id < b.id;
  });
  for (std::uint32_t i = 0; i < n;) {
    const std::uint32_t first = i;
    // Equal hashes are only a guess; every member is compared in full with the first.
    do {
      plan.order.push_back(keys[i].id);
      ++i;
    } while (i < n && keys[i].level == keys[first].level && keys[i].hash == keys[first].hash &&
             same_signature(graph, graph.nodes[keys[first].id], graph.nodes[keys[i].id]));
    plan.steps.push_back({first, i - first});
    place_batch(
        graph, i - first, [&](std::uint32_t k) { return keys[first + k].id; }, plan);
    for (std::uint32_t k = first; k < i; ++k) place_aux(graph, keys[k].id, plan);
  }
}

}  // namespace dynet
