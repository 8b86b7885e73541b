#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "dynet-like/compat/text_file.h"
#include "files.h"
#include "initializers.h"
#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// New collections get the seed and the weight decay of the settings.
ParameterCollection new_collection() {
  ParameterCollection pc(default_weight_decay());
  if (const std::uint64_t seed = random_seed()) pc.set_seed(seed);
  return pc;
}

Parameter add_parameters(ParameterCollection& pc, const Sizes& dim, nb::handle init,
                         const std::string& name, const std::string& device, float scale,
                         float mean, float std) {
  const Dim d = shape_of(dim);
  const auto initializer = initializer_of(init, d, false, scale, mean, std);
  return pc.add_parameters(d, *initializer, name, device_argument(device), here());
}

// Shape of a row, from the sizes of a table.
Dim row_shape(const std::vector<unsigned>& sizes) {
  if (sizes.empty()) throw ArgumentError("add_lookup_parameters: needs a number of rows", here());
  std::vector<long> row(sizes.begin() + 1, sizes.end());
  if (row.empty()) row.push_back(1);
  return Dim(row);
}

LookupParameter add_table(ParameterCollection& pc, const std::vector<unsigned>& dim,
                          nb::handle init, const std::string& name, const std::string& device,
                          float scale, float mean, float std) {
  const Dim d = row_shape(dim);
  const bool is_array = !init.is_none() && nb::hasattr(init, "__array__") &&
                        nb::hasattr(init, "ndim") && nb::cast<int>(init.attr("ndim")) > 0;
  const auto initializer =
      initializer_of(is_array ? nb::handle(Py_None) : init, d, true, scale, mean, std);
  LookupParameter p =
      pc.add_lookup_parameters(dim[0], d, *initializer, name, device_argument(device), here());
  if (is_array) nb::cast(p).attr("init_from_array")(init);
  return p;
}

std::vector<unsigned> sizes_of(nb::handle array) {
  return nb::cast<std::vector<unsigned>>(nb::module_::import_("numpy").attr("shape")(array));
}

// List of handles in order of creation.
template <class List>
nb::list handles(const List& all) {
  nb::list list;
  for (const auto& p : all) list.append(nb::cast(p));
  return list;
}

const char* const kSave =
    "Writes all values to a text file as the old module does, under `name` instead of the "
    "collection's\nname, or appends them. FileError leaves the old file.";
const char* const kPopulate =
    "Reads all values from a file, whatever wrote it: text of the old module, `save_model`,\n"
    "safetensors. Of text, those whose names begin with `key`. FileError changes nothing.";

void save_text(const ParameterCollection& pc, const Path& fname, const std::string& name,
               Flag append) {
  const nb::gil_scoped_release release;
  TextFileSaver(fname, append).save(pc, name);
}

}  // namespace

