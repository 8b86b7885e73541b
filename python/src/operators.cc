#include <cmath>

#include "expressions.h"
#include "operations.h"

// Arithmetic operators, as type slots of the classes, which Python calls without a method lookup.

namespace dynet::python {
namespace {

// Operand of an operator.
struct Operand {
  bool is_number = false;
  float number = 0;
  Expression x;
};

bool read(nb::handle h, Operand& operand) {
  if (read_exactly(h, operand.x)) return true;
  if (PyFloat_Check(h.ptr()) || PyLong_Check(h.ptr())) {
    operand.is_number = true;
    operand.number = static_cast<float>(PyFloat_AsDouble(h.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
    return true;
  }
  if (read_derived(h, operand.x)) return true;
  // NumPy numbers, but not arrays.
  if (!nb::hasattr(h, "__float__") ||
      (nb::hasattr(h, "ndim") && nb::cast<int>(h.attr("ndim")) != 0))
    return false;
  operand.is_number = true;
  operand.number = static_cast<float>(PyFloat_AsDouble(h.ptr()));
  if (!PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

Expression apply(char op, const Operand& a, const Operand& b) {
  const SourceLocation at = here();
  const LocatedExpression x(a.x, at), y(b.x, at);
  switch (op) {
    case '+':
      return a.is_number ? a.number + y : b.is_number ? x + b.number : x + b.x;
    case '-':
      return a.is_number ? a.number - y : b.is_number ? x - b.number : x - b.x;
    case '*':
      return a.is_number ? a.number * y : b.is_number ? x * b.number : x * b.x;
    default:
      break;
  }
  // Numbers become inputs in the graph of the other operand, which must exist.
  if (a.is_number) b.x.dim(at);
  if (b.is_number) a.x.dim(at);
  if (op == '/') {
    if (b.is_number) return x / b.number;
    return LocatedExpression(a.is_number ? input(*b.x.pg, a.number, {}, at) : a.x, at) / b.x;
  }
  if (b.is_number && b.number == 2) return square(a.x, at);
  if (b.is_number) return pow(a.x, input(*a.x.pg, b.number, {}, at), at);
  if (a.is_number) return exp(y * std::log(a.number), at);
  return pow(a.x, b.x, at);
}

// x op y, where one operand may be a number; NotImplemented for other types.
nb::object arithmetic(char op, nb::handle x, nb::handle y) {
  Operand a, b;
  const bool reads_x = read(x, a);
  if (reads_x && read(y, b)) return nb::steal(object_of(apply(op, a, b)));
  // NumPy's own error would mention concatenation.
  if (const nb::handle other = reads_x ? y : x; nb::hasattr(other, "__array__"))
    throw nb::type_error("an array is no expression: dynet.inputTensor(array) makes one of it");
  return nb::borrow(Py_NotImplemented);
}

template <char op>
PyObject* binary(PyObject* x, PyObject* y) noexcept {
  return or_error([&] { return arithmetic(op, x, y); });
}

PyObject* power(PyObject* x, PyObject* y, PyObject*) noexcept { return binary<'^'>(x, y); }

PyObject* negative(PyObject* x) noexcept {
  return or_error([&] {
    Operand a;
    read(x, a);
    return nb::steal(object_of(-LocatedExpression(a.x, here())));
  });
}

int truth(PyObject*) noexcept { return 1; }

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

const PyType_Slot* operator_slots() {
  static const PyType_Slot slots[] = {
      {Py_nb_add, slot(binary<'+'>)},      {Py_nb_subtract, slot(binary<'-'>)},
      {Py_nb_multiply, slot(binary<'*'>)}, {Py_nb_true_divide, slot(binary<'/'>)},
      {Py_nb_power, slot(power)},          {Py_nb_negative, slot(negative)},
      {Py_nb_bool, slot(truth)},           {0, nullptr}};
  return slots;
}

}  // namespace dynet::python
