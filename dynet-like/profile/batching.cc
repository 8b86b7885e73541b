#include "dynet-like/profile/batching.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/profile/record.h"

namespace dynet {
namespace {

constexpr std::uint32_t kMixer = 0x9e3779b9u;

// The parameter that a node stands for, or null.
const ParameterStorageBase* parameter_of(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  return n.form->kind == Kind::parameter ? graph.attr<ParameterAttr>(n).parameter : nullptr;
}

// Nodes of one operation at one line of the program.
struct Group {
  std::uint32_t nodes = 0;
  NodeId first = 0;
  ProfiledKey key{};         // of the first node
  bool is_one_batch = true;  // or would be, but for nodes that depend on each other
  std::uint64_t calls = 0;
};

// Level of each node in its group: nodes of one level do not depend on each other.
void find_levels(const GraphStore& graph, const std::vector<std::uint32_t>& group_of,
                 std::uint32_t group, std::vector<std::uint32_t>& levels) {
  levels.assign(group_of.size(), 0);
  for (NodeId id = 0; id < group_of.size(); ++id) {
    std::uint32_t level = 0;
    for (const NodeId a : graph.args_of(graph.nodes[id])) level = std::max(level, levels[a]);
    levels[id] = level + (group_of[id] == group ? 1 : 0);
  }
}

// Counts the keys of each level beyond the first one: calls that could have been one.
void add_group(const GraphStore& graph, const std::vector<std::uint32_t>& group_of,
               std::uint32_t index, const Group& group, const std::vector<std::uint32_t>& levels,
               ApartCalls& apart) {
  constexpr std::size_t kPairs = 4;  // texts take time: some pairs stand for all
  const BatchRule& rule = graph.nodes[group.first].form->batch.value;
  struct Seen {
    ProfiledKey key;
    NodeId first;
  };
  std::map<std::uint32_t, std::vector<Seen>> by_level;
  std::size_t pairs = 0;
  apart.nodes += group.nodes;
  for (NodeId id = group.first; id < group_of.size(); ++id) {
    if (group_of[id] != index) continue;
    std::vector<Seen>& seen = by_level[levels[id]];
    const ProfiledKey key = batch_key_of(graph, id);
    const bool known = rule.batches && std::any_of(seen.begin(), seen.end(), [&](const Seen& k) {
                         return k.key.same_batch(key);
                       });
    if (known) continue;
    if (!seen.empty()) {
      ++apart.more;
      if (pairs++ < kPairs)
        ++apart.reasons[rule.batches ? difference(graph, seen[0].first, id) : rule.why_not];
    }
    if (seen.size() < 64) seen.push_back({key, id});  // more would take long, and are known well
  }
}

void add_apart(const GraphStore& graph, NodeId computed, const std::vector<BatchedCall>& calls,
               ProfileRecord& record) {
  std::map<std::tuple<const OpForm*, const char*, std::uint32_t>, std::uint32_t> known;
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_of(std::min<std::size_t>(computed, graph.nodes.size()), ~0u);
  for (NodeId id = 0; id < group_of.size(); ++id) {
    const Node& n = graph.nodes[id];
    if (n.form->kind != Kind::compute) continue;
    const NodeOrigin& o = graph.origins[id];
    const auto [found, is_new] =
        known.try_emplace({n.form, o.file, o.line}, static_cast<std::uint32_t>(groups.size()));
    group_of[id] = found->second;
    const ProfiledKey key = batch_key_of(graph, id);
    if (is_new) groups.push_back({0, id, key, n.form->batch.value.batches});
    Group& group = groups[found->second];
    ++group.nodes;
    group.is_one_batch = group.is_one_batch && group.key.same_batch(key);
  }
  for (const BatchedCall& c : calls)
    if (c.first < group_of.size() && group_of[c.first] != ~0u) ++groups[group_of[c.first]].calls;
  std::vector<std::uint32_t> levels;
  for (std::uint32_t index = 0; index < groups.size(); ++index) {
    const Group& group = groups[index];
    if (group.is_one_batch || group.calls < 2) continue;
    find_levels(graph, group_of, index, levels);
    ApartCalls found;
    add_group(graph, group_of, index, group, levels, found);
    if (found.more == 0) continue;
    const Node& first = graph.nodes[group.first];
    ApartCalls& apart =
        record.apart[record.line(first.form->name.value, to_string(graph.at(first)))];
    apart.calls += group.calls;
    apart.nodes += found.nodes;
    apart.more += found.more;
    for (const auto& [reason, n] : found.reasons) apart.reasons[reason] += n;
  }
}

// Requests that need nothing of the earlier ones: their calls could have joined those of the last.
void add_early(const std::vector<BatchedCall>& calls, const std::vector<BatchedRequest>& requests,
               ProfileRecord& record) {
  struct Key {
    std::uint32_t line;
    ProfiledKey key;
    bool operator<(const Key& other) const {
      return std::tie(line, key.kind, key.parameters) <
             std::tie(other.line, other.key.kind, other.key.parameters);
    }
  };
  std::map<Key, std::map<std::uint32_t, std::uint64_t>> by_key;  // calls by request
  std::vector<std::uint64_t> more(requests.size(), 0);
  for (const BatchedCall& c : calls)
    if (!requests[c.request].depends) ++by_key[{c.line, c.key}][c.request];
  for (const auto& [key, by_request] : by_key) {
    const auto most =
        std::max_element(by_request.begin(), by_request.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [request, n] : by_request)
      if (request != most->first) more[request] += n;
  }
  for (std::size_t k = 0; k < requests.size(); ++k) {
    if (more[k] == 0) continue;
    EarlyRequests& early = record.early[{requests[k].function, requests[k].at}];
    ++early.requests;
    early.more += more[k];
  }
}

}  // namespace

ProfiledKey batch_key_of(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  const BatchRule& rule = n.form->batch.value;
  std::uint32_t shared = 0, parameters = 0;
  if (rule.has_products() && !n.has_own_matrix()) {
    const auto args = graph.args_of(n);
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (!rule.shares(k)) continue;
      const ParameterStorageBase* const stored = parameter_of(graph, args[k]);
      const auto parameter =
          stored ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stored) >> 4)
                 : args[k];
      shared = (shared ^ args[k]) * kMixer;
      parameters = (parameters ^ parameter) * kMixer;
    }
  }
  return {graph.kinds[id], shared, parameters};
}

