#pragma once

#include <algorithm>
#include <vector>

#include "dynet-like/base/random.h"
#include "tests/plan/hand_made.h"

namespace hand_made {

/// A graph of n nodes (0: 5 to 64) of all kinds of forms; operands are at most `reach` nodes back.
inline Graph random_graph(std::uint64_t seed, NodeId n = 0, NodeId reach = 1000) {
  static const OpForm kForms[] = {
      form("in"),
      form("other"),
      form("never", Kind::compute, BatchRule::never("a test")),
      form("shared", Kind::compute, BatchRule::products(0)),
      form("kept", Kind::compute, BatchRule::each(8), three),
      form("view", Kind::alias),
      form("parameter", Kind::parameter),
      form("sum", Kind::compute, BatchRule::products(1)),
      form("cell", Kind::compute, BatchRule::products(3, 8), three),
      form("long", Kind::compute,
           BatchRule::sequences({.rows = Ragged::operand(0) | Ragged::kValue, .cols = 0}, 8)),
      form("wide", Kind::compute, BatchRule::sequences({.rows = 0, .cols = Ragged::operand(1)}, 8),
           three),
  };
  const RandomStream random(seed);
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t bound) { return random.bits(draws++) % bound; };
  Graph g;
  if (n == 0) n = static_cast<NodeId>(5 + below(60));
  const Dim dims[] = {{3}, {17}, {4, 4}, Dim({3}, 2), {1}, {0}, {3, 2}};
  for (NodeId id = 0; id < n; ++id) {
    const std::size_t which = id == 0 ? 0 : below(std::size(kForms));
    const std::size_t arities[] = {0, 1 + below(2), 1 + below(2), 2, 1 + below(2), 1, 0, 5, 7, 1,
                                   2};
    std::vector<NodeId> operands;
    for (std::size_t k = 0; k < arities[which]; ++k)
      operands.push_back(static_cast<NodeId>(id - 1 - below(std::min(id, reach))));
    const Dim dim =
        kForms[which].kind == Kind::alias ? g.nodes[operands[0]].dim : dims[below(std::size(dims))];
    g.add(kForms[which], dim, operands, {static_cast<double>(below(2)), 1.0 * id});
    if (seed % 2 == 0 && kForms[which].batch.value.first_pair == 0 &&
        g.nodes[operands[0]].form->kind != Kind::parameter)  // as on a device
      g.set_flags(id, Node::kOwnMatrix);
  }
  return g;
}

/// A random graph with each node on one of two devices.
inline Graph random_graph_on_two_devices(std::uint64_t seed) {
  Graph g = random_graph(seed);
  g.devices.push_back(g.devices[0]);
  const RandomStream random(~seed);
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    g.set_flags(id, static_cast<std::uint32_t>(random.bits(id) % 2) << Node::kFirstDeviceBit);
  return g;
}

}  // namespace hand_made
