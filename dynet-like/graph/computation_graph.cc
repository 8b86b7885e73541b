#include "dynet-like/graph/computation_graph.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/graph_errors.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/graph/handle.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

// Throws unless a handle is live and belongs to this graph.
void check_own(const GraphState* graph, const Expression& e, const char* who, SourceLocation at) {
  if (&live_state(e, who, at) != graph) [[unlikely]]
    throw StaleExpressionError(
        std::string(who) + ": the expression belongs to another graph\n  at " + to_string(at), at);
}

void check_empty(const ComputationGraph& graph, const char* who, SourceLocation at) {
  if (graph.size() > 0)
    throw ArgumentError(std::string(who) + ": the graph has nodes already\n  at " + to_string(at),
                        at);
}

}  // namespace

ComputationGraph::ComputationGraph() : state_(borrow_graph_state()) { state_->owner = this; }

ComputationGraph::ComputationGraph(bool batched) : ComputationGraph() {
  state_->evaluator->set_batching(batched);
}

ComputationGraph::~ComputationGraph() { give_back_graph_state(state_); }

const Tensor& ComputationGraph::forward(const Expression& e, SourceLocation at) {
  check_own(state_, e, "forward", at);
  state_->ask("forward", at);
  state_->evaluator->invalidate();
  state_->evaluator->forward(e.i);
  return e.value(at);
}

const Tensor& ComputationGraph::incremental_forward(const Expression& e, SourceLocation at) {
  check_own(state_, e, "incremental_forward", at);
  return e.value(at);
}

const Tensor& ComputationGraph::get_value(const Expression& e, SourceLocation at) {
  check_own(state_, e, "get_value", at);
  return e.value(at);
}

const Tensor& ComputationGraph::get_gradient(const Expression& e, SourceLocation at) {
  check_own(state_, e, "get_gradient", at);
  return e.gradient(at);
}

void ComputationGraph::backward(const Expression& e, bool full, SourceLocation at) {
  check_own(state_, e, "backward", at);
  GraphState& s = *state_;
  const Node& n = s.store.nodes[e.i];
  if (n.dim.size() != 1)
    throw ShapeError("backward: the loss must be one number\n  loss: " + describe(s.store, e.i) +
                         "\n  at " + to_string(at),
                     at);
  if (s.inference)
    throw ArgumentError(
        "backward: the graph is set to inference and keeps no values for it\n  at " + to_string(at),
        at);
  s.ask("backward", at);
  s.evaluator->backward(e.i, full, e.result);
}

void ComputationGraph::invalidate() { state_->evaluator->invalidate(); }

void ComputationGraph::clear() { state_->clear(); }

void ComputationGraph::renew(bool batched) {
  state_->clear();
  begin_graph(*state_);
  state_->evaluator->set_batching(batched);
}

void ComputationGraph::checkpoint() {
  const GraphStore& g = state_->store;
  state_->marks.push_back({g.nodes.size(), g.args.size(), g.attrs.size(), g.devices.size()});
}

void ComputationGraph::revert(SourceLocation at) {
  if (state_->marks.empty())
    throw ArgumentError("revert: there is no checkpoint\n  at " + to_string(at), at);
  const GraphState::Mark m = state_->marks.back();
  state_->marks.pop_back();
  state_->evaluator->truncate(static_cast<NodeId>(m.nodes));
  state_->truncate(m.nodes, m.args, m.attrs);
  state_->drop_devices(m.devices);
}

void ComputationGraph::set_immediate_compute(bool immediate) { state_->immediate = immediate; }

void ComputationGraph::set_check_validity(bool check) {
  state_->evaluator->set_check_validity(check);
}

void ComputationGraph::set_seed(std::uint64_t seed) {
  state_->random_key = mix_bits(seed ^ 0x5eed);
  state_->random_count = 0;
}

void ComputationGraph::set_gradient_buffer(unsigned number) {
  state_->evaluator->set_gradient_buffer(number);
}

void ComputationGraph::set_inference(bool inference) {
  state_->inference = inference;
  state_->evaluator->set_inference(inference);
}

void ComputationGraph::set_precision(Precision precision, SourceLocation at) {
  check_empty(*this, "set_precision", at);
  state_->evaluator->set_precision(precision);
}

void ComputationGraph::set_device(Device* device, SourceLocation at) {
  check_device("set_device", device, at);
  check_empty(*this, "set_device", at);
  state_->set_device(device);
}

unsigned ComputationGraph::get_id() const { return static_cast<unsigned>(state_->number); }

GraphStatistics ComputationGraph::statistics() const { return state_->evaluator->statistics(); }

std::size_t ComputationGraph::size() const { return state_->store.nodes.size(); }

const GraphStore& ComputationGraph::store() const { return state_->store; }

std::size_t NodeList::size() const { return graph_.size(); }

const Node* NodeList::operator[](std::size_t i) const {
  if (i >= size())
    throw IndexError("nodes: there is no node " + std::to_string(i) + " in a graph of " +
                     std::to_string(size()));
  return &graph_.store().nodes[i];
}

GraphState& state_of(ComputationGraph& graph) { return *graph.state_; }

std::uint64_t next_random_key(ComputationGraph& graph) { return state_of(graph).draw_random_key(); }

std::uint64_t next_random_key(const Expression& e) {
  return e.is_stale() ? 0 : e.state->draw_random_key();
}

void give_back_random_key(ComputationGraph& graph) { --state_of(graph).random_count; }

void give_back_random_key(const Expression& e) {
  if (!e.is_stale()) --e.state->random_count;
}

void keep_bank(ComputationGraph& graph, const std::shared_ptr<ParameterStorageBase>& parameter) {
  std::vector<std::shared_ptr<ParameterBank>>& banks = state_of(graph).store.banks;
  for (const auto& b : banks)
    if (b.get() == parameter->bank) return;
  banks.emplace_back(parameter, parameter->bank);
}

const Tensor& Expression::value(SourceLocation at) const {
  GraphState& s = live_state(*this, "value", at);
  s.ask("value", at);
  s.evaluator->forward(i);
  try {
    return s.shown_values[GraphState::shown_key(i, result)] = {s.store.nodes[i].dim,
                                                               s.evaluator->host_value(i, result)};
  } catch (const ArgumentError& e) {
    throw_not_kept(e, s.store, i, at);
  }
}

const Tensor& Expression::gradient(SourceLocation at) const {
  GraphState& s = live_state(*this, "gradient", at);
  try {
    return s.shown_gradients[GraphState::shown_key(i, result)] = {
               s.store.nodes[i].dim, s.evaluator->host_gradient(i, result)};
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
