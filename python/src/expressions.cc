#include "expressions.h"

#include <nanobind/ndarray.h>

#include <cmath>
#include <sstream>

#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

// An operand of an operator.
struct Operand {
  bool is_number = false;
  float number = 0;
  Expression x;
};

// The classes, looked up once.
struct Classes {
  nb::handle expression = nb::type<Expression>();
  nb::handle parameter = nb::type<Parameter>();
  nb::handle table = nb::type<LookupParameter>();
};
const Classes& classes() {
  static const Classes all;
  return all;
}

// An expression, or a parameter as one, of these very classes.
bool read_exactly(nb::handle h, Expression& x) {
  const Classes& all = classes();
  const nb::handle type = h.type();
  if (type.is(all.expression))
    x = *nb::inst_ptr<Expression>(h);
  else if (type.is(all.parameter))
    x = expression_of(*nb::inst_ptr<Parameter>(h));
  else if (type.is(all.table))
    x = expression_of(*nb::inst_ptr<LookupParameter>(h));
  else
    return false;
  return true;
}

// The same of a class that the program has derived.
bool read_derived(nb::handle h, Expression& x) {
  if (nb::isinstance<Expression>(h))
    x = nb::cast<const Expression&>(h);
  else if (nb::isinstance<Parameter>(h))
    x = expression_of(nb::cast<const Parameter&>(h));
  else
    return false;
  return true;
}

bool read_expression(nb::handle h, Expression& x) {
  return read_exactly(h, x) || read_derived(h, x);
}

