#include "benchmarks/training/least_batches.h"

#include <algorithm>

#include "dynet-like/plan/batcher.h"

namespace bench {
namespace {

using namespace dynet;

// Maximum number of nodes with one batch key on a path through the nodes of their component, which
// are in topological order. `chain` is indexed by node.
std::uint32_t longest_chain(const GraphStore& graph, const PlanScratch& s, NodeId begin,
                            std::uint32_t key, std::uint32_t first_rank,
                            std::span<const NodeId> nodes, PodVector<std::uint32_t>& chain) {
  std::uint32_t longest = 0;
  for (const NodeId id : nodes) {
    std::uint32_t length = 0;
    for (const NodeId a : graph.args_of(graph.nodes[id]))
      if (a >= begin && s.rank[a - begin] >= first_rank)
        length = std::max(length, chain[a - begin]);
    length += s.keys.of[id - begin] == key;
    chain[id - begin] = length;
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace

std::size_t least_batches(const GraphStore& graph, NodeId begin, NodeId end) {
  if (begin >= end) return 0;
  Plan plan;
  plan.reset(begin, end);
  PlanScratch s;
  Batcher batcher(graph, s, plan);
  batcher.find_ranks();
  batcher.sort();
  PodVector<std::uint32_t> chain;
  chain.resize_uninitialized(end - begin);
  std::size_t sum = 0, at = 0;
  for (const PlanScratch::Component& c : s.components) {
    const std::span nodes(plan.order.data() + at, c.nodes);
    at += c.nodes;
    for (std::uint32_t m = c.first; m < c.end; ++m) {
      const std::uint32_t number = s.by_component[m];
      const BatchKey& key = s.keys.all[number];
      if (key.form->kind != Kind::compute) continue;
      if (!key.form->batch.value.batches)
        sum += key.count;
      else
        sum += c.loops ? longest_chain(graph, s, begin, number, c.first_rank, nodes, chain) : 1;
    }
  }
  return sum;
}

}  // namespace bench
