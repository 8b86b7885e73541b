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

// Common parts of the functions on expressions. A name and its parameters are DyNet's; a docstring
// has the formula and the shapes.

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
/// Indices as a program gives them: one, or several.
using OneOrMore = std::variant<std::int64_t, std::vector<std::int64_t>>;
/// Sizes as a program gives them: one, or several.
using Sizes = std::variant<unsigned, std::vector<unsigned>>;

/// The shape of these sizes and a batch.
Dim shape_of(const Sizes& sizes, unsigned batch_size = 1);
/// The indices of dimensions, which may be one.
std::vector<unsigned> dimensions(const Sizes& dims);
/// Gradients of a step function, by the name of the mode in C++. Throws ArgumentError.
GradientMode gradient_mode(const char* who, const std::string& name);
/// The device of this name; of none, where the graph is. Throws DeviceError.
DeviceArgument device_argument(std::string_view name);
/// Throws ArgumentError for a list without expressions.
void need_operands(const char* who, const Expressions& xs);
/// Numbers that have to be indices. Throws IndexError for one that is none.
std::vector<unsigned> indices_of(const char* who, const std::vector<std::int64_t>& numbers);
/// The same where -1 is a tag that is not known.
std::vector<unsigned> partly_known(const char* who, std::vector<std::int64_t> numbers);

/// Numbers in column-major order, of a NumPy array, of lists in lists, or of one number.
std::vector<float> numbers_of(nb::handle object);

/// `f` of an index or of a list of them.
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
  const char* first;   ///< names of the parameters
  const char* second;  ///< of the second
  const char* doc;
};
void def(nb::module_& m, const Unary& u);
void def(nb::module_& m, const Binary& b);

}  // namespace dynet::python
