#include "expressions.h"
#include "operations.h"

// Arithmetic operators, as type slots of the classes, which Python calls without a method lookup.

namespace dynet::python {
namespace {

// Operand of an operator: an expression, a number, or an array.
struct Operand {
  bool is_number = false;
  float number = 0;
  Expression x;
  nb::handle array;
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
  if (nb::hasattr(h, "__array__") && nb::getattr(h, "ndim", nb::int_(1)).not_equal(nb::int_(0))) {
    operand.array = h;
    return true;
  }
  if (!nb::hasattr(h, "__float__")) return false;  // numbers of NumPy
  operand.is_number = true;
  operand.number = static_cast<float>(PyFloat_AsDouble(h.ptr()));
  if (!PyErr_Occurred()) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  return false;
}

// As NumPy's: vectors are rows on the left, columns on the right.
Expression matrix_product(const Expression& x, const Expression& y, SourceLocation at) {
  if (x.dim(at).nd != 1) return LocatedExpression(x, at) * y;
  return y.dim(at).nd == 1 ? dot_product(x, y, at)
                           : LocatedExpression(transpose(y, {1, 0}, at), at) * x;
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
    case '@':
      return matrix_product(a.x, b.x, at);
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
  if (a.is_number) return pow(input(*b.x.pg, a.number, {}, at), b.x, at);
  return pow(a.x, b.x, at);
}

bool is_table(nb::handle h) { return nb::isinstance<LookupParameter>(h); }
Expression transposed_table(const Expression& rows_last) {
  const SourceLocation at = here();
  return rows_last.dim(at).nd == 2 ? transpose(rows_last, {1, 0}, at) : rows_last;
}

// An input in the graph of the other operand.
void make_input(Operand& a, const Operand& other) {
  if (!a.array) return;
  other.x.dim(here());  // the graph must exist
  a.x = input_of_array(*other.x.pg, a.array);
}

// x op y, where one operand may be a number or an array; NotImplemented for other types.
nb::object arithmetic(char op, nb::handle x, nb::handle y) {
  Operand a, b;
  if (!read(x, a) || !read(y, b) || (op == '@' && (a.is_number || b.is_number)))
    return nb::borrow(Py_NotImplemented);
  make_input(a, b);
  make_input(b, a);
  if (op == '@') {  // as an array a table has its rows first
    if (is_table(x)) a.x = transposed_table(a.x);
    if (is_table(y)) b.x = transposed_table(b.x);
  }
  return nb::steal(object_of(apply(op, a, b)));
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

double number_of(PyObject* x) {
  Operand a;
  read(x, a);
  return static_cast<double>(as_scalar(value_of(a.x, false)));
}
PyObject* to_float(PyObject* x) noexcept {
  return or_error([&] { return nb::object(nb::float_(number_of(x))); });
}
PyObject* to_int(PyObject* x) noexcept {
  return or_error([&] { return nb::steal(PyLong_FromDouble(number_of(x))); });
}

int truth(PyObject*) noexcept { return 1; }

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

const PyType_Slot* operator_slots() {
  static const PyType_Slot slots[] = {{Py_nb_add, slot(binary<'+'>)},
                                      {Py_nb_subtract, slot(binary<'-'>)},
                                      {Py_nb_multiply, slot(binary<'*'>)},
                                      {Py_nb_true_divide, slot(binary<'/'>)},
                                      {Py_nb_power, slot(power)},
                                      {Py_nb_negative, slot(negative)},
                                      {Py_nb_bool, slot(truth)},
                                      {Py_nb_matrix_multiply, slot(binary<'@'>)},
                                      {Py_nb_float, slot(to_float)},
                                      {Py_nb_int, slot(to_int)},
                                      {0, nullptr}};
  return slots;
}

}  // namespace dynet::python
