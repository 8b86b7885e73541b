#include "dynet-like/ops/inputs.h"

#include <bit>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/handle.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/graph/shape_table.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "kernels/cpu/inputs.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim input_shape(const Operands& x) {
  const auto& a = x.as<InputAttr>();
  const Dim d = shape::checked(a.dim);
  if (d.size() != a.count)
    shape::broken("the shape " + to_string(d) + " needs " + std::to_string(d.size()) +
                      " values, got " + std::to_string(a.count),
                  shape::Kind::argument);
  return d;
}

Dim sparse_input_shape(const Operands& x) {
  const auto& a = x.as<SparseInputAttr>();
  const Dim d = shape::checked(a.dim);
  if (a.indices != a.values)
    shape::broken("needs an index for each value" + shape::two(a.indices, a.values),
                  shape::Kind::argument);
  const auto* indices = static_cast<const unsigned*>(x.payload);
  for (std::uint64_t k = 0; k < a.indices; ++k)
    if (indices[k] >= d.size())
      shape::broken("index " + std::to_string(indices[k]) + " is outside the " +
                        std::to_string(d.size()) + " values of " + to_string(d),
                    shape::Kind::index);
  return d;
}

// `what()` is the name of the counted things, evaluated only for the error message.
template <class What>
unsigned batch_of(const Indices& indices, std::int64_t extreme, std::size_t size, What what) {
  const unsigned largest = largest_index(indices, extreme);
  if (indices.count == 0) shape::broken("needs at least one index", shape::Kind::argument);
  if (indices.source == Indices::in_node && largest >= size)
    shape::broken("index " + std::to_string(largest) + " is outside the " + std::to_string(size) +
                      " " + what(),
                  shape::Kind::index);
  return indices.count;
}

Dim one_hot_shape(const Operands& x) {
  const auto& a = x.as<OneHotAttr>();
  return shape::checked(
      Dim({static_cast<unsigned>(a.size)},
          batch_of(a.indices, a.extreme, a.size, [] { return std::string("elements"); })));
}

Dim lookup_shape(const Operands& x) {
  const auto& a = x.as<LookupAttr>();
  Dim d = a.table->dim;
  d.bd = batch_of(a.indices, a.extreme, a.table->rows,
                  [&] { return "rows of \"" + a.table->name + "\""; });
  return d;
}

bool has_lookup_shape(const Dim& shape, const Operands& x) {
  const auto& a = x.as<LookupAttr>();
  Dim d = a.table->dim;
  d.bd = a.indices.count;
  return a.indices.source == Indices::in_node && a.extreme >= 0 &&
         static_cast<std::uint64_t>(a.extreme) < a.table->rows && written_alike(shape, d);
}

// Scratch of a lookup: the rows that forward read, for backward.
std::size_t lookup_aux(const GraphStore&, const Node& n) { return n.dim.bd; }

Dim constant_shape(const Operands& x) { return shape::checked(x.as<ConstantAttr>().dim); }
Dim parameter_shape(const Operands& x) { return x.as<ParameterAttr>().parameter->full_dim(); }

constexpr OpForm source(const char* name, Dim (*shape)(const Operands&), Forward forward,
                        const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::each(),
          .reads = Reads::nothing,
          .aux = no_aux,
          .passes_gradient = false,
          .forward = forward,
          .backward = kNoBackward,
          .cuda = CudaRule::by(on_cuda)};
}

constexpr OpForm parameter_form(const char* name, bool gradient) {
  return {.name = name,
          .kind = Kind::parameter,
          .shape = parameter_shape,
          .batch = BatchRule::each(),
          .reads = Reads::nothing,
          .aux = no_aux,
          .passes_gradient = gradient,
          .forward = kNoForward,
          .backward = kNoBackward,
          .cuda = CudaRule::by_executor()};
}

constexpr OpForm lookup_form(const char* name, bool gradient) {
  return {.name = name,
          .kind = Kind::lookup,
          .shape = lookup_shape,
          .batch = BatchRule::each(sizeof(ParameterStorageBase*)),
          .reads = Reads::nothing,
          .aux = lookup_aux,
          .passes_gradient = gradient,
          .forward = kNoForward,
          .backward = kNoBackward,
          .cuda = CudaRule::by_executor(),
          .has_shape = has_lookup_shape};
}

const OpForm kInput =
    source("input", input_shape, DYNET_FORWARD(cpu::input_forward), &cuda::kInput);
const OpForm kSparseInput = source("input", sparse_input_shape,
                                   DYNET_FORWARD(cpu::sparse_input_forward), &cuda::kSparseInput);
