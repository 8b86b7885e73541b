#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>

#include "operations.h"
#include "settable.h"

namespace dynet::python {
namespace {

using namespace nb::literals;
using List = std::vector<std::int64_t>;
using Numbers = std::vector<float>;

/// Numbers in column-major order with their sizes.
struct Array {
  std::vector<unsigned> sizes;
  Numbers values;
};

/// Appends the numbers of a non-empty list or tuple of plain numbers; false for any other object,
/// and for numbers outside the range of float. For few numbers NumPy's conversion costs more than
/// the whole graph.
bool add_plain_numbers(nb::handle object, Numbers& values) {
  PyObject* const list = object.ptr();
  const bool is_tuple = PyTuple_Check(list);
  if (!is_tuple && !PyList_Check(list)) return false;
  const Py_ssize_t n = is_tuple ? PyTuple_Size(list) : PyList_Size(list);
  values.reserve(static_cast<std::size_t>(n));
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* const item = is_tuple ? PyTuple_GetItem(list, k) : PyList_GetItem(list, k);
    if (!PyFloat_Check(item) && !PyLong_Check(item)) return false;
    const double x = PyLong_Check(item) ? PyLong_AsDouble(item) : PyFloat_AsDouble(item);
    if (x == -1 && PyErr_Occurred() != nullptr) {  // the integer is too large
      PyErr_Clear();
      return false;
    }
    if (std::isfinite(x) && std::abs(x) > std::numeric_limits<float>::max()) return false;
    values.push_back(static_cast<float>(x));
  }
  return n > 0;
}

/// Throws TypeError for an expression, or a list of some, whose values would lose their gradients.
void refuse_expressions(const char* who, nb::handle object) {
  if (PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr())) return;
  const auto is_one = [](nb::handle h) {
    return nb::isinstance<Expression>(h) || nb::isinstance<Parameter>(h) ||
           nb::isinstance<LookupParameter>(h);
  };
  const bool is_list = PyList_Check(object.ptr()) && PyList_Size(object.ptr()) > 0;
  if (is_one(object) || (is_list && is_one(PyList_GetItem(object.ptr(), 0))))
    throw nb::type_error(
        (std::string(who) + ": an expression is no input; x.numpy() has its numbers").c_str());
}

/// Converts a NumPy array, a list, or nested lists of numbers.
Array array_of(const char* who, nb::handle object) {
  Array plain;
  if (add_plain_numbers(object, plain.values)) {
    plain.sizes.push_back(static_cast<unsigned>(plain.values.size()));
    return plain;
  }
  const nb::object given = nb::module_::import_("numpy").attr("asarray")(object);
  const auto kind = nb::cast<std::string>(given.attr("dtype").attr("kind"));
  refuse_expressions(who, object);
  // V: bfloat16 and the like; O: also very large integers.
  std::string found;
  if (kind.find_first_of("biufVO") == kind.npos)
    found = nb::cast<std::string>(nb::str(nb::object(given.attr("dtype"))));
  else if (kind == "O" &&
           PySequence_Contains(nb::object(given.attr("ravel")().attr("tolist")()).ptr(), Py_None))
    found = "None";
  if (!found.empty())
    throw nb::type_error((std::string(who) + ": needs real numbers, not " + found).c_str());
  const nb::object array = given.attr("astype")("float32", "order"_a = "F", "copy"_a = false);
  const auto view = nb::cast<nb::ndarray<const float, nb::f_contig, nb::device::cpu>>(array);
  Array result;
  for (std::size_t k = 0; k < view.ndim(); ++k)
    result.sizes.push_back(static_cast<unsigned>(view.shape(k)));
  if (result.sizes.empty())
    throw ArgumentError(std::string(who) + ": needs an array or a list, not one number", here());
  result.values.assign(view.data(), view.data() + view.size());
  return result;
}

