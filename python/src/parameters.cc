#include <nanobind/stl/string.h>

#include "dynet-like/compat/text_file.h"
#include "expressions.h"
#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// Shape of a table as one array, with rows along the first dimension.
Dim table_dim(const LookupParameter& p) {
  Dim d = p.dim();
  d.insert_dim(0, static_cast<unsigned>(p.size()));
  return d;
}

Dim array_dim(const Parameter& p) { return p.dim(); }
Dim array_dim(const LookupParameter& p) { return table_dim(p); }

void need_shape(const char* who, nb::handle array, const Dim& d) {
  if (!has_shape(array, d))
    throw ShapeError(std::string(who) + ": needs an array of shape " +
                         nb::cast<std::string>(nb::str(shape_tuple(d))) + ", not " +
                         shape_text(array),
                     here());
}

void set_value(Parameter& p, nb::handle array) {
  need_shape("set_value", array, p.dim());
  p.set_value(numbers_of(array));
}

void set_rows(LookupParameter& p, nb::handle array) {
  need_shape("init_from_array", array, table_dim(p));
  unsigned i = 0;
  for (const nb::handle row : array) p.initialize(i++, numbers_of(row));
}

nb::object row_array(const LookupParameter& p, unsigned i) {
  const Tensor t = p.row(i);
  return array64_of(t.d, t.v);
}
nb::object row_gradient_array(const LookupParameter& p, unsigned i) {
  return array64_of(p.dim(), p.row_gradient(i).data());
}

