#include "dynet-like/ops/inputs.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/inputs.h"

namespace dynet {
namespace {

using cpu::ConstantAttr;
using cpu::InputAttr;
using cpu::OneHotAttr;

Dim input_shape(const Operands& x) {
  const auto& a = x.as<InputAttr>();
  const Dim d = shape::checked(a.dim);
  if (d.size() != a.count)
    throw RuleBroken{RuleBroken::Kind::argument, "the shape " + to_string(d) + " needs " +
                                                     std::to_string(d.size()) + " values, got " +
                                                     std::to_string(a.count)};
  return d;
}

// `what()` names the things that are counted; asked only where an index is outside of them.
template <class What>
Dim indices_checked(const Operands& x, const Indices& indices, std::size_t size, What what) {
  if (indices.count == 0) throw RuleBroken{RuleBroken::Kind::argument, "needs at least one index"};
  if (indices.source == Indices::in_node) {
    const auto* v = static_cast<const unsigned*>(x.payload);
    for (std::uint32_t i = 0; i < indices.count; ++i)
      if (v[i] >= size)
        throw RuleBroken{RuleBroken::Kind::index, "index " + std::to_string(v[i]) +
                                                      " is outside the " + std::to_string(size) +
                                                      " " + what()};
  }
  return Dim({1}, indices.count);
}

Dim one_hot_shape(const Operands& x) {
  const auto& a = x.as<OneHotAttr>();
  Dim d = indices_checked(x, a.indices, a.size, [] { return std::string("elements"); });
  d.d[0] = static_cast<unsigned>(a.size);
  return shape::checked(d);
}

Dim lookup_shape(const Operands& x) {
  const auto& a = x.as<LookupAttr>();
  const Dim batch = indices_checked(x, a.indices, a.table->rows,
                                    [&] { return "rows of \"" + a.table->name + "\""; });
  Dim d = a.table->dim;
  d.bd = batch.bd;
  return d;
}

// A lookup keeps the rows that it read, for the backward pass, whatever becomes of the pointers.
std::size_t lookup_aux(const GraphStore&, const Node& n) { return n.dim.bd; }

Dim constant_shape(const Operands& x) { return shape::checked(x.as<ConstantAttr>().dim); }
Dim parameter_shape(const Operands& x) { return x.as<ParameterAttr>().parameter->full_dim(); }

constexpr OpForm source(const char* name, Dim (*shape)(const Operands&), Forward forward) {
  return {.name = name,
          .kind = Kind::compute,
          .shape = shape,
          .batch = BatchRule::each(),
          .reads = Reads::nothing,
          .aux = no_aux,
          .passes_gradient = false,
          .forward = forward,
          .backward = kNoBackward};
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
          .backward = kNoBackward};
}

constexpr OpForm lookup_form(const char* name, bool gradient) {
  return {.name = name,
          .kind = Kind::lookup,
          .shape = lookup_shape,
          .batch = BatchRule::each(sizeof(ParameterStorage*)),
          .reads = Reads::nothing,
          .aux = lookup_aux,
          .passes_gradient = gradient,
          .forward = kNoForward,
          .backward = kNoBackward};
}

const OpForm kInput = source("input", input_shape, DYNET_FORWARD(cpu::input_forward));
const OpForm kOneHot = source("one_hot", one_hot_shape, DYNET_FORWARD(cpu::one_hot_forward));
const OpForm kZeros = source("zeros", constant_shape, DYNET_FORWARD(cpu::constant_forward));
const OpForm kOnes = source("ones", constant_shape, DYNET_FORWARD(cpu::constant_forward));
const OpForm kConstant = source("constant", constant_shape, DYNET_FORWARD(cpu::constant_forward));
const OpForm kParameter = parameter_form("parameter", true);
const OpForm kConstParameter = parameter_form("const_parameter", false);
const OpForm kLookup = lookup_form("lookup", true);
const OpForm kConstLookup = lookup_form("const_lookup", false);

[[noreturn]] void throw_null(const char* op, SourceLocation at) {
  throw ArgumentError(std::string(op) + ": the pointer is null\n  at " + to_string(at), at);
}

Expression add_constant(ComputationGraph& g, const OpForm& form, const Dim& d, double value,
                        SourceLocation at) {
  return add_node(g, form, ConstantAttr{value, d}, at);
}

Expression add_parameter(ComputationGraph& g, const OpForm& form, const ParameterHandle& p,
                         SourceLocation at) {
  if (!p)
    throw ArgumentError(
        std::string(form.name) +
            ": the parameter is empty: it belongs to no ParameterCollection\n  at " + to_string(at),
        at);
  keep_bank(g, p.shared());
  return add_node(g, form, ParameterAttr{p.shared().get()}, at);
}

}  // namespace

