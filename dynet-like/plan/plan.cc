#include "dynet-like/plan/plan.h"

#include <algorithm>

#include "dynet-like/base/errors.h"
#include "dynet-like/plan/memory.h"

namespace dynet {
namespace {

void extend(Plan& plan, std::uint64_t size) {
  plan.extent += aligned(size, border(size));
  if (plan.extent > kMostElements) throw_too_large();
}

// The values of a batch: the first on a border, the others right behind it.
void place_values(const Node& first, const NodeId* ids, std::uint32_t count, Plan& plan) {
  std::uint64_t* const value = plan.value.data();
  if (!has_memory(first)) {
    for (std::uint32_t k = 0; k < count; ++k) value[ids[k] - plan.begin] = Plan::kNoMemory;
    return;
  }
  const std::uint64_t size = first.dim.size();
  if (size > kMostElements >> 32 && size > kMostElements / count) throw_too_large();
  std::uint64_t at = aligned(plan.extent, size >= 16 ? 16 : 4);
  plan.extent = at;
  for (std::uint32_t k = 0; k < count; ++k, at += size) value[ids[k] - plan.begin] = at;
  extend(plan, size * count);
}

void place_aux(const GraphStore& graph, const Node& first, const NodeId* ids, std::uint32_t count,
               Plan& plan) {
  std::uint64_t* const aux = plan.aux.data();
  const AuxRule rule = first.form->aux;
  if (rule == no_aux) {
    for (std::uint32_t k = 0; k < count; ++k) aux[ids[k] - plan.begin] = Plan::kNoMemory;
    return;
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::size_t size = rule(graph, graph.nodes[ids[k]]);
    aux[ids[k] - plan.begin] = size ? plan.extent : Plan::kNoMemory;
    if (size) extend(plan, size);
  }
}

template <class T>
void append(PodVector<T>& to, const PodVector<T>& from) {
  std::copy_n(from.data(), from.size(), to.append(from.size()));
}

}  // namespace

void throw_too_large() {
  throw OutOfMemoryError("out of memory: the values of the graph do not fit the address space");
}

void Plan::reset(NodeId from, NodeId to) {
  begin = from;
  end = to;
  extent = 0;
  steps.clear();
  order.clear();
  gone.clear();
  borders.clear();
  scratch.signatures.of.clear();
  value.resize_uninitialized(to - from);
  aux.resize_uninitialized(to - from);
  first_arg.resize_uninitialized(to - from);
}

Plan Plan::copy() const {
  Plan p;
  p.begin = begin;
  p.end = end;
  append(p.steps, steps);
  append(p.order, order);
  append(p.value, value);
  append(p.aux, aux);
  append(p.first_arg, first_arg);
  append(p.gone, gone);
  append(p.borders, borders);
  p.extent = extent;
  return p;
}

std::size_t Plan::bytes() const {
  return steps.capacity() * sizeof(Step) + (order.capacity() + first_arg.capacity()) * 4 +
         (value.capacity() + aux.capacity() + borders.capacity()) * 8 + gone.capacity();
}

void Plan::place(const GraphStore& graph, std::span<const bool> yields) {
  if (graph.places.size() == 1) return place_all(graph, yields, 0);
  for (std::uint32_t p = 0; p < graph.places.size(); ++p) {
    extent = aligned(extent, 16);
    borders.push_back(extent);
    place_all(graph, yields, p);
  }
}

void Plan::place_all(const GraphStore& graph, std::span<const bool> yields, std::uint32_t place) {
  for (const Step& s : steps) {
    if (s.goes_on) continue;
    const NodeId* ids = order.data() + s.first;
    const Node& node = graph.nodes[ids[0]];
    if (node.place() != place) continue;
    if (yields.empty() || node.form->reads != Reads::output_in_place ||
        !place_over(graph, s, yields))
      place_values(node, ids, s.count, *this);
    place_aux(graph, node, ids, s.count, *this);
  }
}

// The values of a batch over those of its operands, if each operand yields, and to one node only.
bool Plan::place_over(const GraphStore& graph, const Step& step, std::span<const bool> yields) {
  if (gone.empty()) gone.resize(end - begin, false);
  const NodeId* ids = order.data() + step.first;
  std::uint32_t taken = 0;
  const auto operand = [&](std::uint32_t k) { return graph.args[first_arg[ids[k] - begin]]; };
  for (; taken < step.count; ++taken) {
    const NodeId a = operand(taken);
    if (a < begin || !yields[scratch.signatures.of[a - begin]] || gone[a - begin]) break;
    gone[a - begin] = true;
  }
  if (taken < step.count) {
    while (taken-- > 0) gone[operand(taken) - begin] = false;
    return false;
  }
  for (std::uint32_t k = 0; k < step.count; ++k) value[ids[k] - begin] = value[operand(k) - begin];
  return true;
}

void plan_in_order(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
  plan.reset(begin, end);
  const std::uint32_t n = end - begin;
  Step* steps = plan.steps.append(n);
  NodeId* order = plan.order.append(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    steps[i] = {i, 1};
    order[i] = begin + i;
    plan.first_arg[i] = graph.nodes[begin + i].first_arg;
  }
  plan.place(graph);
}

}  // namespace dynet