const OpForm kOneHot =
    source("one_hot", one_hot_shape, DYNET_FORWARD(cpu::one_hot_forward), &cuda::kOneHot);
const OpForm kZeros =
    source("zeros", constant_shape, DYNET_FORWARD(cpu::constant_forward), &cuda::kConstant);
const OpForm kOnes =
    source("ones", constant_shape, DYNET_FORWARD(cpu::constant_forward), &cuda::kConstant);
const OpForm kConstant =
    source("constant", constant_shape, DYNET_FORWARD(cpu::constant_forward), &cuda::kConstant);
const OpForm kParameter = parameter_form("parameter", true);
const OpForm kConstParameter = parameter_form("const_parameter", false);
const OpForm kLookup = lookup_form("lookup", true);
const OpForm kConstLookup = lookup_form("const_lookup", false);

[[noreturn]] void throw_null(const char* op, SourceLocation at) {
  throw ArgumentError(std::string(op) + ": the pointer is null\n  at " + to_string(at), at);
}

// Source nodes; without a device they are on the graph's device.
Expression add_input(ComputationGraph& g, const InputAttr& attr, SourceLocation at,
                     Device* device) {
  return add_node(g, kInput, attr, at, device);
}
Expression add_input(ComputationGraph& g, const Dim& d, const float* data, std::size_t count,
                     SourceLocation at, Device* device) {
  return add_node(g, kInput,
                  {InputAttr{nullptr, count, InputAttr::in_node, d}, data, count * sizeof(float)},
                  at, device);
}
Expression add_sparse_input(ComputationGraph& g, const Dim& d, const std::vector<unsigned>& ids,
                            const std::vector<float>& data, float defdata, SourceLocation at,
                            Device* device) {
  std::vector<unsigned> payload(ids);
  for (const float value : data) payload.push_back(std::bit_cast<unsigned>(value));
  return add_node(g, kSparseInput,
                  {SparseInputAttr{defdata, ids.size(), data.size(), d, 0}, payload.data(),
                   payload.size() * sizeof(unsigned)},
                  at, device);
}
Expression add_one_hot(ComputationGraph& g, unsigned d, const IndexArgument& index,
                       SourceLocation at, Device* device) {
  return add_node(
      g, kOneHot,
      {OneHotAttr{index.indices(), index.extreme(), d}, index.payload(), index.payload_size()}, at,
      device);
}
Expression add_constant(ComputationGraph& g, const OpForm& form, const Dim& d, double value,
                        SourceLocation at, Device* device) {
  return add_node(g, form, ConstantAttr{value, d}, at, device);
}

InputAttr at_pointer(const real* s, SourceLocation at) {
  if (!s) throw_null("input", at);
  return {s, 1, InputAttr::at_pointer, Dim({1})};
}
InputAttr at_vector(const Dim& d, const std::vector<float>* data, SourceLocation at) {
  if (!data) throw_null("input", at);
  return {data, data->size(), InputAttr::at_vector, d};
}

void need_parameter(const OpForm& form, const ParameterHandle& p, SourceLocation at) {
  if (!p)
    throw ArgumentError(
        std::string(form.name) +
            ": the parameter is empty: it belongs to no ParameterCollection\n  at " + to_string(at),
        at);
}

// Nodes that depend only on frozen parameters need no gradient.
Expression add_stored(ComputationGraph& g, const OpForm& form, const ParameterStorageBase& p,
                      Attributes attributes, SourceLocation at) {
  if (p.updated && form.passes_gradient) attributes.flags |= Node::kNeedsGradient;
  return add_node(g, form, attributes, at, p.device);
}

// The latest node of a parameter whose bank the graph keeps.
GraphState::ParameterNode& latest_node(GraphState& s, const ParameterStorageBase& p) {
  std::size_t bank = 0;
  while (s.store.banks[bank].get() != p.bank) ++bank;
  if (s.parameter_nodes.size() <= bank) s.parameter_nodes.resize(bank + 1);
  std::vector<GraphState::ParameterNode>& nodes = s.parameter_nodes[bank];
  if (nodes.size() <= p.index) nodes.resize(p.index + 1);
  return nodes[p.index];
}