nb::object rows(const LookupParameter& p, const std::vector<unsigned>& rows) {
  return rows_array(p.dim(), rows.size(), [&](std::size_t i) { return as_vector(p.row(rows[i])); });
}
nb::object rows_gradient(const LookupParameter& p, const std::vector<unsigned>& rows) {
  return rows_array(p.dim(), rows.size(), [&](std::size_t i) { return p.row_gradient(rows[i]); });
}
std::vector<unsigned> all_rows(const LookupParameter& p) {
  std::vector<unsigned> all(p.size());
  for (unsigned i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

const char* const kPopulateText = "Reads the values that a text file has under `key`.";

template <class P>
void read_text(P& p, const Path& fname, const std::string& key) {
  const nb::gil_scoped_release release;
  TextFileLoader(fname).populate(p, key);
}

// Methods of parameters and tables.
template <class P>
void bind_common(nb::class_<P>& c, const char* kind) {
  c.def(
       "name", [](const P& p) { return p.get_fullname(); }, "`/collection/name`")
      .def(
          "is_updated", [](const P& p) { return p.is_updated(); }, "Whether it is trained.")
      .def(
          "set_updated", [](P& p, Flag b) { p.set_updated(b); }, "b"_a,
          "Without it the values stay as they are: no gradient, no update.")
      .def(
          "scale", [](P& p, float s) { p.scale(s); }, "s"_a, "All values times s.")
      .def(
          "scale_gradient", [](P& p, float s) { p.scale_gradient(s); }, "s"_a,
          "The gradient times s.")
      .def(
          "zero", [](P& p) { p.zero(); }, "All values zero.")
      .def("__eq__",
           [](const P& p, nb::handle q) {
             return nb::isinstance<P>(q) && nb::cast<const P&>(q) == p;
           })
      .def("__hash__", [](const P& p) { return std::hash<const void*>()(&p.stored()); })
      .def_prop_ro(
          "shape",
          [](const P& p) {
            return nb::module_::import_("dynet.types").attr("Shape")(shape_tuple(array_dim(p)));
          },
          nb::sig("def shape(self) -> dynet.types.Shape"),
          "The sizes, of a table with the number of rows first.")
      .def("__repr__", [kind](const P& p) {
        return std::string(kind) + ' ' + p.get_fullname() + ' ' + to_string(array_dim(p));
      });
  for (const char* name : {"save", "write_to_textfile"})
    c.def(
        name,
        [](const P& p, const Path& fname, const std::string& key, Flag append) {
          const nb::gil_scoped_release release;
          TextFileSaver(fname, append).save(p, key);
        },
        "fname"_a, "key"_a = "", "append"_a = false,
        "Writes a text file with the values, under `key` or its name, or appends to one.");
  c.def("populate_from_textfile", read_text<P>, "fname"_a, "key"_a = "", kPopulateText);
  bind_values(c);
  refuse_arrays(c);
}

}  // namespace

void bind_parameters(nb::module_&, nb::class_<Parameter>& parameter,
                     nb::class_<LookupParameter>& table) {
  bind_common(parameter, "Parameter");
  parameter
      .def(
          "dim", [](const Parameter& p) { return dim_tuple(p.dim()); },
          "The shape and the batch size: `((3, 2), 1)`.")
      .def(
          "__getitem__",
          [](const Parameter& p, nb::handle key) { return subscript(expression_of(p), key); },
          "key"_a, "As of an expression.")
      .def("__len__", [](const Parameter& p) { return p.dim()[0]; })
      .def(
          "expr", [](const Parameter& p, bool) { return expression_of(p); }, "update"_a = false,
          "Its expression in the graph in use; it always gets a gradient, see `const_parameter`.")
      .def(
          "as_array", [](const Parameter& p) { return array64_of(p.dim(), p.values().v); },
          nb::sig("def as_array(self) -> dynet.types.Float64Array"),
          "A copy of the values, float64.\n\n"
          ">>> pc.add_parameters((2, 3), init=0.5).as_array()\n"
          "array([[0.5, 0.5, 0.5],\n"
          "       [0.5, 0.5, 0.5]])")
      .def(
          "grad_as_array", [](const Parameter& p) { return array64_of(p.dim(), p.gradients().v); },
          nb::sig("def grad_as_array(self) -> dynet.types.Float64Array"),
          "A copy of the gradient that was added up since the last update.")
      .def(
          "view",
          [](nb::handle_t<Parameter> self) {
            const auto& p = nb::cast<const Parameter&>(self);
            return view_of(p.dim(), p.values().v, self);
          },
          nb::sig("def view(self) -> dynet.types.Float32Array"),
          "The values themselves, float32, without a copy: what is written there counts. Where\n"
          "graphs run on a device, right until the next update.")
      .def("set_value", set_value, "arr"_a, "New values. ValueError for an array of another size.")
      .def(
          "clip_inplace",
          [](Parameter& p, float left, float right) { p.clip_inplace(left, right); }, "left"_a,
          "right"_a, "Limits the values to [left, right].")
      .def("populate", read_text<Parameter>, "fname"_a, "key"_a, kPopulateText);

  bind_common(table, "LookupParameter");
  table
      .def(
          "dim", [](const LookupParameter& p) { return dim_tuple(expression_of(p).dim(here())); },
          "The shape of all rows as one expression, the rows last, and the batch size.")
      .def("__len__", [](const LookupParameter& p) { return p.size(); })
      .def(
          "__getitem__",
          [](const LookupParameter& p, const OneOrMore& i) {
            if (const auto* one = std::get_if<std::int64_t>(&i))
              return lookup(current_graph(), p, indices_of("lookup", {*one})[0], here());
            return lookup(current_graph(), p, indices_of("lookup", std::get<1>(i)), here());
          },
          "i"_a, "`lookup` of row i, or `lookup_batch` of a list of rows.")
      .def(
          "batch",
          [](const LookupParameter& p, const std::vector<std::int64_t>& i) {
            return lookup(current_graph(), p, indices_of("lookup", i), here());
          },
          "i"_a, "`lookup_batch` of these rows.")
      .def(
          "expr", [](const LookupParameter& p) { return expression_of(p); },
          "All rows as one expression.")
      .def(
          "as_array", [](const LookupParameter& p) { return rows(p, all_rows(p)); },
          nb::sig("def as_array(self) -> dynet.types.Float64Array"),
          "A copy of all rows, float64: the rows along the first dimension.")
      .def(
          "grad_as_array", [](const LookupParameter& p) { return rows_gradient(p, all_rows(p)); },
          nb::sig("def grad_as_array(self) -> dynet.types.Float64Array"),
          "The gradients of all rows, likewise; zero for rows that were not used.")
      .def("row_as_array", row_array, "row"_a,
           nb::sig("def row_as_array(self, row: int) -> dynet.types.Float64Array"),
           "A copy of one row.")
      .def("rows_as_array", rows, "rows"_a,
           nb::sig("def rows_as_array(self, rows: collections.abc.Sequence[int]) -> "
                   "dynet.types.Float64Array"),
           "A copy of these rows.")
      .def("row_grad_as_array", row_gradient_array, "row"_a,
           nb::sig("def row_grad_as_array(self, row: int) -> dynet.types.Float64Array"),
           "The gradient of one row.")
      .def("rows_grad_as_array", rows_gradient, "rows"_a,
           nb::sig("def rows_grad_as_array(self, rows: collections.abc.Sequence[int]) -> "
                   "dynet.types.Float64Array"),
           "The gradients of these rows.")
      .def(
          "init_row",
          [](LookupParameter& p, unsigned i, nb::handle row) { p.initialize(i, numbers_of(row)); },
          "i"_a, "row"_a, "New values of row i.")
      .def("init_from_array", set_rows, "arr"_a, "New values of all rows.")
      .def("populate", read_text<LookupParameter>, "fname"_a, "key"_a = "", kPopulateText);
}

}  // namespace dynet::python
