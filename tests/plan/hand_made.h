#pragma once

#include <memory>
#include <vector>

#include "dynet-like/graph/node.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/shape_table.h"
#include "dynet-like/plan/planner.h"

/// Graphs made by hand, without expressions or an executor: all that a plan needs.
namespace hand_made {

using namespace dynet;

struct Attr {
  double signature = 0;  // must be equal in a batch
  double own = 0;        // may differ
};

/// One planner for each policy.
inline Planner& planner_of(PlanPolicy policy) {
  static Planner all[] = {Planner(PlanPolicy::in_order), Planner(PlanPolicy::in_batches),
                          Planner(PlanPolicy::with_reuse), Planner(PlanPolicy::for_inference)};
  return all[static_cast<unsigned>(policy)];
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
          .passes_gradient = true,
          .forward = Forward{nullptr, nullptr},
          .backward = Backward{nullptr, nullptr},
          .cuda = CudaRule::never("a test")};
}

struct Graph : GraphStore {
  std::shared_ptr<ShapeTable> shapes = std::make_shared<ShapeTable>();
  NodeId add(const OpForm& f, const Dim& dim, const std::vector<NodeId>& operands = {},
             Attr attr = {}) {
    new (nodes.append(1)) Node{&f,
                               *shapes->find(dim, nullptr),
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
    return static_cast<NodeId>(nodes.size() - 1);
  }
};

}  // namespace hand_made
