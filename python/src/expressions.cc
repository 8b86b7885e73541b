#include "expressions.h"

#include <nanobind/ndarray.h>

#include <sstream>

#include "dynet-like/graph/graph_state.h"
#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// Index i of n elements; negative indices count from the end. Throws IndexError.
unsigned place(std::int64_t i, unsigned n, SourceLocation at) {
  if (i < -std::int64_t{n} || i >= std::int64_t{n})
    throw IndexError("x[" + std::to_string(i) + "]: there are only " + std::to_string(n), at);
  return static_cast<unsigned>(i < 0 ? i + n : i);
}

// Python index: an int or a NumPy integer. Throws TypeError.
std::int64_t whole_number(nb::handle key) {
  std::int64_t i = 0;
  if (!PyIndex_Check(key.ptr()) || !nb::try_cast(key, i))
    throw nb::type_error("x[...]: an index is a whole number, a slice, or a tuple of these");
  return i;
}

// Selects batch elements by an index or a slice.
Expression along_batch(const Expression& x, nb::handle key, SourceLocation at) {
  const unsigned n = x.dim(at).bd;
  if (!nb::isinstance<nb::slice>(key))
    return pick_batch_elem(x, place(whole_number(key), n, at), at);
  const auto [begin, end, step, count] = nb::cast<nb::slice>(key).compute(n);
  if (count == 0) throw IndexError("x[...]: the slice is empty", at);
  std::vector<unsigned> elements;
  for (std::size_t k = 0; k < count; ++k)
    elements.push_back(static_cast<unsigned>(begin + static_cast<Py_ssize_t>(k) * step));
  return pick_batch_elems(x, elements, at);
}

Expression along(const Expression& x, unsigned d, nb::handle key, bool& keeps, SourceLocation at) {
  const unsigned n = x.dim(at)[d];
  keeps = nb::isinstance<nb::slice>(key);
  if (!keeps) return pick(x, place(whole_number(key), n, at), d, at);
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
  // Computing the newest node computes all earlier nodes.
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

Tensor value_of(const Expression& e, bool recalculate) {
  const SourceLocation at = here();
  if (recalculate) e.dim(at);  // throws for a stale expression, whose graph may be destroyed
  const Unlocked unlocked(e);
  return recalculate ? e.pg->forward(e, at) : e.value(at);
}

nb::object value_as_object(const Tensor& t) {
  if (t.d.size() == 1) return nb::float_(static_cast<double>(*t.v));
  if (t.d.nd > 1 || (t.d.bd > 1 && t.d.size() != t.d.bd)) return array64_of(t.d, t.v);
  nb::list all;
  for (std::size_t i = 0; i < t.d.size(); ++i) all.append(nb::float_(static_cast<double>(t.v[i])));
  return all;
}

Expression subscript(const Expression& x, nb::handle key) {
  const SourceLocation at = here();
  bool keeps = false;
  if (!nb::isinstance<nb::tuple>(key)) return along(x, 0, key, keeps, at);
  const auto keys = nb::cast<nb::tuple>(key);
  const unsigned dimensions = x.dim(at).nd;
  if (keys.size() > dimensions + 1)
    throw IndexError("x[...]: " + std::to_string(keys.size()) + " indices for the " +
                         std::to_string(dimensions) + " dimensions and the batch of " +
                         to_string(x.dim(at)),
                     at);
  Expression y = keys.size() > dimensions ? along_batch(x, keys[dimensions], at) : x;
  unsigned d = 0;
  for (unsigned k = 0; k < keys.size() && k < dimensions; ++k) {
    y = along(y, d, keys[k], keeps, at);
    d += keeps;
  }
  return y;
}

nb::object gradient_of(const Expression& e) {
  const Tensor t = e.gradient(here());
  return array64_of(t.d, t.v);
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

// As DyNet's module shows it.
std::string shown(const Expression& e) {
  return "expression " + std::to_string(e.i) + '/' +
         std::to_string(e.state && !e.is_stale() ? e.pg->get_id() : 0);
}

// `<Expression tanh {8}, node 3>`
std::string represented(const Expression& e) {
  if (!e.state || e.is_stale()) return "<stale expression>";
  const GraphStore& graph = e.state->store;
  const Node& n = graph.nodes[e.i];
  return std::string("<Expression ") + n.form->name.value + ' ' + to_string(n.dim) + ", node " +
         std::to_string(e.i) + '>';
}

void bind_expressions(nb::module_& m, nb::class_<Expression>& expression) {
  expression
      .def("__init__",
           [](Expression* self, const Parameter& p) { new (self) Expression(expression_of(p)); })
      .def("__init__", [](Expression* self, const LookupParameter& p) {
        new (self) Expression(expression_of(p));
      });
  bind_values(expression);
  refuse_arrays(expression);
  expression
      .def(
          "dim", [](const Expression& e) { return dim_tuple(e.dim(here())); },
          "The shape and the batch size: `((3, 2), 1)`.\n\n"
          ">>> dy.zeros((3, 2), batch_size=4).dim()\n"
          "((3, 2), 4)")
      .def_prop_ro(
          "shape",
          [](const Expression& e) {
            return ShapeTuple(nb::tuple(nb::cast(array_shape(e.dim(here())))));
          },
          "The shape of `numpy()`: the sizes, and behind them a batch of more than one.\n\n"
          ">>> dy.zeros((3, 2)).shape, dy.zeros((3, 2), batch_size=4).shape\n"
          "((3, 2), (3, 2, 4))")
      .def("is_stale", &Expression::is_stale, "Whether its graph was renewed or is gone.")
      .def("__getitem__", subscript, "key"_a,
           "x[2], x[-1], x[1:3], x[:, 0]: elements along the first dimensions; behind the last one "
           "the\n"
           "batch: x[:, :, 0] of a matrix. IndexError.\n\n"
           ">>> x = dy.inputTensor([[1, 2, 3], [4, 5, 6]])\n"
           ">>> x[-1].value(), x[:, 0].value()\n"
           "([4.0, 5.0, 6.0], [1.0, 4.0])")
      .def("__len__", [](const Expression& e) { return e.dim(here())[0]; })
      .def("__repr__", represented)
      .def("__str__", shown)
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
      [](const Expressions& exps, Flag recalculate) {
        return each(exps, recalculate, value_as_object);
      },
      "exps"_a, "recalculate"_a = false,
      nb::sig(
          "def values(exps: collections.abc.Sequence[Expression], recalculate: bool = False) -> "
          "list[float | list[float] | dynet.types.Float64Array]"),
      "The `value` of each, computed in one go.");
  m.def(
      "npvalues",
      [](const Expressions& exps, Flag recalculate) {
        return each(exps, recalculate, [](const Tensor& t) { return array64_of(t.d, t.v); });
      },
      "exps"_a, "recalculate"_a = false,
      nb::sig("def npvalues(exps: collections.abc.Sequence[Expression], recalculate: bool = False) "
              "-> list[dynet.types.Float64Array]"),
      "The `npvalue` of each, computed in one go.");
  m.def(
      "forward",
      [](const Expressions& exps, Flag recalculate) {
        each(exps, recalculate, [](const Tensor&) { return nb::none(); });
      },
      "exps"_a, "recalculate"_a = false, "Computes all of them in one go.");
}

}  // namespace dynet::python
