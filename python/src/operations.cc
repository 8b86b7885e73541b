#include "operations.h"

#include <algorithm>

namespace dynet::python {

Dim shape_of(const Sizes& sizes, unsigned batch_size) {
  if (const auto* one = std::get_if<unsigned>(&sizes)) return Dim({*one}, batch_size);
  const auto& list = std::get<std::vector<unsigned>>(sizes);
  return Dim(std::vector<long>(list.begin(), list.end()), batch_size);
}

std::vector<unsigned> dimensions(const Sizes& dims) {
  if (const auto* one = std::get_if<unsigned>(&dims)) return {*one};
  return std::get<std::vector<unsigned>>(dims);
}

GradientMode gradient_mode(const char* who, const std::string& name) {
  if (name == "zero_gradient") return zero_gradient;
  if (name == "straight_through_gradient") return straight_through_gradient;
  const SourceLocation at = here();
  throw ArgumentError(std::string(who) +
                          ": gradient_mode is \"zero_gradient\" or "
                          "\"straight_through_gradient\", not \"" +
                          name + "\"",
                      at);
}

DeviceArgument device_argument(std::string_view name) {
  if (name.empty()) return {};
  return get_device_manager()->get_global_device(std::string(name), here());
}

void need_operands(const char* who, const Expressions& xs) {
  if (xs.empty()) throw ArgumentError(std::string(who) + ": the list is empty", here());
}

std::vector<unsigned> indices_of(const char* who, const std::vector<std::int64_t>& numbers) {
  std::vector<unsigned> indices;
  indices.reserve(numbers.size());
  for (const std::int64_t n : numbers) {
    if (n < 0 || n > std::int64_t{~0u})
      throw IndexError(std::string(who) + ": " + std::to_string(n) + " is no index", here());
    indices.push_back(static_cast<unsigned>(n));
  }
  return indices;
}

std::vector<unsigned> partly_known(const char* who, std::vector<std::int64_t> numbers) {
  for (std::int64_t& n : numbers)
    if (n == -1) n = kAnyTag;
  return indices_of(who, numbers);
}

void def(nb::module_& m, const Unary& u) {
  m.def(
      u.name, [f = u.function](const Expression& x) { return f(x, here()); }, nb::arg("x"), u.doc);
}

void def(nb::module_& m, const Binary& b) {
  m.def(
      b.name,
      [f = b.function](const Expression& x, const Expression& y) { return f(x, y, here()); },
      nb::arg(b.first), nb::arg(b.second), b.doc);
}

void bind_operations(nb::module_& m) {
  bind_inputs(m);
  bind_elementwise(m);
  bind_arithmetic(m);
  bind_reductions(m);
  bind_softmax(m);
  bind_losses(m);
  bind_selection(m);
  bind_layers(m);
  bind_noise(m);
  bind_structures(m);
}

}  // namespace dynet::python
