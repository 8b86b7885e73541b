#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bindings.h"
#include "dynet-like/dynet.h"

// Common code of the functions on expressions. Names and parameters are those of DyNet; docstrings
// have the formula and the shapes.

namespace dynet::python {

void bind_inputs(nb::module_& m);
void bind_elementwise(nb::module_& m);
void bind_arithmetic(nb::module_& m);
void bind_reductions(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_selection(nb::module_& m);
void bind_layers(nb::module_& m);
void bind_noise(nb::module_& m);
void bind_structures(nb::module_& m);

using Expressions = std::vector<Expression>;
/// Index argument: one index or several.
using OneOrMore = std::variant<std::int64_t, std::vector<std::int64_t>>;
/// Size argument: one size or several.
using Sizes = std::variant<unsigned, std::vector<unsigned>>;

/// Shape with these sizes and batch.
Dim shape_of(const Sizes& sizes, unsigned batch_size = 1);
/// Indices of dimensions from one or several.
std::vector<unsigned> dimensions(const Sizes& dims);
/// Gradient mode of a step function by name. Throws ArgumentError.
GradientMode gradient_mode(const char* who, const std::string& name);
/// Device with this name; for an empty name the device of the graph. Throws DeviceError.
DeviceArgument device_argument(std::string_view name);
/// Throws ArgumentError for a list without expressions.
void need_operands(const char* who, const Expressions& xs);
/// Converts numbers to indices. Throws IndexError for a negative or too large number.
std::vector<unsigned> indices_of(const char* who, const std::vector<std::int64_t>& numbers);
/// Converts numbers to indices; -1 means an unknown tag.
std::vector<unsigned> partly_known(const char* who, std::vector<std::int64_t> numbers);

/// An input of a graph with the values of a NumPy array.
Expression input_of_array(ComputationGraph& graph, nb::handle array);
/// Numbers in column-major order, from a NumPy array, nested lists, or one number.
std::vector<float> numbers_of(nb::handle object);

/// Calls `f` with an index or a list of indices.
template <class F>
Expression with_indices(const OneOrMore& indices, F f) {
  if (const auto* one = std::get_if<std::int64_t>(&indices)) return f(IndexArgument(*one));
  const auto& list = std::get<std::vector<std::int64_t>>(indices);
  return f(IndexArgument(list.begin(), list.end()));
}

/// Functions of one expression, `name(x)`.
struct Unary {
  const char* name;
  Expression (*function)(const Expression&, SourceLocation);
  const char* doc;
};
/// Functions of two expressions.
struct Binary {
  const char* name;
  Expression (*function)(const Expression&, const Expression&, SourceLocation);
  const char* first;   ///< name of the first parameter
  const char* second;  ///< name of the second parameter
  const char* doc;
};
void def(nb::module_& m, const Unary& u);
void def(nb::module_& m, const Binary& b);

}  // namespace dynet::python
