#include "dynet-like/plan/plan.h"

#include <algorithm>

#include "dynet-like/base/errors.h"

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

// The values of a batch: the first on a border, the others right behind it.
void place_values(const GraphStore& graph, const NodeId* ids, std::uint32_t count, Plan& plan) {
  const Node& first = graph.nodes[ids[0]];
  if (!has_memory(first)) {
    for (std::uint32_t k = 0; k < count; ++k) plan.value[ids[k] - plan.begin] = Plan::kNoMemory;
    return;
  }
  const std::uint64_t size = first.dim.size();
  if (size >= 16) plan.extent = (plan.extent + 15) / 16 * 16;
  for (std::uint32_t k = 0; k < count; ++k)
    plan.value[ids[k] - plan.begin] = plan.extent + k * size;
  if (size > kMostElements / count) throw_too_large();
  extend(plan, size * count);
}

void place_aux(const GraphStore& graph, const NodeId* ids, std::uint32_t count, Plan& plan) {
  const AuxRule rule = graph.nodes[ids[0]].form->aux;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::size_t size = rule == no_aux ? 0 : rule(graph, graph.nodes[ids[k]]);
    plan.aux[ids[k] - plan.begin] = size ? plan.extent : Plan::kNoMemory;
    if (size) extend(plan, size);
  }
}

template <class T>
void append(PodVector<T>& to, const PodVector<T>& from) {
  std::copy_n(from.data(), from.size(), to.append(from.size()));
}

}  // namespace

void Plan::reset(NodeId from, NodeId to) {
  begin = from;
  end = to;
  extent = 0;
  steps.clear();
  order.clear();
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
  p.extent = extent;
  return p;
}

std::size_t Plan::bytes() const {
  return steps.capacity() * sizeof(Step) + (order.capacity() + first_arg.capacity()) * 4 +
         (value.capacity() + aux.capacity()) * 8;
}

void Plan::place(const GraphStore& graph) {
  for (const Step& s : steps) {
    if (s.goes_on) continue;
    place_values(graph, order.data() + s.first, s.count, *this);
    place_aux(graph, order.data() + s.first, s.count, *this);
  }
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