nb::object parameter_argument(const nb::args& args) {
  if (args.size() == 1) return args[0];
  return nb::borrow(args);
}

Expression constant_of(nb::handle p) {
  if (nb::isinstance<LookupParameter>(p))
    return const_parameter(current_graph(), nb::cast<LookupParameter>(p), here());
  if (nb::isinstance<Expression>(p)) return nobackprop(nb::cast<const Expression&>(p), here());
  return const_parameter(current_graph(), nb::cast<Parameter>(p), here());
}

nb::object const_parameters(const nb::args& args) {
  if (args.size() == 1 && !nb::isinstance<nb::list>(args[0]) && !nb::isinstance<nb::tuple>(args[0]))
    return nb::cast(constant_of(args[0]));
  nb::list all;
  for (const nb::handle p : args.size() == 1 ? nb::handle(args[0]) : nb::handle(args))
    all.append(constant_of(p));
  return all;
}

Dim shape_of_array(std::vector<unsigned> sizes, bool batched) {
  unsigned batch = 1;
  if (batched) {
    batch = sizes.back();
    if (sizes.size() > 1)
      sizes.pop_back();
    else
      sizes = {1};  // one number per batch element
  }
  return Dim(std::vector<long>(sizes.begin(), sizes.end()), batch);
}

// True for a non-empty list of NumPy arrays.
bool is_list_of_arrays(nb::handle object) {
  if (!nb::isinstance<nb::list>(object) || nb::len(object) == 0) return false;
  const nb::object array = nb::module_::import_("numpy").attr("ndarray");
  for (const nb::handle item : nb::borrow<nb::list>(object))
    if (PyObject_IsInstance(item.ptr(), array.ptr()) != 1) return false;
  return true;
}

Expression input_tensor(nb::handle arr, Flag batched, const std::string& device, Flag) {
  const bool elements = is_list_of_arrays(arr);
  const nb::object stacked =
      elements ? nb::module_::import_("numpy").attr("stack")(arr, "axis"_a = -1) : nb::borrow(arr);
  const Array a = array_of("inputTensor", stacked);
  return input(current_graph(), shape_of_array(a.sizes, batched || elements), a.values,
               device_argument(device), here());
}

Expression input_transposed(nb::handle arr, Flag batched, const std::string& device) {
  Array a = array_of("inputTensorTranspose", nb::module_::import_("numpy").attr("transpose")(arr));
  return input(current_graph(), shape_of_array(a.sizes, batched), a.values, device_argument(device),
               here());
}

Expression sparse_input(nb::handle idxs, const Numbers& values, const List& shape, Flag batched,
                        float defval, const std::string& device) {
  std::vector<List> lists;
  for (const nb::handle list : idxs) lists.push_back(nb::cast<List>(list));
  if (lists.size() != shape.size())
    throw ArgumentError("sparse_inputTensor: needs a list of indices for each of the " +
                            std::to_string(shape.size()) + " dimensions, not " +
                            std::to_string(lists.size()),
                        here());
  std::vector<unsigned> places(values.size());
  std::int64_t stride = 1;
  for (std::size_t k = 0; k < lists.size(); stride *= shape[k], ++k) {
    if (lists[k].size() != values.size())
      throw ArgumentError("sparse_inputTensor: dimension " + std::to_string(k) + " has " +
                              std::to_string(lists[k].size()) + " indices for " +
                              std::to_string(values.size()) + " values",
                          here());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (lists[k][i] < 0 || lists[k][i] >= shape[k])
        throw IndexError("sparse_inputTensor: index " + std::to_string(lists[k][i]) +
                             " is outside the " + std::to_string(shape[k]) + " of dimension " +
                             std::to_string(k),
                         here());
      places[i] += static_cast<unsigned>(lists[k][i] * stride);
    }
  }
  return input(current_graph(), shape_of_array(indices_of("sparse_inputTensor", shape), batched),
               places, values, defval, device_argument(device), here());
}

