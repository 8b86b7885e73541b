// Creation of nodes: checks of operands, shape rule, node kind, storage.
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/check.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/graph_errors.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/graph/handle.h"
#include "dynet-like/graph/op.h"

namespace dynet {
namespace {

// Reason why an operation cannot run on a device, or null.
const char* why_not_on_device(const OpForm& form) {
  const CudaRule& rule = form.cuda.value;
  const bool needs_kernels =
      form.kind == Kind::compute || (form.kind == Kind::alias && form.backward.value.f);
  if (rule.kernels || rule.why_not || !needs_kernels) return rule.why_not;
  return "the library has no kernels for it";
}

// Computes the value of a new node.
[[gnu::noinline]] void compute_now(GraphState& s, NodeId id) {
  const std::size_t first_arg = s.store.nodes[id].first_arg, attr = s.store.nodes[id].attr;
  try {
    s.evaluator->forward(id);
  } catch (...) {  // remove the node again
    s.evaluator->truncate(id);
    s.truncate(id, first_arg, attr);
    throw;
  }
}

inline void add_attributes(PodVector<std::uint64_t>& attrs, const Attributes& attributes) {
  const std::size_t bytes = attributes.size + attributes.payload_size;
  std::uint64_t* words = attrs.append((bytes + 7) / 8);
  const auto* from = static_cast<const std::byte*>(attributes.bytes);
  for (std::size_t w = 0; w < attributes.size / 8; ++w)  // few words: inline copies
    std::memcpy(words + w, from + 8 * w, 8);
  if (attributes.payload_size)
    std::memcpy(words + attributes.size / 8, attributes.payload, attributes.payload_size);
}

// Evaluates the shape rule. Updates `recent` if its shape or its node kind differ. Throws
// RuleBroken, and DeviceError for a new kind of node that cannot run on its device.
[[gnu::noinline]] void find_shape(GraphState& s, const OpForm& form, shape::Dims dims,
                                  std::uint32_t planning, const Attributes& attributes,
                                  const std::uint64_t* words, NodeKindTable::Recent& recent,
                                  bool known, const SourceLocation& at) {
  const Dim dim = form.shape.value(Operands{dims, attributes.bytes, attributes.payload});
  const Dim* const shape = s.shapes.find(dim, recent.shape);
  if (const char* why_not =
          !known && planning & Node::kOnDevice ? why_not_on_device(form) : nullptr)
    throw DeviceError(
        std::string(form.name) + ": cannot run on a GPU: " + why_not + "\n  at " + to_string(at),
        at);
  if (!known || shape != recent.shape)
    s.kinds.note(recent, {form, *shape, dims, words, planning},
                 (attributes.size + attributes.payload_size + 7) / 8);
}

// A cache entry of the node kinds, and whether it is that of a node.
struct KnownKind {
  NodeKindTable::Recent* entry;
  bool known;
};
[[gnu::noinline]] KnownKind find_second(GraphState& s, NodeKindTable::Recent& first,
                                        const OpForm& form, shape::Dims dims,
                                        std::uint32_t planning, const std::uint64_t* words) {
  NodeKindTable::Recent& entry = s.kinds.second(first);
  return {&entry, entry.is_of(form, dims.data(), dims.size(), planning) &&
                      entry.has_words(words, form.batch.value.attribute_bytes / 8)};
}

// Whether a form can read operand k where it lies if that is the second result of its node. Other
// operands must be nodes: those that a batch shares have gradients of their own.
bool reads_seconds_in_place(const OpForm& form, std::size_t k) {
  return k < Node::kMostSeconds && !form.batch.value.shares(k);
}

inline void check_operand(const GraphState& s, const char* name, std::size_t k, const Expression& e,
                          const SourceLocation& at) {
  if (e.state != &s || !s.holds(e.i, e.serial)) [[unlikely]]
    throw_bad_operand(name, k, e, &s, at);
}

// Adds a node, and before it aliases of second results that it cannot read where they lie.
template <class GetOperand>
[[gnu::noinline]] Expression add_over_aliases(GraphState& s, const OpForm& form, std::size_t arity,
                                              GetOperand&& operand, const Attributes& attributes,
                                              const SourceLocation& at) {
  const GraphStore& g = s.store;
  const auto nodes = static_cast<NodeId>(g.nodes.size());
  const std::size_t args = g.args.size(), attrs = g.attrs.size();
  std::vector<Expression> operands;
  for (std::size_t k = 0; k < arity; ++k) {
    const Expression& e = operand(k);
    check_operand(s, form.name, k, e, at);
    if (e.result) check_result(form.name, e, at);
    operands.push_back(e);
  }
  try {
    for (std::size_t k = 0; k < arity; ++k) {
      Expression& e = operands[k];
      if (e.result && !reads_seconds_in_place(form, k))
        e = add_node(*g.nodes[e.i].form->second_result, e, {}, at);
    }
    return add_node(form, operands, attributes, at);
  } catch (...) {  // remove the aliases again
    s.evaluator->truncate(nodes);
    s.truncate(nodes, args, attrs);
    throw;
  }
}

// Checks operands and shape and appends a node. `operand(k)` is operand k; state_of_first has
// checked operand 0. The node is written into reserved memory and appended after all checks. Its
// device is the device of its operands or, for a transfer and a node without operands, the device
// in `flags`.
template <bool transfer = false, class GetOperand>
inline Expression add_checked(GraphState& s, const OpForm& form, std::size_t arity,
                              GetOperand&& operand, const Dim** dims, std::uint32_t flags,
                              const Attributes& attributes, const SourceLocation& at) {
  GraphStore& g = s.store;
  const std::size_t id = g.nodes.size();
  g.nodes.reserve(id + 1);
  g.origins.reserve(id + 1);
  g.kinds.reserve(id + 1);
  const std::size_t first_arg = g.args.size();
  g.args.reserve(first_arg + arity);
  NodeId* const args = g.args.data() + first_arg;
  if ((id | first_arg | (g.attrs.size() + attributes.payload_size / 8)) >> 31) [[unlikely]]
    throw_too_large(form, at);
  std::uint32_t common = ~0u, seconds = 0;
  for (std::size_t k = 0; k < arity; ++k) {
    const Expression& e = operand(k);
    if (k > 0 && (e.state != &s || !s.holds(e.i, e.serial))) [[unlikely]]
      throw_bad_operand(form.name, k, e, &s, at);
    const Node& n = g.nodes[e.i];
    if (e.result) [[unlikely]] {
      if (e.result != 1 || !n.form->second_result) check_result(form.name, e, at);  // throws
      if (!transfer && !reads_seconds_in_place(form, k))
        return add_over_aliases(s, form, arity, operand, attributes, at);
      seconds |= std::uint32_t{1} << (Node::kFirstSecondBit + k);
    }
    dims[k] = &n.dim;
    args[k] = e.i;
    if constexpr (transfer) {
      flags |= n.flags & ~(Node::kDeviceBits | Node::kOnDevice);
    } else {
      flags |= n.flags;
      common &= n.flags;
    }
  }
  if (!transfer && arity > 0 && !same_device(flags, common)) [[unlikely]]
    throw_devices_differ(form.name, g, {args, arity}, at);
  const std::uint32_t inherited = Node::kDeviceBits | Node::kOnDevice | Node::kFromData;
  flags &= inherited | (form.passes_gradient ? Node::kNeedsGradient : 0);
  flags |= attributes.flags | seconds;
  if (arity == 0 && form.kind != Kind::parameter) flags |= Node::kFromData;
  if ((flags & Node::kOnDevice) && form.batch.value.first_pair == 0 && !form.sums &&
      (g.nodes[args[0]].flags & Node::kFromData)) [[unlikely]]
    flags |= Node::kOwnMatrix;
  const std::size_t first_attr = g.attrs.size();
  if (attributes.size) add_attributes(g.attrs, attributes);
  const std::uint64_t* const words = g.attrs.data() + first_attr;
  const std::size_t attribute_words = form.batch.value.attribute_bytes / 8;
  const std::uint32_t planning = flags & Node::kPlanningBits;
  // Word that selects a cache entry: the first batch attribute. A node with neither operands nor
  // batch attributes is a parameter, or an input, whose second word is its number of elements.
  std::uint64_t word = 0;
  if (attribute_words)
    word = words[0];
  else if (arity == 0 && attributes.size)
    word = words[attributes.size > 8];
  KnownKind found{&s.kinds.recent(form, dims, arity, word), false};
  found.known = found.entry->is_of(form, dims, arity, planning) &&
                found.entry->has_words(words, attribute_words);
  if (!found.known && found.entry->form) [[unlikely]]
    found = find_second(s, *found.entry, form, {dims, arity}, planning, words);
  const bool known = found.known;
  NodeKindTable::Recent& kind = *found.entry;
  const auto has_shape = [&] {
    return form.has_shape &&
           form.has_shape(*kind.shape, {{dims, arity}, attributes.bytes, attributes.payload});
  };
  if (!known || !(kind.complete || has_shape())) {
    try {
      find_shape(s, form, {dims, arity}, planning, attributes, words, kind, known, at);
    } catch (const RuleBroken& broken) {
      g.attrs.truncate(first_attr);
      throw_rule_broken(form.name, broken, g, {args, arity}, at);
    } catch (...) {
      g.attrs.truncate(first_attr);
      throw;
    }
  }
  new (g.nodes.data() + id) Node{&form,
                                 *kind.shape,
                                 static_cast<std::uint32_t>(first_arg),
                                 static_cast<std::uint32_t>(arity),
                                 static_cast<std::uint32_t>(first_attr),
                                 flags};
  g.kinds.data()[id] = kind.kind;
  const std::uint64_t serial = s.next_serial++;
  g.origins.data()[id] = {at.file, serial, at.line};
  g.args.take_reserved(arity);
  g.origins.take_reserved(1);
  g.kinds.take_reserved(1);
  g.nodes.take_reserved(1);
  const Expression made = make_handle(s, static_cast<NodeId>(id), serial);
  if (s.immediate) [[unlikely]]
    compute_now(s, made.i);
  return made;
}

// Node flags of a device.
std::uint32_t device_flags(GraphState& s, Device* device, const char* name,
                           const SourceLocation& at) {
  try {
    return s.device_flags(s.device_index(device));
  } catch (const DeviceError& e) {
    throw DeviceError(std::string(name) + ": " + std::string(device->name) + ": " + e.what() +
                          "\n  at " + to_string(at),
                      at);
  }
}

// The graph of operand 0, to which all operands must belong. The state is not accessed until
// operand 0 is known to be live: it may belong to a graph of another thread by now.
GraphState& state_of_first(const char* name, const Expression& e, const SourceLocation& at) {
  if (!e.state || !e.state->holds(e.i, e.serial)) [[unlikely]]
    throw_bad_operand(name, 0, e, nullptr, at);
  return *e.state;
}

// Adds a node with any number of operands.
template <class GetOperand>
inline Expression add_listed(const OpForm& form, std::size_t arity, GetOperand&& operand,
                             const Attributes& attributes, const SourceLocation& at) {
  if (arity == 0) [[unlikely]]
    throw_no_operand(form.name, at);
  GraphState& s = state_of_first(form.name, operand(0), at);
  s.dims.resize(arity);
  return add_checked(s, form, arity, operand, s.dims.data(), 0, attributes, at);
}

}  // namespace

// Two nodes fill one cache line where pointers have 64 bits, see docs/design/graph.md.
static_assert(sizeof(Node) == 16 + 2 * sizeof(void*));

std::size_t no_aux(const GraphStore&, const Node&) { return 0; }

Expression add_node(const OpForm& form, const Expression& x, const Attributes& attributes,
                    const SourceLocation& at) {
  const Dim* dims[1];
  return add_checked(
      state_of_first(form.name, x, at), form, 1,
      [&](std::size_t) -> const Expression& { return x; }, dims, 0, attributes, at);
}

Expression add_node(const OpForm& form, const Expression& x, const Expression& y,
                    const Attributes& attributes, const SourceLocation& at) {
  const Dim* dims[2];
  return add_checked(
      state_of_first(form.name, x, at), form, 2,
      [&](std::size_t k) -> const Expression& { return k == 0 ? x : y; }, dims, 0, attributes, at);
}

Expression add_node(const OpForm& form, std::span<const Expression> operands,
                    const Attributes& attributes, const SourceLocation& at) {
  return add_listed(
      form, operands.size(),
      [from = operands.data()](std::size_t k) -> const Expression& { return from[k]; }, attributes,
      at);
}

Expression add_node(const OpForm& form, std::span<const Expression> operands,
                    std::span<const Expression> more, const Attributes& attributes,
                    const SourceLocation& at) {
  return add_listed(
      form, operands.size() + more.size(),
      [from = operands.data(), first = operands.size(), then = more.data()](
          std::size_t k) -> const Expression& { return k < first ? from[k] : then[k - first]; },
      attributes, at);
}

Expression add_node(ComputationGraph& graph, const OpForm& form, const Attributes& attributes,
                    const SourceLocation& at, Device* device) {
  GraphState& s = state_of(graph);
  std::uint32_t flags = 0;
  if (device) [[unlikely]]
    flags = device_flags(s, device, form.name, at);
  else if (s.on_device)
    flags = s.device_flags(0);

  return add_checked(
      s, form, 0,
      [](std::size_t) -> const Expression& {
        static const Expression none;
        return none;
      },
      nullptr, flags, attributes, at);
}

Expression add_transfer(const OpForm& form, const Expression& x, Device* to,
                        const SourceLocation& at) {
  GraphState& s = state_of_first(form.name, x, at);
  const std::uint32_t flags = device_flags(s, to, form.name, at);
  const TransferAttr way{s.store.devices[(flags & Node::kDeviceBits) >> Node::kFirstDeviceBit],
                         device_of(x)};
  const Dim* dims[1];
  return add_checked<true>(
      s, form, 1, [&](std::size_t) -> const Expression& { return x; }, dims, flags, way, at);
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
    check_operand(s, name, k, xs[k], at);
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

}  // namespace dynet
