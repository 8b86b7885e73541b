#include "dynet-like/plan/windows.h"

#include <algorithm>

#include "dynet-like/plan/memory.h"

namespace dynet {
namespace {

// Elements of the value of a node, and of the sum that it computes first.
std::size_t elements_of(const GraphStore& graph, const Node& n) {
  return n.dim.size() + (n.form->sums ? n.form->sums(graph, n) : 0);
}

}  // namespace

Windows::Windows(const GraphStore& graph, NodeId begin, NodeId end, const WindowSizes& sizes)
    : graph_(graph), end_(end), sizes_(sizes) {
  large_ = end - begin >= sizes.large_nodes;
  if (large_) return;
  std::size_t most = 0;  // upper bound of `sum`, without has_memory
  for (NodeId id = begin; id < end && most < sizes.large; ++id)
    most += elements_of(graph, graph.nodes[id]);
  if (most < sizes.large) return;
  std::size_t sum = 0;
  for (NodeId id = begin; id < end && !large_; ++id) {
    if (has_memory(graph.nodes[id])) sum += elements_of(graph, graph.nodes[id]);
    large_ = sum >= sizes.large;
  }
}

NodeId Windows::end_of(NodeId begin) {
  if (!large_) return end_;
  const std::size_t elements = sizes_.elements * times_, nodes = sizes_.nodes * times_;
  std::size_t sum = 0;
  NodeId first = end_, last = end_;
  for (NodeId id = begin; id < end_; ++id) {
    if (has_memory(graph_.nodes[id])) sum += elements_of(graph_, graph_.nodes[id]);
    const std::size_t count = id + 1 - begin;
    if ((sum > elements || count >= nodes) && first == end_) first = id + 1;
    if (sum > elements + elements / 4 || count > nodes + nodes / 4) last = std::min(last, id);
    if (sum > elements + elements / 2 || count > nodes + nodes / 2)
      return best_cut(begin, first, std::max(first, last), id + 1);
  }
  return end_;  // the rest fits one window
}

// The first of the cuts in [first, last] that the fewest values cross. Uses by nodes from `seen` on
// do not count.
NodeId Windows::best_cut(NodeId begin, NodeId first, NodeId last, NodeId seen) {
  reach_.clear();
  reach_.resize(last - first + std::size_t{2}, 0);
  used_.clear();
  used_.resize(seen - begin, false);
  for (NodeId id = seen; id-- > first;)  // backward: the first use found is the last use
    for (const NodeId a : graph_.args_of(graph_.nodes[id])) {
      if (a < begin || used_[a - begin]) continue;
      used_[a - begin] = true;
      const NodeId from = std::max(a + 1, first), to = std::min(id, last);
      if (from > to) continue;
      ++reach_[from - first];
      --reach_[to + 1 - first];
    }
  std::int32_t across = reach_[0], fewest = across;
  NodeId best = first;
  for (NodeId cut = first + 1; cut <= last; ++cut) {
    across += reach_[cut - first];
    if (across >= fewest) continue;
    fewest = across;
    best = cut;
  }
  return best;
}

bool Windows::accept(const Plan& plan) {
  if (plan.end == end_ || !size_counts_) return true;
  std::size_t columns = 0, batches = 0;
  for (const Step& s : plan.steps) {
    const Node& n = graph_.nodes[plan.order[s.first]];
    if (n.form->kind != Kind::compute || s.accumulates) continue;
    ++batches;
    columns += std::size_t{s.count} * n.dim.bd;
  }
  if (columns >= kColumns * batches) return true;
  const double width = static_cast<double>(columns) / static_cast<double>(batches);
  if (refused_ > 0 && width < 1.25 * refused_) {  // larger windows would not be wider either
    size_counts_ = false;
    times_ /= 2;
    return true;
  }
  refused_ = width;
  times_ *= 2;
  return false;
}

}  // namespace dynet