OpFamily input_ops() {
  static constexpr const OpForm* kAll[] = {&kInput,          &kOneHot,   &kZeros,
                                           &kOnes,           &kConstant, &kParameter,
                                           &kConstParameter, &kLookup,   &kConstLookup};
  return kAll;
}

Expression input(ComputationGraph& g, real s, SourceLocation at) {
  return add_node(g, kInput, {InputAttr{nullptr, 1, InputAttr::in_node, Dim({1})}, &s, sizeof s},
                  at);
}
Expression input(ComputationGraph& g, const real* s, SourceLocation at) {
  if (!s) throw_null("input", at);
  return add_node(g, kInput, InputAttr{s, 1, InputAttr::at_pointer, Dim({1})}, at);
}
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>& data,
                 SourceLocation at) {
  return add_node(g, kInput,
                  {InputAttr{nullptr, data.size(), InputAttr::in_node, d}, data.data(),
                   data.size() * sizeof(float)},
                  at);
}
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>* data,
                 SourceLocation at) {
  if (!data) throw_null("input", at);
  return add_node(g, kInput, InputAttr{data, data->size(), InputAttr::at_vector, d}, at);
}

Expression one_hot(ComputationGraph& g, unsigned d, unsigned index, SourceLocation at) {
  const IndexList list = IndexList::copy(&index, 1);
  return add_node(g, kOneHot, {OneHotAttr{list.indices, d}, list.values, list.payload_size()}, at);
}
Expression one_hot(ComputationGraph& g, unsigned d, const std::vector<unsigned>& indices,
                   SourceLocation at) {
  const IndexList list = IndexList::copy(indices);
  return add_node(g, kOneHot, {OneHotAttr{list.indices, d}, list.values, list.payload_size()}, at);
}

Expression zeros(ComputationGraph& g, const Dim& d, SourceLocation at) {
  return add_constant(g, kZeros, d, 0.0, at);
}
Expression ones(ComputationGraph& g, const Dim& d, SourceLocation at) {
  return add_constant(g, kOnes, d, 1.0, at);
}
Expression constant(ComputationGraph& g, const Dim& d, float value, SourceLocation at) {
  return add_constant(g, kConstant, d, value, at);
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

namespace detail {

Expression lookup(ComputationGraph& g, const LookupParameter& p, const IndexList& indices,
                  bool constant, SourceLocation at) {
  const OpForm& form = constant ? kConstLookup : kLookup;
  if (!p)
    throw ArgumentError(
        std::string(form.name) +
            ": the parameter is empty: it belongs to no ParameterCollection\n  at " + to_string(at),
        at);
  keep_bank(g, p.shared());
  return add_node(
      g, form,
      {LookupAttr{p.shared().get(), indices.indices}, indices.values, indices.payload_size()}, at);
}

IndexList pointed(const char* op, const unsigned* p, SourceLocation at) {
  if (!p) throw_null(op, at);
  return IndexList::at(p);
}
IndexList pointed(const char* op, const std::vector<unsigned>* p, SourceLocation at) {
  if (!p) throw_null(op, at);
  return IndexList::at(p);
}
void throw_bad_index(const char* op, long long index, SourceLocation at) {
  throw IndexError(std::string(op) + ": " + std::to_string(index) +
                       " is not an index: it must be from 0 to 4294967295\n  at " + to_string(at),
                   at);
}

}  // namespace detail

Expression lookup(ComputationGraph& g, const LookupParameter& p, const unsigned* index,
                  SourceLocation at) {
  return detail::lookup(g, p, detail::pointed("lookup", index, at), false, at);
}
Expression lookup(ComputationGraph& g, const LookupParameter& p,
                  const std::vector<unsigned>& indices, SourceLocation at) {
  return detail::lookup(g, p, IndexList::copy(indices), false, at);
}
Expression lookup(ComputationGraph& g, const LookupParameter& p,
                  const std::vector<unsigned>* indices, SourceLocation at) {
  return detail::lookup(g, p, detail::pointed("lookup", indices, at), false, at);
}
Expression const_lookup(ComputationGraph& g, const LookupParameter& p, const unsigned* index,
                        SourceLocation at) {
  return detail::lookup(g, p, detail::pointed("const_lookup", index, at), true, at);
}
Expression const_lookup(ComputationGraph& g, const LookupParameter& p,
                        const std::vector<unsigned>& indices, SourceLocation at) {
  return detail::lookup(g, p, IndexList::copy(indices), true, at);
}
Expression const_lookup(ComputationGraph& g, const LookupParameter& p,
                        const std::vector<unsigned>* indices, SourceLocation at) {
  return detail::lookup(g, p, detail::pointed("const_lookup", indices, at), true, at);
}

}  // namespace dynet
