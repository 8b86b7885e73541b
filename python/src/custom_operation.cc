#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "arrays.h"
#include "dynet-like/ops/form.h"
#include "operations.h"

// Operations written in Python on arrays. A node refers to an object with methods `forward` and
// `backward`, which the graph keeps alive.

namespace dynet::python {
namespace {

using namespace nb::literals;

struct CustomAttr {
  PyObject* operation;
  const Dim* shape;  // shape of the value, owned by the graph
};

template <class T>
using Given = nb::ndarray<const T, nb::f_contig, nb::device::cpu>;

// Result of a method as an array of the node's scalar type with the shape of `d`.
template <class T>
Given<T> array_given(nb::handle object, const Dim& d, const char* method) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(
      object, "dtype"_a = sizeof(T) == 4 ? "float32" : "float64", "order"_a = "F");
  auto given = nb::cast<Given<T>>(array);
  if (!has_shape(array, d))
    throw ShapeError(std::string(method) + ": an operation in Python gave an array of shape " +
                     shape_text(array) + " where " + to_string(d) + " is needed");
  return given;
}

template <class T>
nb::list operands(const Batch<T>& b, std::size_t i) {
  nb::list arrays;
  for (std::size_t k = 0; k < b.node(i).arity; ++k)
    arrays.append(array_copy<T>(b.dim(k, i), b.in(k, i)));
  return arrays;
}

template <class T>
void custom_forward(const Batch<T>& b) {
  const nb::gil_scoped_acquire acquire;
  for (std::size_t i = 0; i < b.count; ++i) {
    const nb::handle op(b.template attr<CustomAttr>(i).operation);
    const nb::object y = op.attr("forward")(*operands(b, i));
    const Given<T> given = array_given<T>(y, b.dim(), "forward");
    std::copy_n(given.data(), given.size(), b.out(i));
  }
}

template <class T>
void custom_backward(const GradientBatch<T>& b) {
  const nb::gil_scoped_acquire acquire;
  // Computes the gradients of all nodes first, then stores them by operand, since two operands may
  // share memory.
  std::vector<nb::object> all;
  for (std::size_t i = 0; i < b.count; ++i) {
    const nb::handle op(b.template attr<CustomAttr>(i).operation);
    nb::object gradients = op.attr("backward")(array_copy<T>(b.dim(), b.d_out(i)), *operands(b, i));
    if (b.node(i).arity == 1 && !nb::isinstance<nb::tuple>(gradients) &&
        !nb::isinstance<nb::list>(gradients))
      gradients = nb::make_tuple(gradients);
    if (nb::len(gradients) != b.node(i).arity)
      throw ArgumentError("backward: an operation in Python gave " +
                          std::to_string(nb::len(gradients)) + " gradients for " +
                          std::to_string(b.node(i).arity) + " operands");
    all.push_back(gradients);
  }
  for (std::size_t k = 0; k < b.node(0).arity; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const to = b.d_in(k, i);
      if (!to) continue;
      const nb::object gradient = all[i][k];
      const std::size_t n = b.dim(k, i).size();
      if (gradient.is_none()) {
        if (!b.add(k, i)) std::fill_n(to, n, T(0));
        continue;
      }
      const Given<T> given = array_given<T>(gradient, b.dim(k, i), "backward");
      for (std::size_t j = 0; j < n; ++j)
        to[j] = b.add(k, i) ? to[j] + given.data()[j] : given.data()[j];
    }
}

const OpForm kCustom{.name = "custom_operation",
                     .shape = [](const Operands& x) { return *x.as<CustomAttr>().shape; },
                     .batch = BatchRule::each(sizeof(CustomAttr::operation)),
                     .reads = Reads::inputs,
                     .aux = no_aux,
                     .forward = DYNET_FORWARD(custom_forward),
                     .backward = DYNET_BACKWARD(custom_backward),
                     .cuda = CudaRule::never("it is written in Python")};

Expression custom_operation(nb::object operation, const Expressions& xs) {
  const SourceLocation at = here();
  need_operands("custom_operation", xs);
  nb::list shapes;
  for (const Expression& x : xs) {
    const Dim d = x.dim(at);
    nb::list sizes;
    for (const std::size_t n : array_shape(d)) sizes.append(n);
    shapes.append(nb::tuple(sizes));
  }
  const auto shape = nb::cast<std::vector<unsigned>>(operation.attr("shape")(*shapes));
  unsigned batch = 1;
  for (const Expression& x : xs) batch = std::max(batch, x.dim(at).bd);
  std::vector<long> sizes(shape.begin(), shape.end());
  if (batch > 1) {
    if (sizes.empty() || sizes.back() != static_cast<long>(batch))
      throw ShapeError(
          "custom_operation: the last size that `shape` gives must be the batch size " +
              std::to_string(batch),
          at);
    sizes.pop_back();
  }
  Graph* const graph = graph_of(xs[0]);
  if (!graph) throw StaleExpressionError("custom_operation: the graph is gone", at);
  const CustomAttr attr{operation.ptr(), graph->keep(operation, Dim(sizes, batch))};
  return add_node(kCustom, xs, attr, at);
}

}  // namespace

void bind_custom_operation(nb::module_& m) {
  m.def("_custom_operation", custom_operation, "operation"_a, "xs"_a);
}

}  // namespace dynet::python
