#pragma once

#include <memory>
#include <vector>

#include "dynet-like/graph/node.h"
#include "dynet-like/graph/node_kind_table.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/shape_table.h"
#include "dynet-like/plan/plan_maker.h"

/// Hand-made graphs, without expressions or an executor, for planning.
namespace hand_made {

using namespace dynet;

struct Attr {
  double key = 0;  // must be equal in a batch
  double own = 0;  // may differ
};

/// One plan maker for each policy.
inline PlanMaker& maker_of(PlanPolicy policy) {
  static PlanMaker all[] = {PlanMaker(PlanPolicy::in_order), PlanMaker(PlanPolicy::in_batches)};
  return all[static_cast<unsigned>(policy)];
}

inline NodeId size(const GraphStore& g) { return static_cast<NodeId>(g.nodes.size()); }

/// A new plan of the nodes [begin, end).
inline Plan plan_of(const GraphStore& g, NodeId begin, NodeId end,
                    PlanPolicy policy = PlanPolicy::in_batches) {
  Plan plan;
  PlanMaker(policy).make(g, begin, end, plan);
  return plan;
}

inline Dim no_shape(const Operands&) { return {}; }
inline std::size_t three(const GraphStore&, const Node&) { return 3; }

inline OpForm form(const char* name, Kind kind = Kind::compute,
                   BatchRule batch = BatchRule::each(sizeof(double)), AuxRule aux = no_aux) {
  return {.name = name,
          .kind = kind,
          .shape = no_shape,
          .batch = batch,
          .reads = Reads::nothing,
          .aux = aux,
          .forward = Forward{nullptr, nullptr},
          .backward = Backward{nullptr, nullptr},
          .cuda = CudaRule::never("a test")};
}

/// Whether two nodes have one batch key, by comparison of all parts.
inline bool alike(const GraphStore& g, const Node& a, const Node& b) {
  const BatchRule& rule = a.form->batch;
  if (a.form != b.form || a.arity != b.arity || !same_planning(a.flags, b.flags) ||
      !rule.ragged.agree(Ragged::kValue, a.dim, b.dim) ||
      std::memcmp(g.attrs.data() + a.attr, g.attrs.data() + b.attr, rule.attribute_bytes) != 0)
    return false;
  for (std::size_t k = 0; k < a.arity; ++k) {
    const NodeId x = g.args_of(a)[k], y = g.args_of(b)[k];
    if (rule.shares(k) && !a.has_own_matrix() && x != y) return false;
    if (!rule.ragged.agree(Ragged::operand(k), g.nodes[x].dim, g.nodes[y].dim)) return false;
  }
  return true;
}
/// Whether two nodes may be in one batch if both are ready.
inline bool same_key(const GraphStore& g, const Node& a, const Node& b) {
  return a.form->batch.value.batches && alike(g, a, b);
}

/// Tables shared by all graphs.
struct Tables {
  ShapeTable shapes;
  NodeKindTable kinds;
};
inline Tables& tables() {
  static Tables all;
  return all;
}

struct Graph : GraphStore {
  NodeKindTable* table;
  explicit Graph(NodeKindTable& of = tables().kinds) : table(&of) { kind_table = table; }
  NodeId add(const OpForm& f, const Dim& dim, const std::vector<NodeId>& operands = {},
             Attr attr = {}) {
    new (nodes.append(1)) Node{&f,
                               *tables().shapes.find(dim, nullptr),
                               static_cast<std::uint32_t>(args.size()),
                               static_cast<std::uint32_t>(operands.size()),
                               static_cast<std::uint32_t>(attrs.size()),
                               0};
    for (NodeId a : operands) args.push_back(a);
    std::uint64_t words[2];
    static_assert(sizeof words == sizeof attr);
    std::memcpy(words, &attr, sizeof words);
    attrs.push_back(words[0]);
    attrs.push_back(words[1]);
    origins.push_back({"hand", 0, 0});
    const auto id = static_cast<NodeId>(nodes.size() - 1);
    kinds.push_back(0);
    set_flags(id, 0);
    return id;
  }
  void set_flags(NodeId id, std::uint32_t flags) {
    Node& n = nodes[id];
    n.flags |= flags;
    std::vector<const Dim*> dims;
    for (NodeId a : args_of(n)) dims.push_back(&nodes[a].dim);
    kinds[id] = table->find({*n.form, n.dim, dims, attrs.data() + n.attr, n.flags});
  }
};

/// Samples that are chains of `steps` nodes, one after another.
inline Graph chains(unsigned samples, unsigned steps, unsigned size) {
  static const OpForm in = form("in"), up = form("up");
  Graph g;
  for (unsigned s = 0; s < samples; ++s) {
    NodeId x = g.add(in, {size});
    for (unsigned t = 1; t < steps; ++t) x = g.add(up, {size}, {x});
  }
  return g;
}

}  // namespace hand_made
