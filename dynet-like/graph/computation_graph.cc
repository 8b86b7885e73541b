#include "dynet-like/graph/computation_graph.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/check.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/parameter_nodes.h"

namespace dynet {
namespace {

[[noreturn, gnu::cold]] void throw_bad_handle(const std::string& who, const Expression& e,
                                              const GraphState* graph, SourceLocation at) {
  const char* rule = !e.state ? "is empty: it belongs to no graph"
                     : graph && e.state != graph && !e.is_stale()
                         ? "belongs to another graph than the first operand"
                         : "is stale: its graph was cleared, reverted or destroyed";
  throw StaleExpressionError(who + " " + rule + "\n  at " + to_string(at), at);
}

GraphState& live_state(const Expression& e, const char* who, SourceLocation at) {
  if (!e.state || !e.state->holds(e.i, e.serial)) [[unlikely]]
    throw_bad_handle(std::string(who) + ": the expression", e, nullptr, at);
  return *e.state;
}

// The same, and of this graph.
void check_own(const GraphState* graph, const Expression& e, const char* who, SourceLocation at) {
  if (&live_state(e, who, at) != graph) [[unlikely]]
    throw StaleExpressionError(
        std::string(who) + ": the expression belongs to another graph\n  at " + to_string(at), at);
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_rule_broken(const char* name,
                                                              const RuleBroken& broken,
                                                              const GraphStore& graph,
                                                              std::span<const NodeId> args,
                                                              SourceLocation at) {
  const std::string what = std::string(name) + ": " + broken.rule + describe_operands(graph, args) +
                           "\n  at " + to_string(at);
  switch (broken.kind) {
    case RuleBroken::Kind::shape:
      throw ShapeError(what, at);
    case RuleBroken::Kind::index:
      throw IndexError(what, at);
    default:
      throw ArgumentError(what, at);
  }
}

// Operations run where their operands are.
[[noreturn, gnu::cold, gnu::noinline]] void throw_devices_differ(const char* name,
                                                                 const GraphStore& graph,
                                                                 std::span<const NodeId> args,
                                                                 SourceLocation at) {
  throw DeviceError(std::string(name) +
                        ": the operands are on different devices, to_device copies them" +
                        describe_operands(graph, args) + "\n  at " + to_string(at),
                    at);
}

// Why an operation cannot run on a device, or null.
const char* why_not_on_device(const OpForm& form) {
  const CudaRule& rule = form.cuda.value;
  const bool needs_kernels =
      form.kind == Kind::compute || (form.kind == Kind::alias && form.backward.value.f);
  if (rule.kernels || rule.why_not || !needs_kernels) return rule.why_not;
  return "the library has no kernels for it";
}

// A new node of a graph that computes at once or runs on a device.
[[gnu::noinline]] void finish_node(GraphState& s, NodeId id) {
  const Node& n = s.store.nodes[id];
  try {
    const bool on_device = s.store.devices[n.device_index()]->type != DeviceType::CPU;
    if (const char* why_not = on_device ? why_not_on_device(*n.form) : nullptr)
      throw DeviceError(std::string(n.form->name) + ": cannot run on a GPU: " + why_not +
                            "\n  at " + to_string(n.at()),
                        n.at());
    if (s.immediate) s.evaluator->forward(id);
  } catch (...) {  // as if it had not been made
    s.evaluator->truncate(id);
    s.store.args.truncate(n.first_arg);
    s.store.attrs.truncate(n.attr);
    s.store.nodes.truncate(id);
    throw;
  }
}

// Written as one vector: a handle is soon copied by its user, and a wide load from several narrow
// stores just made would have to wait for them.
inline Expression make_handle(GraphState& s, NodeId id, std::uint64_t serial) {
  using Words [[gnu::vector_size(32)]] = unsigned long long;
  static_assert(sizeof(Expression) == sizeof(Words) && offsetof(Expression, pg) == 0 &&
                offsetof(Expression, i) == 8 && offsetof(Expression, serial) == 16);
  const Words words = {reinterpret_cast<std::uintptr_t>(s.owner), id, serial,
                       reinterpret_cast<std::uintptr_t>(&s)};
  Expression e;
  std::memcpy(static_cast<void*>(&e), &words, sizeof(e));
  return e;
}

// What is asked for was not kept and cannot be computed again.
[[noreturn, gnu::cold, gnu::noinline]] void throw_not_kept(const ArgumentError& e,
                                                           const GraphStore& graph, NodeId id,
                                                           SourceLocation at) {
  throw ArgumentError(
      std::string(e.what()) + "\n  expression: " + describe(graph, id) + "\n  at " + to_string(at),
      at);
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_bad_operand(const char* name, std::size_t k,
                                                              const Expression& e,
                                                              const GraphState* graph,
                                                              SourceLocation at) {
  throw_bad_handle(std::string(name) + ": operand " + std::to_string(k + 1), e, graph, at);
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_no_operand(const char* name, SourceLocation at) {
  throw ArgumentError(std::string(name) + ": needs at least one operand\n  at " + to_string(at),
                      at);
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_too_large(const OpForm& form, SourceLocation at) {
  throw OutOfMemoryError(
      std::string(form.name) + ": the graph has too many nodes\n  at " + to_string(at), at);
}

// Checks the operands and the shape and writes the node down; `operand(k)` is the k-th, the first
// was checked by state_of_first. The node is written in place behind the last one and counts only
// once everything was checked. It is where its operands are; a transfer, and what has no operands,
// where `flags` say.
template <bool transfer = false, class GetOperand>
inline Expression add_checked(GraphState& s, const OpForm& form, std::size_t arity,
                              GetOperand&& operand, const Dim** dims, std::uint32_t flags,
                              const Attributes& attributes, SourceLocation at) {
  for (std::size_t k = 1; k < arity; ++k) {
    const Expression& e = operand(k);
    if (e.state != &s || !s.holds(e.i, e.serial)) [[unlikely]]
      throw_bad_operand(form.name, k, e, &s, at);
  }
  GraphStore& g = s.store;
  const std::size_t id = g.nodes.size();
  g.nodes.reserve(id + 1);  // before pointers into it are taken
  const std::size_t first_arg = g.args.size();
  NodeId* args = g.args.append(arity);
  g.args.truncate(first_arg);
  if ((id | first_arg | (g.attrs.size() + attributes.payload_size / 8)) >> 31) [[unlikely]]
    throw_too_large(form, at);
  std::uint32_t common = ~0u;
  for (std::size_t k = 0; k < arity; ++k) {
    const NodeId i = operand(k).i;
    const Node& n = g.nodes[i];
    dims[k] = &n.dim;
    args[k] = i;
    if constexpr (transfer) {
      flags |= n.flags & ~Node::kDeviceBits;
    } else {
      flags |= n.flags;
      common &= n.flags;
    }
  }
  if (!transfer && arity > 0 && !same_device(flags, common)) [[unlikely]]
    throw_devices_differ(form.name, g, {args, arity}, at);
  Node* node = g.nodes.data() + id;
  try {
    new (&node->dim)
        Dim(form.shape.value(Operands{{dims, arity}, attributes.bytes, attributes.payload}));
  } catch (const RuleBroken& broken) {
    throw_rule_broken(form.name, broken, g, {args, arity}, at);
  }
  node->form = &form;
  node->file = at.file;
  node->line = at.line;
  node->serial = s.next_serial++;
  node->first_arg = static_cast<std::uint32_t>(first_arg);
  node->arity = static_cast<std::uint32_t>(arity);
  node->attr = static_cast<std::uint32_t>(g.attrs.size());
  node->flags = (flags & (Node::kDeviceBits | (form.passes_gradient ? Node::kNeedsGradient : 0))) |
                attributes.flags;
  if (attributes.size) {
    const std::size_t bytes = attributes.size + attributes.payload_size;
    std::uint64_t* words = g.attrs.append((bytes + 7) / 8);
    const auto* from = static_cast<const std::byte*>(attributes.bytes);
    for (std::size_t w = 0; w < attributes.size / 8; ++w)  // few: no call for them
      std::memcpy(words + w, from + 8 * w, 8);
    if (attributes.payload_size)
      std::memcpy(reinterpret_cast<std::byte*>(words) + attributes.size, attributes.payload,
                  attributes.payload_size);
  }
  g.args.append(arity);
  g.nodes.append(1);
  const Expression made = make_handle(s, static_cast<NodeId>(id), node->serial);
  if (s.immediate | s.on_device) [[unlikely]]
    finish_node(s, made.i);
  return made;
}

// For a node at this device.
std::uint32_t device_flags(GraphState& s, Device* device, const char* name, SourceLocation at) {
  try {
    return s.device_index(device) << Node::kFirstDeviceBit;
  } catch (const DeviceError& e) {
    throw DeviceError(std::string(name) + ": " + std::string(device->name) + ": " + e.what() +
                          "\n  at " + to_string(at),
                      at);
  }
}

// The graph that all operands must belong to. Nothing of a state is touched before its first
// operand is known to be live: it may by now belong to a graph of another thread.
GraphState& state_of_first(const char* name, const Expression& e, SourceLocation at) {
  if (!e.state || !e.state->holds(e.i, e.serial)) [[unlikely]]
    throw_bad_operand(name, 0, e, nullptr, at);
  return *e.state;
}

void check_empty(const ComputationGraph& graph, const char* who, SourceLocation at) {
  if (graph.size() > 0)
    throw ArgumentError(std::string(who) + ": the graph has nodes already\n  at " + to_string(at),
                        at);
}

}  // namespace

// Small is fast: a node is a line and a quarter of the cache, docs/design/graph.md says so too.
static_assert(sizeof(Node) == 80);

std::size_t no_aux(const GraphStore&, const Node&) { return 0; }

Expression add_node(const OpForm& form, const Expression& x, const Attributes& attributes,
                    SourceLocation at) {
  const Dim* dims[1];
  return add_checked(
      state_of_first(form.name, x, at), form, 1,
      [&](std::size_t) -> const Expression& { return x; }, dims, 0, attributes, at);
}

Expression add_node(const OpForm& form, const Expression& x, const Expression& y,
                    const Attributes& attributes, SourceLocation at) {
  const Dim* dims[2];
  return add_checked(
      state_of_first(form.name, x, at), form, 2,
      [&](std::size_t k) -> const Expression& { return k == 0 ? x : y; }, dims, 0, attributes, at);
}

Expression add_node(const OpForm& form, std::span<const Expression> operands,
                    const Attributes& attributes, SourceLocation at) {
  if (operands.empty()) [[unlikely]]
    throw_no_operand(form.name, at);
  GraphState& s = state_of_first(form.name, operands[0], at);
  s.dims.resize(operands.size());
  return add_checked(
      s, form, operands.size(), [&](std::size_t k) -> const Expression& { return operands[k]; },
      s.dims.data(), 0, attributes, at);
}

Expression add_node(ComputationGraph& graph, const OpForm& form, const Attributes& attributes,
                    SourceLocation at, Device* device) {
  const ParameterStorageBase* const parameter =
      form.kind == Kind::parameter ? static_cast<const ParameterAttr*>(attributes.bytes)->parameter
      : form.kind == Kind::lookup  ? static_cast<const LookupAttr*>(attributes.bytes)->table
                                   : nullptr;
  std::uint32_t flags = 0;
  if (parameter) {
    // A frozen parameter needs no gradient, nor does anything above it on its account.
    if (parameter->updated) flags = Node::kNeedsGradient;
    if (!device) device = parameter->device;
  }
  GraphState& s = state_of(graph);
  if (device) [[unlikely]]
    flags |= device_flags(s, device, form.name, at);
  return add_checked(
      s, form, 0,
      [](std::size_t) -> const Expression& {
        static const Expression none;
        return none;
      },
      nullptr, flags, attributes, at);
}

Expression add_transfer(const OpForm& form, const Expression& x, Device* to, SourceLocation at) {
  GraphState& s = state_of_first(form.name, x, at);
  const std::uint32_t flags = device_flags(s, to, form.name, at);
  const TransferAttr way{s.store.devices[flags >> Node::kFirstDeviceBit], device_of(x)};
  const Dim* dims[1];
  return add_checked<true>(
      s, form, 1, [&](std::size_t) -> const Expression& { return x; }, dims, flags, way, at);
}

Device* device_of(const Expression& e) {
  if (e.is_stale()) return nullptr;
  const GraphStore& g = e.state->store;
  return g.devices[g.nodes[e.i].device_index()];
}

Dim detail::check_operands(const char* name, std::span<const Expression> xs,
                           Dim (*rule)(const void*, shape::Dims), const void* context,
                           SourceLocation at) {
  if (xs.empty()) throw_no_operand(name, at);
  GraphState& s = state_of_first(name, xs[0], at);
  s.dims.resize(xs.size());
  const auto node = [&](const Expression& e) -> const Node& { return s.store.nodes[e.i]; };
  const auto ids = [&] {
    std::vector<NodeId> all;
    for (const Expression& e : xs) all.push_back(e.i);
    return all;
  };
  bool one_device = true;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    if (xs[k].state != &s || !s.holds(xs[k].i, xs[k].serial))
      throw_bad_operand(name, k, xs[k], &s, at);
    s.dims[k] = &node(xs[k]).dim;
    one_device &= node(xs[k]).device_index() == node(xs[0]).device_index();
  }
  if (!one_device) throw_devices_differ(name, s.store, ids(), at);
  try {
    return rule(context, {s.dims.data(), s.dims.size()});
  } catch (const RuleBroken& broken) {
    throw_rule_broken(name, broken, s.store, ids(), at);
  }
}

ComputationGraph::ComputationGraph() : state_(borrow_graph_state()) { state_->owner = this; }

ComputationGraph::ComputationGraph(bool batched) : ComputationGraph() {
  state_->evaluator->set_batching(batched);
}

ComputationGraph::~ComputationGraph() { give_back_graph_state(state_); }

Tensor ComputationGraph::forward(const Expression& e, SourceLocation at) {
  check_own(state_, e, "forward", at);
  invalidate();
  return e.value(at);
}

Tensor ComputationGraph::incremental_forward(const Expression& e, SourceLocation at) {
  check_own(state_, e, "incremental_forward", at);
  return e.value(at);
}

Tensor ComputationGraph::get_value(const Expression& e, SourceLocation at) {
  check_own(state_, e, "get_value", at);
  return e.value(at);
}

Tensor ComputationGraph::get_gradient(const Expression& e, SourceLocation at) {
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
  s.evaluator->backward(e.i, full);
}

void ComputationGraph::invalidate() { state_->evaluator->invalidate(); }

void ComputationGraph::clear() { state_->clear(); }

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
  state_->store.nodes.truncate(m.nodes);
  state_->store.args.truncate(m.args);
  state_->store.attrs.truncate(m.attrs);
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

void ComputationGraph::set_workers(Workers* workers) { state_->evaluator->set_workers(workers); }

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

Tensor Expression::value(SourceLocation at) const {
  GraphState& s = live_state(*this, "value", at);
  s.evaluator->forward(i);
  try {
    return s.evaluator->value(i);
  } catch (const ArgumentError& e) {
    throw_not_kept(e, s.store, i, at);
  }
}

Tensor Expression::gradient(SourceLocation at) const {
  GraphState& s = live_state(*this, "gradient", at);
  try {
    return s.evaluator->gradient(i);
  } catch (const ArgumentError& e) {
    throw_not_kept(e, s.store, i, at);
  }
}

Dim Expression::dim(SourceLocation at) const {
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
  *this = make_handle(s, node, s.store.nodes[node].serial);
}

bool Expression::is_stale() const { return !state || !state->holds(i, serial); }

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

}  // namespace dynet
