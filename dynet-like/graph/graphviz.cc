#include <ostream>
#include <sstream>

#include "dynet-like/base/process.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/parameter_nodes.h"

namespace dynet {
namespace {

// Escapes text for a quoted string.
std::string escaped(const std::string& text) {
  std::string s;
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s;
}

const ParameterStorageBase* parameter_of(const GraphStore& graph, const Node& n) {
  switch (n.form->kind) {
    case Kind::parameter:
      return graph.attr<ParameterAttr>(n).parameter;
    case Kind::lookup:
      return graph.attr<LookupAttr>(n).table;
    default:
      return nullptr;
  }
}

}  // namespace

void ComputationGraph::print_graphviz(std::ostream& out) const {
  // Numbers are formatted by to_string, independent of flags and locale of the stream.
  const GraphStore& graph = store();
  std::string text = "digraph G {\n  rankdir=LR;\n  nodesep=.05;\n";
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& n = graph.nodes[id];
    const ParameterStorageBase* parameter = parameter_of(graph, n);
    std::string label = std::to_string(id) + ": " + n.form->name.value;
    if (parameter) label += " " + parameter->name;
    text += "  N" + std::to_string(id) + " [label=\"" + escaped(label) + "\\n" + to_string(n.dim) +
            "\"";
    if (parameter) text += ", shape=box";
    text += "];\n";
    for (std::size_t k = 0; k < n.arity; ++k) {
      text += "  N" + std::to_string(graph.args_of(n)[k]) + " -> N" + std::to_string(id);
      if (n.arity > 1) text += " [label=\"" + std::to_string(k + 1) + "\"]";
      if (n.reads_second(k)) text += " [taillabel=\"second\"]";
      text += ";\n";
    }
    out << text;
    text.clear();
  }
  out << text << "}\n";
}

std::string ComputationGraph::print_graphviz() const {
  std::ostringstream out;
  print_graphviz(out);
  if (const ProcessHooks* process = find_process_hooks()) process->print(out.str());
  return out.str();
}

}  // namespace dynet