void bind_collections(nb::module_&, nb::class_<ParameterCollection>& collection) {
  const auto add = [&](const char* name, auto f, const char* doc) {
    collection.def(name, f, "dim"_a, "init"_a = nb::none(), "name"_a = "", "device"_a = "",
                   "scale"_a = 1.0f, "mean"_a = 0.0f, "std"_a = 1.0f, doc);
  };
  collection.def(
      "__init__",
      [](ParameterCollection* self, const std::optional<ParameterCollection>& parent) {
        if (parent)
          new (self) ParameterCollection(ParameterCollection(*parent).add_subcollection());
        else
          new (self) ParameterCollection(new_collection());
      },
      "parent"_a = nb::none());
  add("add_parameters", add_parameters,
      "A new parameter of shape `dim`. `init`: None for Glorot's, a number, an array, an\n"
      "initializer, the name of a file of numbers, or \"uniform\" (in +-scale), \"normal\" (mean,\n"
      "std), \"glorot\" (scale is the gain), \"he\", \"saxe\", \"identity\".\n\n"
      ">>> W = pc.add_parameters((2, 3), init=0.5)\n"
      ">>> W.shape\n"
      "(2, 3)\n"
      ">>> (W * dy.inputVector([1, 2, 3])).value()\n"
      "[3.0, 3.0]");
  add("add_lookup_parameters", add_table,
      "A new table of dim[0] rows of shape dim[1:]; `init` as of `add_parameters`.\n\n"
      ">>> table = pc.add_lookup_parameters((10, 3))\n"
      ">>> len(table), table[7].dim()\n"
      "(10, ((3,), 1))");
  collection
      .def(
          "parameters_from_numpy",
          [](ParameterCollection& pc, nb::handle array, const std::string& name,
             const std::string& device) {
            return add_parameters(pc, sizes_of(array), array, name, device, 1, 0, 1);
          },
          "array"_a, "name"_a = "", "device"_a = "", "A new parameter with the values of an array.")
      .def(
          "lookup_parameters_from_numpy",
          [](ParameterCollection& pc, nb::handle array, const std::string& name,
             const std::string& device) {
            return add_table(pc, sizes_of(array),
                             nb::module_::import_("numpy").attr("asarray")(array), name, device, 1,
                             0, 1);
          },
          "array"_a, "name"_a = "", "device"_a = "",
          "A new table with the values of an array, a row for each element along its first\n"
          "dimension.")
      .def(
          "add_subcollection",
          [](ParameterCollection& pc, const std::optional<std::string>& name) {
            return pc.add_subcollection(name.value_or(""));
          },
          "name"_a = nb::none(), "A collection inside this one.")
      .def(
          "name", [](const ParameterCollection& pc) { return pc.get_fullname(); },
          "Its full name: `/`, or `/sub/`.")
      .def(
          "parameters_list",
          [](const ParameterCollection& pc) { return handles(pc.parameters_list()); },
          nb::sig("def parameters_list(self) -> list[Parameters]"),
          "All parameters of this collection and those inside, in the order of creation.")
      .def(
          "lookup_parameters_list",
          [](const ParameterCollection& pc) { return handles(pc.lookup_parameters_list()); },
          nb::sig("def lookup_parameters_list(self) -> list[LookupParameters]"),
          "All tables, likewise.")
      .def("parameter_count", &ParameterCollection::parameter_count,
           "The number of trained values.")
      .def("gradient_l2_norm", &ParameterCollection::gradient_l2_norm,
           "The norm of all gradients as one vector.")
      .def("reset_gradient", &ParameterCollection::reset_gradient, "Drops all gradients.")
      .def("get_weight_decay", &ParameterCollection::get_weight_decay_lambda,
           "After every update w <- (1 - lam) w.")
      .def("set_weight_decay", &ParameterCollection::set_weight_decay_lambda, "lam"_a,
           "See `get_weight_decay`. ValueError unless 0 <= lam < 1.")
      .def("set_weight_decay_lambda", &ParameterCollection::set_weight_decay_lambda, "lam"_a,
           "The same as `set_weight_decay`.")
      .def("set_seed", &ParameterCollection::set_seed, "seed"_a,
           "The seed of the initial values of parameters added from now on.")
      .def(
          "set_device",
          [](ParameterCollection& pc, const std::string& device) {
            pc.set_device(get_device_manager()->get_global_device(device, here()));
          },
          "device"_a, "Where graphs use its parameters, such as \"GPU:0\".")
      .def("save", save_text, "fname"_a, "name"_a = "", "append"_a = false, kSave)
      .def("write_to_textfile", save_text, "fname"_a, "key"_a = "", "append"_a = false,
           "The old name of `save`.")
      .def("__eq__",
           [](const ParameterCollection& a, nb::handle b) {
             return nb::isinstance<ParameterCollection>(b) &&
                    &nb::cast<const ParameterCollection&>(b).node() == &a.node();
           })
      .def("__hash__",
           [](const ParameterCollection& pc) { return std::hash<const void*>()(&pc.node()); })
      .def("__len__", &ParameterCollection::size)
      .def("__bool__", [](const ParameterCollection&) { return true; })
      .def("__repr__", [](const ParameterCollection& pc) {
        return "<collection " + pc.get_fullname() + " of " + std::to_string(pc.size()) +
               " parameters>";
      });
  for (const char* name : {"populate", "populate_from_textfile"})
    collection.def(name, populate, "fname"_a, "key"_a = "", kPopulate);
  collection
      .def(
          "load_param",
          [](ParameterCollection& pc, const Path& fname, const std::string& key) {
            const nb::gil_scoped_release release;
            return TextFileLoader(fname).load_param(pc, key);
          },
          "fname"_a, "key"_a, "A new parameter with the shape and values that a file has.")
      .def(
          "load_lookup_param",
          [](ParameterCollection& pc, const Path& fname, const std::string& key) {
            const nb::gil_scoped_release release;
            return TextFileLoader(fname).load_lookup_param(pc, key);
          },
          "fname"_a, "key"_a, "A new table with the shape and values that a file has.");
}

}  // namespace dynet::python