std::string difference(const GraphStore& graph, NodeId a, NodeId b) {
  if (std::max(a, b) >= graph.nodes.size()) return "their nodes were reverted";
  const Node &x = graph.nodes[a], &y = graph.nodes[b];
  const auto p = graph.args_of(x), q = graph.args_of(y);
  if (p.size() != q.size())
    return "their numbers of operands differ: " + std::to_string(p.size()) + " and " +
           std::to_string(q.size());
  if (!same_device(x.flags, y.flags)) return "they are on different devices";
  const BatchRule& rule = x.form->batch.value;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const Dim &v = graph.nodes[p[k]].dim, &w = graph.nodes[q[k]].dim;
    if (!rule.ragged.agree(Ragged::operand(k), v, w))
      return "the shapes of operand " + std::to_string(k + 1) + " differ: " + to_string(v) +
             " and " + to_string(w);
  }
  if (!rule.ragged.agree(Ragged::kValue, x.dim, y.dim))
    return "their shapes differ: " + to_string(x.dim) + " and " + to_string(y.dim);
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (!rule.shares(k) || p[k] == q[k]) continue;
    const ParameterStorageBase *const v = parameter_of(graph, p[k]), *const w =
                                                                         parameter_of(graph, q[k]);
    return std::string("their ") + (k < rule.first_pair ? "biases" : "matrices") + " differ" +
           (v && w && v->name != w->name ? ": " + v->name + " and " + w->name : "");
  }
  return "their settings differ";
}

void add_missed_batches(const GraphStore& graph, NodeId computed,
                        const std::vector<BatchedCall>& calls,
                        const std::vector<BatchedRequest>& requests, ProfileRecord& record) {
  add_apart(graph, computed, calls, record);
  add_early(calls, requests, record);
}

}  // namespace dynet
