#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dynet-like/graph/node.h"

namespace dynet {

struct ProfileRecord;

/// Forward calls whose nodes may share a batch: equal kind and shared operands.
struct ProfiledKey {
  std::uint32_t kind;
  std::uint32_t shared;  ///< hash of the operands that a batch shares

  bool operator==(const ProfiledKey&) const = default;
};
ProfiledKey batch_key_of(const GraphStore& graph, NodeId id);

/// A forward call of a graph.
struct BatchedCall {
  std::uint32_t line, request;
  NodeId first;
  std::uint32_t count;
  ProfiledKey key;
};
struct BatchedRequest {
  std::string place;
  bool depends;  ///< on values of earlier requests
};

/// Adds the calls that could not be one batch, and the requests that came too early.
void add_missed_batches(const GraphStore& graph, const std::vector<BatchedCall>& calls,
                        const std::vector<BatchedRequest>& requests, ProfileRecord& record);

/// Why two nodes of one form cannot share a batch, as "their ...".
std::string difference(const GraphStore& graph, NodeId a, NodeId b);

}  // namespace dynet