// Products are batched if they share the node of their matrix, so a parameter that is added again
// is the same node.
Expression add_parameter(ComputationGraph& g, const OpForm& form, const ParameterHandle& handle,
                         SourceLocation at) {
  need_parameter(form, handle, at);
  const ParameterStorageBase& p = *handle.shared();
  keep_bank(g, handle.shared());
  const auto add = [&] { return add_stored(g, form, p, ParameterAttr{handle.shared().get()}, at); };
  if (p.is_lookup) return add();
  GraphState& s = state_of(g);
  GraphState::ParameterNode& latest = latest_node(s, p);
  if (s.holds(latest.id, latest.serial)) {
    const Node& n = s.store.nodes[latest.id];
    if (n.form == &form && n.needs_gradient() == (p.updated && form.passes_gradient))
      return make_handle(s, latest.id, latest.serial);
  }
  const Expression added = add();
  latest = {added.i, added.serial};
  return added;
}

Expression add_lookup(ComputationGraph& g, const OpForm& form, const LookupParameter& p,
                      const IndexArgument& index, SourceLocation at) {
  need_parameter(form, p, at);
  keep_bank(g, p.shared());
  return add_stored(g, form, *p.shared(),
                    {LookupAttr{p.shared().get(), index.indices(), index.extreme()},
                     index.payload(), index.payload_size()},
                    at);
}

}  // namespace

OpFamily input_ops() {
  static constexpr const OpForm* kAll[] = {&kInput,  &kSparseInput, &kOneHot,    &kZeros,
                                           &kOnes,   &kConstant,    &kParameter, &kConstParameter,
                                           &kLookup, &kConstLookup};
  return kAll;
}

Expression input(ComputationGraph& g, real s, DeviceArgument device, SourceLocation at) {
  return add_input(g, Dim({1}), &s, 1, at, device.get("input", at));
}
Expression input(ComputationGraph& g, const real* s, DeviceArgument device, SourceLocation at) {
  return add_input(g, at_pointer(s, at), at, device.get("input", at));
}
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>& data,
                 DeviceArgument device, SourceLocation at) {
  return add_input(g, d, data.data(), data.size(), at, device.get("input", at));
}
Expression input(ComputationGraph& g, const Dim& d, std::initializer_list<float> data,
                 DeviceArgument device, SourceLocation at) {
  return add_input(g, d, data.begin(), data.size(), at, device.get("input", at));
}
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>* data,
                 DeviceArgument device, SourceLocation at) {
  return add_input(g, at_vector(d, data, at), at, device.get("input", at));
}
Expression input(ComputationGraph& g, const Dim& d, const std::vector<unsigned>& ids,
                 const std::vector<float>& data, float defdata, DeviceArgument device,
                 SourceLocation at) {
  return add_sparse_input(g, d, ids, data, defdata, at, device.get("input", at));
}
Expression one_hot(ComputationGraph& g, unsigned d, const IndexArgument& index,
                   DeviceArgument device, SourceLocation at) {
  return add_one_hot(g, d, index, at, device.get("one_hot", at));
}
Expression zeros(ComputationGraph& g, const Dim& d, DeviceArgument device, SourceLocation at) {
  return add_constant(g, kZeros, d, 0.0, at, device.get("zeros", at));
}
Expression zeroes(ComputationGraph& g, const Dim& d, DeviceArgument device, SourceLocation at) {
  return zeros(g, d, device, at);
}
Expression ones(ComputationGraph& g, const Dim& d, DeviceArgument device, SourceLocation at) {
  return add_constant(g, kOnes, d, 1.0, at, device.get("ones", at));
}
Expression constant(ComputationGraph& g, const Dim& d, float value, DeviceArgument device,
                    SourceLocation at) {
  return add_constant(g, kConstant, d, value, at, device.get("constant", at));
}

Expression parameter(ComputationGraph& g, const Parameter& p, SourceLocation at) {
  return add_parameter(g, kParameter, p, at);
}
Expression parameter(ComputationGraph& g, const LookupParameter& p, SourceLocation at) {
  return add_parameter(g, kParameter, p, at);
}
Expression const_parameter(ComputationGraph& g, const Parameter& p, SourceLocation at) {
  return add_parameter(g, kConstParameter, p, at);
}
Expression const_parameter(ComputationGraph& g, const LookupParameter& p, SourceLocation at) {
  return add_parameter(g, kConstParameter, p, at);
}

Expression lookup(ComputationGraph& g, const LookupParameter& p, const IndexArgument& index,
                  SourceLocation at) {
  return add_lookup(g, kLookup, p, index, at);
}
Expression const_lookup(ComputationGraph& g, const LookupParameter& p, const IndexArgument& index,
                        SourceLocation at) {
  return add_lookup(g, kConstLookup, p, index, at);
}

}  // namespace dynet