Expression row(const LookupParameter& p, const OneOrMore& index, Flag update) {
  return with_indices(index, [&](const IndexArgument& i) {
    return update ? lookup(current_graph(), p, i, here())
                  : const_lookup(current_graph(), p, i, here());
  });
}

void bind_arrays(nb::module_& m) {
  m.def("inputTensor", input_tensor, "arr"_a.none(), "batched"_a = false, "device"_a = "",
        "reusable_expr"_a = false,
        "The values of a NumPy array, or of lists in lists: its shape; with `batched` the last\n"
        "dimension is the batch. A list of NumPy arrays has one for each batch element.\n"
        "`reusable_expr` is not needed: `set` gives any input new values.\n\n"
        ">>> dy.inputTensor(np.zeros((3, 2))).dim()\n"
        "((3, 2), 1)\n"
        ">>> dy.inputTensor(np.zeros((3, 2)), batched=True).dim()\n"
        "((3,), 2)");
  m.def("inputTensorTranspose", input_transposed, "arr"_a, "batched"_a = false, "device"_a = "",
        "`inputTensor` of the array with its dimensions in reverse order.");
  m.def(
      "inputVector",
      [](nb::handle v, const char* device) {
        Numbers values;
        if (!add_plain_numbers(v, values)) values = array_of("inputVector", v).values;
        return input(current_graph(), Dim({static_cast<unsigned>(values.size())}), values,
                     device_argument(device), here());
      },
      "v"_a, "device"_a = "",
      "The numbers of a list as a vector: {len(v)}.\n\n"
      ">>> dy.inputVector([1, 2, 3]).value()\n"
      "[1.0, 2.0, 3.0]");
  m.def(
      "inputMatrix",
      [](const Numbers& v, const Sizes& d) {
        return input(current_graph(), shape_of(d), v, {}, here());
      },
      "v"_a, "d"_a, "Numbers in column-major order as shape d; the old name of `inputTensor`.");
  m.def("sparse_inputTensor", sparse_input, "idxs"_a, "values"_a, "shape"_a, "batched"_a = false,
        "defval"_a = 0.0f, "device"_a = "",
        "`defval` everywhere but for `values`, value i at idxs[0][i], idxs[1][i], ...: the shape,\n"
        "its last dimension being the batch with `batched`.\n\n"
        ">>> dy.sparse_inputTensor([[0, 2]], [5, 7], (4,)).value()\n"
        "[5.0, 0.0, 7.0, 0.0]");
  m.def(
      "scalarInput",
      [](nb::handle s, const char* device) {
        refuse_expressions("scalarInput", s);
        return input(current_graph(), nb::cast<float>(s), device_argument(device), here());
      },
      "s"_a, "device"_a = "", nb::sig("def scalarInput(s: float, device: str = '') -> Expression"),
      "A number: {1}.\n\n"
      ">>> (2 * dy.scalarInput(3)).value()\n"
      "6.0");
  m.def(
      "vecInput",
      [](unsigned dim, const std::string& device) {
        return input(current_graph(), Dim({dim}), Numbers(dim), device_argument(device), here());
      },
      "dim"_a, "device"_a = "", "A vector {dim} whose values `set` gives; zero until then.");
  m.def(
      "matInput",
      [](unsigned d1, unsigned d2) {
        return input(current_graph(), Dim({d1, d2}), Numbers(std::size_t{d1} * d2), {}, here());
      },
      "d1"_a, "d2"_a, "A matrix {d1,d2} whose values `set` gives; zero until then.");
  m.def(
      "one_hot",
      [](unsigned d, const OneOrMore& idx, const std::string& device) {
        return with_indices(idx, [&](const IndexArgument& i) {
          return one_hot(current_graph(), d, i, device_argument(device), here());
        });
      },
      "d"_a, "idx"_a, "device"_a = "",
      "One at idx and zero elsewhere: {d}; of several idx, with a batch element for each.\n\n"
      ">>> dy.one_hot(4, 2).value()\n"
      "[0.0, 0.0, 1.0, 0.0]");
}

