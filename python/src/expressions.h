#pragma once

#include <nanobind/stl/vector.h>

#include <string>

#include "arrays.h"

// Methods of expressions, and of parameters as expressions of the current graph.

namespace dynet::python {

/// The value, computed if missing, or recomputed with all earlier nodes. Releases the interpreter
/// lock.
Tensor value_of(const Expression& e, bool recalculate);
/// A number, a list of numbers for a vector, or an array.
nb::object value_as_object(const Tensor& t);
/// Elements of x by an index, a slice, or a tuple of them for the first dimensions and the batch.
Expression subscript(const Expression& x, nb::handle key);
/// Gradient of the last backward pass. Throws GradientError if there is none.
nb::object gradient_of(const Expression& e);
nb::object dlpack(const Expression& e);
nb::object as_numpy(const Expression& e, nb::handle dtype);

template <class T>
void bind_values(nb::class_<T>& c) {
  using namespace nb::literals;
  c.def(
       "value",
       [](const T& x, Flag recalculate) {
         return value_as_object(value_of(expression_of(x), recalculate));
       },
       "recalculate"_a = false,
       nb::sig("def value(self, recalculate: bool = False) -> float | list[float] | "
               "dynet.types.Float64Array"),
       "The value: a float for one number, a list for a vector, otherwise an array as `npvalue`.\n"
       "Computed if need be, with all nodes made before it; with `recalculate` in any case.\n\n"
       ">>> dy.scalarInput(3).value(), dy.inputVector([1, 2]).value()\n"
       "(3.0, [1.0, 2.0])\n"
       ">>> dy.inputTensor([[1, 2], [3, 4]]).value()\n"
       "array([[1., 2.],\n"
       "       [3., 4.]])")
      .def(
          "item", [](const T& x) { return as_scalar(value_of(expression_of(x), false)); },
          "The value of one number, as `float(x)`. ValueError if there are more.\n\n"
          ">>> dy.squared_norm(dy.inputVector([3, 4])).item()\n"
          "25.0")
      .def_prop_ro(
          "T",
          [](const T& x) {  // of a table, whose expression has the rows last, the expression itself
            const Expression e = expression_of(x);
            return std::is_same_v<T, LookupParameter> ? e : transpose(e, {1, 0}, here());
          },
          "The transposed matrix.")
      .def(
          "npvalue",
          [](const T& x, Flag recalculate) {
            const Tensor t = value_of(expression_of(x), recalculate);
            return array64_of(t.d, t.v);
          },
          "recalculate"_a = false,
          nb::sig("def npvalue(self, recalculate: bool = False) -> "
                  "dynet.types.Float64Array"),
          "The value as an array of float64: its shape, and the batch as last dimension.\n\n"
          ">>> dy.inputVector([1, 2]).npvalue()\n"
          "array([1., 2.])\n"
          ">>> dy.zeros((3, 2), batch_size=4).npvalue().shape\n"
          "(3, 2, 4)")
      .def(
          "scalar_value",
          [](const T& x, Flag recalculate) {
            return as_scalar(value_of(expression_of(x), recalculate));
          },
          "recalculate"_a = false, "The value of one number. ValueError if there are more.")
      .def(
          "vec_value",
          [](const T& x, Flag recalculate) {
            return as_vector(value_of(expression_of(x), recalculate));
          },
          "recalculate"_a = false, "All numbers as a list, in column-major order.")
      .def(
          "tensor_value",
          [](const T& x, Flag recalculate) {
            const Tensor t = value_of(expression_of(x), recalculate);
            return nb::module_::import_("dynet.tensor").attr("Tensor")(array64_of(t.d, t.v));
          },
          "recalculate"_a = false,
          nb::sig("def tensor_value(self, recalculate: bool = False) -> dynet.tensor.Tensor"),
          "The value as a Tensor.")
      .def(
          "numpy",
          [](const T& x) {
            const Tensor t = value_of(expression_of(x), false);
            return array32_of(t.d, t.v);
          },
          nb::sig("def numpy(self) -> dynet.types.Float32Array"),
          "The value as an array of float32.")
      .def(
          "forward", [](const T& x, Flag recalculate) { value_of(expression_of(x), recalculate); },
          "recalculate"_a = false, "Computes the value.")
      .def(
          "gradient", [](const T& x) { return gradient_of(expression_of(x)); },
          nb::sig("def gradient(self) -> dynet.types.Float64Array"),
          "The gradient of the last backward pass, as `npvalue`. RuntimeError if there was "
          "none.\n\n"
          ">>> x = dy.inputVector([1, 2])\n"
          ">>> dy.squared_norm(x).backward(full=True)\n"
          ">>> x.gradient()\n"
          "array([2., 4.])")
      .def(
          "backward",
          [](const T& x, Flag full) {
            const Expression e = expression_of(x);
            const SourceLocation at = here();
            e.dim(at);  // throws for a stale expression, whose graph may be destroyed
            const Unlocked unlocked(e);
            e.pg->backward(e, full, at);
          },
          "full"_a = false,
          "Adds the gradient of this number to those of all parameters that it depends on. With\n"
          "`full` constants get gradients too. ValueError unless it is one number.\n\n"
          ">>> w = pc.add_parameters(2, init=3)\n"
          ">>> dy.squared_norm(w).backward()\n"
          ">>> w.grad_as_array()\n"
          "array([6., 6.])")
      .def(
          "__array__",
          [](const T& x, nb::handle dtype, nb::handle) {
            return as_numpy(expression_of(x), dtype);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                  "typing.Any"))
      .def(
          "__dlpack__", [](const T& x, const nb::kwargs&) { return dlpack(expression_of(x)); },
          nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__", [](const T&) { return nb::make_tuple(1, 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"));
}

/// Makes NumPy return NotImplemented for `array * x`.
inline void refuse_arrays(nb::handle c) { nb::setattr(c, "__array_ufunc__", nb::none()); }

}  // namespace dynet::python
