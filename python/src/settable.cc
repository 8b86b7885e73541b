#include "settable.h"

#include <algorithm>
#include <string>

#include "dynet-like/attributes/inputs.h"
#include "dynet-like/attributes/selection.h"
#include "dynet-like/graph/handle.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/ops/families.h"
#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

const Node& node_of(const Expression& e, const char* who) {
  return live_state(e, who, here()).store.nodes[e.i];
}

bool is(const Node& n, const char* name) { return std::string_view(n.form->name) == name; }

// Writable payload of a node: the graph owns it, and the caller invalidates all values.
template <class A, class P>
P* writable(const Expression& e, const Node& n) {
  return const_cast<P*>(e.state->store.payload<A, P>(n));
}

template <class T>
void write(const Expression& e, const std::vector<T>& from, T* to) {
  std::copy(from.begin(), from.end(), to);
  e.pg->invalidate();
}

[[noreturn]] void fail(const char* who, const std::string& rule) {
  throw ArgumentError(std::string(who) + ": " + rule, here());
}

void need_count(const char* who, std::size_t given, std::size_t needed) {
  if (given != needed)
    fail(who, "needs " + std::to_string(needed) + " values, as when the expression was made, not " +
                  std::to_string(given));
}

void set_indices(const char* who, const Expression& e, const std::vector<std::int64_t>& given,
                 const Indices& held, std::size_t limit, unsigned* to) {
  need_count(who, given.size(), held.count);
  const std::vector<unsigned> indices = indices_of(who, given);
  for (const unsigned i : indices)
    if (i >= limit)
      throw IndexError(std::string(who) + ": index " + std::to_string(i) + " is outside the " +
                           std::to_string(limit) + " there are",
                       here());
  write(e, indices, to);
}

std::vector<std::int64_t> as_list(const OneOrMore& v) {
  if (const auto* one = std::get_if<std::int64_t>(&v)) return {*one};
  return std::get<std::vector<std::int64_t>>(v);
}

void set_index(const Expression& e, const OneOrMore& index) {
  const Node& n = node_of(e, "set_index");
  if (!is(n, "pick")) fail("set_index", "the expression is no pick(...)");
  const auto& a = e.state->store.attr<PickAttr>(n);
  const Node& x = e.state->store.nodes[e.state->store.args_of(n)[0]];
  set_indices("set_index", e, as_list(index), a.indices, x.dim[static_cast<unsigned>(a.dimension)],
              writable<PickAttr, unsigned>(e, n));
}

// A list of integers means indices for a lookup and values for an input.
void set(const Expression& e, nb::handle value) {
  const Node& n = node_of(e, "set");
  const GraphStore& store = e.state->store;
  if (is(n, "lookup") || is(n, "const_lookup")) {
    const auto& a = store.attr<LookupAttr>(n);
    set_indices("set", e, as_list(nb::cast<OneOrMore>(value)), a.indices, a.table->rows,
                writable<LookupAttr, unsigned>(e, n));
    return;
  }
  if (is(n, "pick")) return set_index(e, nb::cast<OneOrMore>(value));
  if (!is(n, "input")) fail("set", "the expression is no input and no lookup");
  const std::vector<float> numbers = numbers_of(value);
  if (n.form == input_ops()[0]) {
    need_count("set", numbers.size(), store.attr<InputAttr>(n).count);
    write(e, numbers, writable<InputAttr, float>(e, n));
  } else {
    const auto& a = store.attr<SparseInputAttr>(n);
    need_count("set", numbers.size(), a.values);
    write(e, numbers, writable<SparseInputAttr, float>(e, n) + a.indices);
  }
}

}  // namespace

void bind_settable(nb::handle expression_class) {
  const auto method = [&](const char* name, auto f, const char* parameter, const char* doc) {
    nb::setattr(expression_class, name,
                nb::cpp_function(f, nb::name(name), nb::scope(expression_class), nb::is_method(),
                                 nb::arg(parameter), doc));
  };
  method(
      "set", set, "value",
      "New values for an input, column-major and as many as before, or new indices for a lookup;\n"
      "all values of the graph are computed again when they are asked for.\n"
      "ValueError for another expression or number, IndexError for a row that is not there.");
  method("set_index", set_index, "index",
         "A new index, or as many as before, for `pick`. Otherwise as `set`.");
}

}  // namespace dynet::python
