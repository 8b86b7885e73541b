#include "dynet-like/plan/plan.h"

#include <algorithm>

#include "dynet-like/base/errors.h"
#include "dynet-like/plan/memory.h"
#include "dynet-like/plan/plan_maker.h"

namespace dynet {
namespace {

void extend(Plan& plan, std::uint64_t size) {
  plan.extent += aligned(size, alignment(size));
  if (plan.extent > kMostElements) throw_too_large();
}

// Lays out the values of a batch: adjacent, the first one aligned; ragged values are each aligned.
void lay_out_values(const GraphStore& graph, const Layout& layout, const NodeId* ids,
                    std::uint32_t count, Plan& plan) {
  std::uint64_t* const value = plan.value.data();
  if (!layout.memory) {
    for (std::uint32_t k = 0; k < count; ++k) value[ids[k] - plan.begin] = Plan::kNoMemory;
    return;
  }
  if (layout.ragged) {
    for (std::uint32_t k = 0; k < count; ++k) {
      const Dim& dim = graph.nodes[ids[k]].dim;
      const std::uint64_t size = dim.size(), room = layout.room ? layout.room(dim) : 0;
      value[ids[k] - plan.begin] = plan.extent = aligned(plan.extent + room, alignment(size));
      extend(plan, size);
    }
    return;
  }
  const std::uint64_t size = layout.size;
  if (size > kMostElements >> 32 && size > kMostElements / count) throw_too_large();
  std::uint64_t at = aligned(plan.extent, alignment(size));
  plan.extent = at;
  for (std::uint32_t k = 0; k < count; ++k, at += size) value[ids[k] - plan.begin] = at;
  extend(plan, size * count);
}

void lay_out_aux(const GraphStore& graph, const Layout& layout, const NodeId* ids,
                 std::uint32_t count, Plan& plan) {
  if (!layout.aux) return;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Node& n = graph.nodes[ids[k]];
    const std::size_t size = layout.aux(graph, n);
    if (size == 0 && !n.form->second_result) continue;  // a result has an address even if empty
    plan.aux[ids[k] - plan.begin] = plan.extent;
    extend(plan, size);
  }
}

}  // namespace

void throw_too_large() {
  throw OutOfMemoryError("out of memory: the values of the graph do not fit the address space");
}

void Plan::reset(NodeId from, NodeId to) {
  begin = from;
  end = to;
  extent = 0;
  number = 0;
  steps.clear();
  order.clear();
  freed.clear();
  block_offsets.clear();
  outside.clear();
  value.resize_uninitialized(to - from);
  aux.clear();
  aux.resize(to - from, kNoMemory);
  first_arg.resize_uninitialized(to - from);
}

void Plan::move_to(NodeId from, std::uint32_t first_list) {
  const NodeId nodes = from - begin;
  const std::uint32_t lists = first_list - first_arg[0];
  for (NodeId& id : order) id += nodes;
  for (std::uint32_t& first : first_arg) first += lists;
  begin += nodes;
  end += nodes;
}

std::size_t Plan::bytes() const {
  return steps.capacity() * sizeof(Step) + (order.capacity() + first_arg.capacity()) * 4 +
         (value.capacity() + aux.capacity() + block_offsets.capacity()) * 8 + freed.capacity() +
         outside.capacity() * 4;
}

void Plan::lay_out(const GraphStore& graph, std::span<const Layout> layouts,
                   const std::uint32_t* keys) {
  const Layouts all{layouts, keys};
  if (graph.devices.size() == 1) return lay_out_device(graph, all, 0);
  for (std::uint32_t p = 0; p < graph.devices.size(); ++p) {
    extent = aligned(extent, 16);
    block_offsets.push_back(extent);
    lay_out_device(graph, all, p);
  }
}

void Plan::lay_out_device(const GraphStore& graph, const Layouts& layouts, std::uint32_t device) {
  const auto lay_out_step = [&](const Layout& layout, const Step& s, const NodeId* ids) {
    if (layout.device != device) return;
    if (!layout.in_place || !lay_out_in_place(graph, s, layouts))
      lay_out_values(graph, layout, ids, s.count, *this);
    const auto before = graph.nodes[ids[0]].form->scratch_before_operand;
    if (!before || !take_operands(graph, s, layouts, true))
      return lay_out_aux(graph, layout, ids, s.count, *this);
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const NodeId a = graph.args[first_arg[ids[k] - begin]];
      aux[ids[k] - begin] = value[a - begin] - before(graph.nodes[a].dim);
    }
  };
  for (const Step& s : steps) {
    if (s.accumulates) continue;
    const NodeId* ids = order.data() + s.first;
    if (layouts.keys)
      lay_out_step(layouts.all[layouts.keys[ids[0] - begin]], s, ids);
    else
      lay_out_step(Layout(graph.nodes[ids[0]]), s, ids);
  }
}

// Lays out the values of a batch over their operands if possible.
bool Plan::lay_out_in_place(const GraphStore& graph, const Step& step, const Layouts& layouts) {
  if (!take_operands(graph, step, layouts, false)) return false;
  const NodeId* ids = order.data() + step.first;
  for (std::uint32_t k = 0; k < step.count; ++k)
    value[ids[k] - begin] = value[graph.args[first_arg[ids[k] - begin]] - begin];
  return true;
}

// Marks the first operands of a batch as overwritten, if each donates its memory, with room for
// scratch before it if wanted, and no other node has overwritten it.
bool Plan::take_operands(const GraphStore& graph, const Step& step, const Layouts& layouts,
                         bool with_room) {
  if (!layouts.keys) return false;
  if (freed.empty()) freed.resize(end - begin, false);
  const NodeId* ids = order.data() + step.first;
  std::uint32_t taken = 0;
  const auto operand = [&](std::uint32_t k) { return graph.args[first_arg[ids[k] - begin]]; };
  const auto donates = [&](NodeId a) {
    const Layout& layout = layouts.all[layouts.keys[a - begin]];
    return layout.donates && (layout.room || !with_room);
  };
  for (; taken < step.count; ++taken) {
    const NodeId a = operand(taken);
    if (a < begin || freed[a - begin] || !donates(a)) break;
    freed[a - begin] = true;
  }
  if (taken == step.count) return true;
  while (taken-- > 0) freed[operand(taken) - begin] = false;
  return false;
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
  plan.lay_out(graph);
}

}  // namespace dynet
