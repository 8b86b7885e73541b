#include "dynet-like/graph/expression.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/graph_errors.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/graph/handle.h"

namespace dynet {

const Tensor& Expression::value(SourceLocation at) const {
  GraphState& s = live_state(*this, "value", at);
  s.evaluator->forward(i);
  try {
    return s.shown_values[i] = {s.store.nodes[i].dim, s.evaluator->host_value(i)};
  } catch (const ArgumentError& e) {
    throw_not_kept(e, s.store, i, at);
  }
}

const Tensor& Expression::gradient(SourceLocation at) const {
  GraphState& s = live_state(*this, "gradient", at);
  try {
    return s.shown_gradients[i] = {s.store.nodes[i].dim, s.evaluator->host_gradient(i)};
  } catch (const GradientError& e) {
    throw_not_kept(e, s.store, i, at);
  } catch (const ArgumentError& e) {
    throw_not_kept(e, s.store, i, at);
  }
}

const Dim& Expression::dim(SourceLocation at) const {
  return live_state(*this, "dim", at).store.nodes[i].dim;
}

std::string Expression::get_device_name(SourceLocation at) const {
  live_state(*this, "get_device_name", at);
  return device_of(*this)->name;
}

Expression::Expression(ComputationGraph* graph, VariableIndex node, SourceLocation at) {
  if (!graph)
    throw ArgumentError("Expression: needs a graph, got a null pointer\n  at " + to_string(at), at);
  GraphState& s = state_of(*graph);
  if (node >= s.store.nodes.size())
    throw IndexError("Expression: there is no node " + std::to_string(node) + " in a graph of " +
                         std::to_string(s.store.nodes.size()) + "\n  at " + to_string(at),
                     at);
  *this = make_handle(s, node, s.store.origins[node].serial);
}

bool Expression::is_stale() const { return !state || !state->holds(i, serial); }

Device* device_of(const Expression& e) {
  if (e.is_stale()) return nullptr;
  const GraphStore& g = e.state->store;
  return g.devices[g.nodes[e.i].device_index()];
}

}  // namespace dynet
