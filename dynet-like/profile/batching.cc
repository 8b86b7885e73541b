#include "dynet-like/profile/batching.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/profile/record.h"

namespace dynet {
namespace {

constexpr std::uint32_t kMixer = 0x9e3779b9u;

std::string name_of(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  return n.form->kind == Kind::parameter ? graph.attr<ParameterAttr>(n).parameter->name
                                         : std::string();
}

// Calls of one line for one request: by batch key, in the order of the first calls.
struct Group {
  struct Calls {
    ProfiledKey key;
    NodeId first;
    std::uint64_t calls, nodes;
  };
  std::vector<Calls> keys;

  void add(const BatchedCall& c) {
    const auto known = std::find_if(keys.begin(), keys.end(), [&](const Calls& k) {
      return k.key.kind == c.key.kind && k.key.shared == c.key.shared;
    });
    if (known == keys.end())
      keys.push_back({c.key, c.first, 1, c.count});
    else
      ++known->calls, known->nodes += c.count;
  }
};

void add_apart(const GraphStore& graph, const std::vector<BatchedCall>& calls,
               ProfileRecord& record) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Group> groups;
  for (const BatchedCall& c : calls) groups[{c.line, c.request}].add(c);
  for (const auto& [where, group] : groups) {
    const OpForm& form = *graph.nodes[group.keys[0].first].form;
    std::uint64_t all = 0, most = 0, nodes = 0;
    for (const Group::Calls& k : group.keys) {
      all += k.calls;
      nodes += k.nodes;
      most = std::max(most, k.calls);
    }
    const bool never = !form.batch.value.batches;
    const std::uint64_t more = never ? all - 1 : all - most;
    if (more == 0) continue;
    ApartCalls& apart = record.apart[where.first];
    apart.calls += all;
    apart.nodes += nodes;
    apart.more += more;
    if (never) {
      ++apart.reasons[form.batch.value.why_not];
      continue;
    }
    // Texts take time: some pairs stand for all.
    constexpr std::size_t kPairs = 4;
    const std::size_t pairs = group.keys.size() - 1,
                      apart_by = std::max<std::size_t>(1, pairs / kPairs);
    for (std::size_t k = 0; k < pairs; k += apart_by)
      ++apart.reasons[difference(graph, group.keys[k].first, group.keys[k + 1].first)];
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
      const Node& operand = graph.nodes[args[k]];
      const auto parameter =
          operand.form->kind == Kind::parameter
              ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(
                                               graph.attr<ParameterAttr>(operand).parameter) >>
                                           4)
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
    const std::string v = name_of(graph, p[k]), w = name_of(graph, q[k]);
    if (!v.empty() && v == w)
      return "they read the parameter " + v + " by two nodes; make one for all of a graph";
    return std::string("their ") + (k < rule.first_pair ? "biases" : "matrices") + " differ" +
           (v.empty() || w.empty() ? "" : ": " + v + " and " + w);
  }
  return "their settings differ";
}

void add_missed_batches(const GraphStore& graph, const std::vector<BatchedCall>& calls,
                        const std::vector<BatchedRequest>& requests, ProfileRecord& record) {
  add_apart(graph, calls, record);
  add_early(calls, requests, record);
}

}  // namespace dynet
