#include "dynet-like/graph/describe.h"

#include "dynet-like/graph/op.h"
#include "dynet-like/graph/parameter_nodes.h"

namespace dynet {

std::string to_string(const SourceLocation& at) {
  return std::string(at.file ? at.file : "") + ":" + std::to_string(at.line);
}

std::string describe(const GraphStore& graph, NodeId id) {
  const Node& n = graph.nodes[id];
  std::string s = to_string(n.dim) + "  ";
  if (n.form->kind == Kind::parameter)
    s += "parameter \"" + graph.attr<ParameterAttr>(n).parameter->name + "\"";
  else if (n.form->kind == Kind::lookup)
    s += "lookup in \"" + graph.attr<LookupAttr>(n).table->name + "\"";
  else
    s += n.form->name;
  s += ", node " + std::to_string(id);
  if (graph.devices.size() > 1) s += ", on " + std::string(graph.devices[n.device_index()]->name);
  return s + ", made at " + to_string(graph.at(n));
}

std::string describe_operands(const GraphStore& graph, std::span<const NodeId> args) {
  std::string s;
  constexpr std::size_t kMost = 8;
  for (std::size_t k = 0; k < args.size() && k < kMost; ++k)
    s += "\n  operand " + std::to_string(k + 1) + ": " + describe(graph, args[k]);
  if (args.size() > kMost) s += "\n  and " + std::to_string(args.size() - kMost) + " more operands";
  return s;
}

}  // namespace dynet
