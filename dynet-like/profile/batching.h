#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dynet-like/graph/node.h"

namespace dynet {

struct ProfileRecord;

/// Forward calls whose nodes may share a batch have one kind and one `shared`.
struct ProfiledKey {
  std::uint32_t kind;
  std::uint32_t shared;      ///< hash of the operands that a batch shares
  std::uint32_t parameters;  ///< the same, where all nodes of a parameter count as one

  bool same_batch(const ProfiledKey& other) const {
    return kind == other.kind && shared == other.shared;
  }
};
ProfiledKey batch_key_of(const GraphStore& graph, NodeId id);

/// A forward call of a graph.
struct BatchedCall {
  std::uint32_t line, request;
  NodeId first;
  ProfiledKey key;
};
struct BatchedRequest {
  std::string function, at;
  bool depends;  ///< on values of earlier requests
};

/// Adds the calls that could not be one batch, and the requests that came too early.
/// Nodes below `computed` were.
void add_missed_batches(const GraphStore& graph, NodeId computed,
                        const std::vector<BatchedCall>& calls,
                        const std::vector<BatchedRequest>& requests, ProfileRecord& record);

/// Why two nodes of one form cannot share a batch, as "their ...".
std::string difference(const GraphStore& graph, NodeId a, NodeId b);

}  // namespace dynet