using Constant = Expression (*)(ComputationGraph&, const Dim&, DeviceArgument, SourceLocation);

void bind_constants(nb::module_& m) {
  const auto def_constant = [&](const char* name, Constant function, const char* doc) {
    m.def(
        name,
        [function](const Sizes& dim, unsigned batch_size) {
          return function(current_graph(), shape_of(dim, batch_size), {}, here());
        },
        "dim"_a, "batch_size"_a = 1, doc);
  };
  def_constant("zeros", dynet::zeros,
               "Zeros: the shape dim with this batch size.\n\n"
               ">>> dy.zeros((3, 2), batch_size=4).dim()\n"
               "((3, 2), 4)");
  def_constant("zeroes", dynet::zeroes, "The old name of `zeros`.");
  def_constant("ones", dynet::ones, "Ones: the shape dim with this batch size.");
  m.def(
      "constant",
      [](const Sizes& dim, float val, unsigned batch_size) {
        return constant(current_graph(), shape_of(dim, batch_size), val, {}, here());
      },
      "dim"_a, "val"_a, "batch_size"_a = 1,
      "`val` everywhere: the shape dim with this batch size.");
}

}  // namespace

Expression input_of_array(ComputationGraph& graph, nb::handle array) {
  const Array a = array_of("array", array);
  return input(graph, shape_of_array(a.sizes, false), a.values, {}, here());
}

std::vector<float> numbers_of(nb::handle object) {
  const nb::object list = nb::module_::import_("numpy").attr("atleast_1d")(object);
  return array_of("set", list).values;
}

void bind_inputs(nb::module_& m) {
  bind_arrays(m);
  bind_constants(m);
  bind_settable(reinterpret_cast<PyObject*>(classes.expression));
  m.def("parameter", parameter_argument, "args"_a,
        nb::sig("def parameter(*args: typing.Any) -> typing.Any"),
        "Its argument, or all of them: a parameter is an expression by itself.\n\n"
        ">>> w = pc.add_parameters(2, init=3)\n"
        ">>> dy.parameter(w) is w\n"
        "True\n"
        ">>> dy.squared_norm(w).value()\n"
        "18.0");
  m.def(
      "const_parameter", const_parameters, "args"_a,
      nb::sig("def const_parameter(*args: typing.Any) -> typing.Any"),
      "The expression of a parameter or of a table, or an expression, that gets no gradient, or a\n"
      "list of them.\n\n"
      ">>> w = pc.add_parameters(2, init=3)\n"
      ">>> dy.dot_product(w, dy.const_parameter(w)).backward()\n"
      ">>> w.grad_as_array()\n"
      "array([3., 3.])");
  m.def(
      "lookup", row, "p"_a, "index"_a = 0, "update"_a = true,
      "Row `index` of a table: the shape of a row; several rows are a batch. Without `update` it\n"
      "gets no gradient. IndexError for a row that is not there.\n\n"
      ">>> table = pc.add_lookup_parameters((10, 3), init=0.5)\n"
      ">>> dy.lookup(table, 7).value()\n"
      "[0.5, 0.5, 0.5]\n"
      ">>> dy.lookup(table, [7, 2]).dim()\n"
      "((3,), 2)");
  m.def(
      "lookup_batch",
      [](const LookupParameter& p, const List& indices, Flag update) {
        return row(p, indices, update);
      },
      "p"_a, "indices"_a, "update"_a = true,
      "Rows of a table as a batch: the shape of a row with a batch of len(indices).\n\n"
      ">>> table = pc.add_lookup_parameters((10, 3))\n"
      ">>> dy.lookup_batch(table, [7, 2, 2]).dim()\n"
      "((3,), 3)");
}

}  // namespace dynet::python