bool read(nb::handle h, Operand& operand) {
  if (read_exactly(h, operand.x)) return true;
  if (PyFloat_Check(h.ptr()) || PyLong_Check(h.ptr())) {
    operand.is_number = true;
    operand.number = static_cast<float>(PyFloat_AsDouble(h.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
    return true;
  }
  if (read_derived(h, operand.x)) return true;
  // Numbers of NumPy, but no arrays of them.
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
  // Numbers become inputs of the other operand's graph, which must be there.
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

// Index i of n, which may count from the end. Throws IndexError.
unsigned place(std::int64_t i, unsigned n, SourceLocation at) {
  if (i < -std::int64_t{n} || i >= std::int64_t{n})
    throw IndexError("x[" + std::to_string(i) + "]: there are only " + std::to_string(n), at);
  return static_cast<unsigned>(i < 0 ? i + n : i);
}

Expression along(const Expression& x, unsigned d, nb::handle key, bool& keeps, SourceLocation at) {
  const unsigned n = x.dim(at)[d];
  keeps = nb::isinstance<nb::slice>(key);
  if (!keeps) return pick(x, place(nb::cast<std::int64_t>(key), n, at), d, at);
  const auto [begin, end, step, count] = nb::cast<nb::slice>(key).compute(n);
  if (step <= 0) throw IndexError("x[...]: a slice goes forward, with a positive step", at);
  const auto from = static_cast<unsigned>(begin);
  const auto to = static_cast<unsigned>(
      count ? begin + (static_cast<Py_ssize_t>(count) - 1) * step + 1 : begin);
  if (count == 0) throw IndexError("x[...]: the slice is empty", at);
  if (step == 1) return pick_range(x, from, to, d, at);
  std::vector<int> strides(d, 1), first(d, 0), last;
  strides.push_back(static_cast<int>(step));
  first.push_back(static_cast<int>(from));
  for (unsigned k = 0; k < d; ++k) last.push_back(static_cast<int>(x.dim(at)[k]));
  last.push_back(static_cast<int>(to));
  return strided_select(x, strides, first, last, at);
}

template <class Values>
nb::list each(const Expressions& es, bool recalculate, Values values) {
  if (es.empty()) return {};
  // The last one made: all before it are computed at once.
  const Expression* last = &es.front();
  for (const Expression& e : es) {
    e.dim(here());
    if (e.i > last->i) last = &e;
  }
  value_of(*last, recalculate);
  nb::list all;
  for (const Expression& e : es) all.append(values(value_of(e, false)));
  return all;
}

}  // namespace

bool append_expression(nb::handle item, std::vector<Expression>& to) noexcept {
  try {
    return read_expression(item, to.emplace_back());
  } catch (...) {
    return false;
  }
}

Tensor value_of(const Expression& e, bool recalculate) {
  const SourceLocation at = here();
  if (recalculate) e.dim(at);  // throws for a stale one, whose graph may be gone
  const nb::gil_scoped_release release;
  return recalculate ? e.pg->forward(e, at) : e.value(at);
}

nb::object value_as_object(const Tensor& t) {
  if (t.d.size() == 1) return nb::float_(static_cast<double>(*t.v));
  if (t.d.nd > 1 || (t.d.bd > 1 && t.d.size() != t.d.bd)) return array64_of(t.d, t.v);
  nb::list all;
  for (std::size_t i = 0; i < t.d.size(); ++i) all.append(nb::float_(static_cast<double>(t.v[i])));
  return all;
}

nb::object arithmetic(char op, nb::handle x, nb::handle y) {
  Operand a, b;
  const bool reads_x = read(x, a);
  if (reads_x && read(y, b)) return nb::cast(apply(op, a, b));
  // NumPy would say something about concatenation.
  if (const nb::handle other = reads_x ? y : x; nb::hasattr(other, "__array__"))
    throw nb::type_error("an array is no expression: dynet.inputTensor(array) makes one of it");
  return not_implemented();
}

Expression subscript(const Expression& x, nb::handle key) {
  const SourceLocation at = here();
  bool keeps = false;
  if (!nb::isinstance<nb::tuple>(key)) return along(x, 0, key, keeps, at);
  Expression y = x;
  unsigned d = 0;
  for (const nb::handle k : nb::cast<nb::tuple>(key)) {
    y = along(y, d, k, keeps, at);
    d += keeps;
  }
  return y;
}

nb::object dlpack(const Expression& e) {
  const Tensor t = value_of(e, false);
  return array32_of(t.d, t.v).attr("__dlpack__")();
}

nb::object as_numpy(const Expression& e, nb::handle dtype) {
  const Tensor t = value_of(e, false);
  const nb::object array = array32_of(t.d, t.v);
  return dtype.is_none() ? array : nb::object(array.attr("astype")(dtype));
}

std::string shown(const Expression& e) {
  return "expression " + std::to_string(e.i) + '/' +
         std::to_string(e.state && !e.is_stale() ? e.pg->get_id() : 0);
}

void bind_expressions(nb::module_& m, nb::class_<Expression>& expression) {
  expression
      .def("__init__",
           [](Expression* self, const Parameter& p) { new (self) Expression(expression_of(p)); })
      .def("__init__", [](Expression* self, const LookupParameter& p) {
        new (self) Expression(expression_of(p));
      });
  nb::implicitly_convertible<Parameter, Expression>();
  nb::implicitly_convertible<LookupParameter, Expression>();
  bind_values(expression);
  bind_operators(expression);
  expression
      .def(
          "dim", [](const Expression& e) { return dim_tuple(e.dim(here())); },
          "The shape and the batch size: `((3, 2), 1)`.")
      .def("is_stale", &Expression::is_stale, "Whether its graph was renewed or is gone.")
      .def("__getitem__", subscript, "key"_a,
           "x[2], x[-1], x[1:3], x[:, 0]: elements along the first dimensions. IndexError.")
      .def("__len__", [](const Expression& e) { return e.dim(here())[0]; })
      .def("__repr__", shown)
      .def(
          "describe",
          [](const Expression& e) {
            std::ostringstream out;
            out << e;
            return out.str();
          },
          "Its operation, shape, place in the program, value and gradient, as text.");
  m.def(
      "values",
      [](const Expressions& exps, bool recalculate) {
        return each(exps, recalculate, value_as_object);
      },
      "exps"_a, "recalculate"_a = false,
      nb::sig(
          "def values(exps: collections.abc.Sequence[Expression], recalculate: bool = False) -> "
          "list[float | list[float] | dynet.types.Float64Array]"),
      "The `value` of each, computed in one go.");
  m.def(
      "npvalues",
      [](const Expressions& exps, bool recalculate) {
        return each(exps, recalculate, [](const Tensor& t) { return array64_of(t.d, t.v); });
      },
      "exps"_a, "recalculate"_a = false,
      nb::sig("def npvalues(exps: collections.abc.Sequence[Expression], recalculate: bool = False) "
              "-> list[dynet.types.Float64Array]"),
      "The `npvalue` of each, computed in one go.");
  m.def(
      "forward",
      [](const Expressions& exps, bool recalculate) {
        each(exps, recalculate, [](const Tensor&) { return nb::none(); });
      },
      "exps"_a, "recalculate"_a = false, "Computes all of them in one go.");
}

}  // namespace dynet::python
