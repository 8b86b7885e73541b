#include "dynet-like/plan/windows.h"

#include "dynet-like/plan/memory.h"

namespace dynet {

Windows::Windows(const GraphStore& graph, NodeId begin, NodeId end) : graph_(graph), end_(end) {
  large_ = end - begin >= kLargeNodes;
  std::size_t sum = 0;
  for (NodeId id = begin; id < end && !large_; ++id) {
    if (has_memory(graph.nodes[id])) sum += graph.nodes[id].dim.size();
    large_ = sum >= kLarge;
  }
}

NodeId Windows::end_of(NodeId begin) const {
  if (!large_) return end_;
  const std::size_t elements = kWindow * times_, nodes = kWindowNodes * times_;
  std::size_t sum = 0;
  NodeId cut = end_;
  for (NodeId id = begin; id < end_; ++id) {
    if (has_memory(graph_.nodes[id])) sum += graph_.nodes[id].dim.size();
    const std::size_t count = id + 1 - begin;
    if ((sum > elements || count >= nodes) && cut == end_) cut = id + 1;
    if (sum > elements + elements / 2 || count > nodes + nodes / 2) return cut;
  }
  return end_;  // little is left behind the cut
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
  if (refused_ > 0 && width < 1.25 * refused_) {  // nor would still larger ones be wider
    size_counts_ = false;
    times_ /= 2;
    return true;
  }
  refused_ = width;
  times_ *= 2;
  return false;
}

}  // namespace dynet
