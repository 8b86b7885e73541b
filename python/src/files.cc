#include "files.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/save.h"
#include "dynet-like/param/storage.h"
#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// First bytes of a file; empty if it cannot be read.
std::string first_bytes(const Path& fname) {
  std::ifstream in(fname, std::ios::binary);
  std::string bytes(16, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

bool is_safetensors(const std::string& begin) {
  return begin.size() > 8 && begin[8] == '{' && begin[7] == '\0';
}

void save_model(const Path& fname, const ParameterCollection& pc, const Trainer* trainer) {
  const nb::gil_scoped_release release;
  trainer ? save(fname, pc, *trainer) : save(fname, pc);
}

std::size_t load_model(const Path& fname, ParameterCollection& pc, Trainer* trainer,
                       Flag allow_missing, Flag allow_extra, Flag map, Flag verify) {
  LoadOptions options;
  options.allow_missing = allow_missing;
  options.allow_extra = allow_extra;
  options.map = map;
  options.verify = verify;
  const nb::gil_scoped_release release;
  return (trainer ? load(fname, options, pc, *trainer) : load(fname, options, pc)).loaded;
}

void bind_checkpoints(nb::module_& m) {
  nb::class_<Checkpoints>(m, "Checkpoints",
                          "A folder of numbered files, of which the newest `keep` stay.")
      .def(
          "__init__",
          [](Checkpoints* self, const Path& folder, std::size_t keep) {
            new (self) Checkpoints(folder, keep);
          },
          "folder"_a, "keep"_a = 3)
      .def(
          "save",
          [](const Checkpoints& c, const ParameterCollection& pc, const Trainer* trainer) {
            const nb::gil_scoped_release release;
            return trainer ? c.save(pc, *trainer) : c.save(pc);
          },
          "pc"_a, "trainer"_a = nb::none(),
          "Saves values, and the trainer with its state, as the next checkpoint. Returns its path.")
      .def(
          "load",
          [](const Checkpoints& c, ParameterCollection& pc, Trainer* trainer) {
            const nb::gil_scoped_release release;
            return trainer ? c.load(pc, *trainer) : c.load(pc);
          },
          "pc"_a, "trainer"_a = nb::none(), "Loads the newest checkpoint; False if there is none.")
      .def("paths", &Checkpoints::paths, "All checkpoints, the oldest first.");
}

// State of a collection for pickle: name, kind, shape, values and whether it is trained, for each
// parameter in order of creation.
nb::tuple state_of(const ParameterCollection& pc) {
  nb::list all;
  const std::size_t root = pc.get_fullname().size() - 1;
  for (const auto& p : pc.get_parameter_storages_base()) {
    all.append(nb::make_tuple(p->name.substr(root), p->is_lookup, p->rows, shape_tuple(p->dim),
                              nb::bytes(p->data, p->size() * sizeof(float)), p->updated));
  }
  return nb::make_tuple(pc.get_weight_decay_lambda(), pc.bank().seed, all);
}

// Arrays of a file for convert.py: name, type ("F32"), shape, bytes; and the metadata.
using Metadata = std::map<std::string, std::string>;
using Array = std::tuple<std::string, std::string, std::vector<std::uint64_t>, nb::bytes>;

std::pair<std::vector<Array>, Metadata> read_arrays(const Path& fname) {
  const FileContents contents = read_contents(fname);
  std::vector<Array> arrays;
  for (const NamedTensor& t : contents.tensors)
    arrays.emplace_back(t.name, type_name(t.type), t.shape,
                        nb::bytes(t.bytes.data(), t.bytes.size()));
  return {std::move(arrays), contents.metadata};
}

void write_arrays(const Path& fname, const std::vector<Array>& arrays, const Metadata& metadata) {
  FileContents contents{{}, metadata};
  for (const auto& [name, type, shape, bytes] : arrays) {
    NamedTensor& t = contents.tensors.emplace_back();
    t.name = name;
    const auto known = type_of_name(type);
    if (known) t.type = *known;
    t.shape = shape;
    t.bytes.assign(bytes.c_str(), bytes.size());
    if (!known || byte_count(shape, type_size(t.type), name) != t.bytes.size())
      throw ArgumentError("write_arrays: " + name + " is no array of " + type, here());
  }
  write_contents(fname, std::move(contents));
}

}  // namespace

void populate(ParameterCollection& pc, const Path& fname, const std::string& key) {
  const std::string begin = first_bytes(fname);
  const nb::gil_scoped_release release;
  if (begin.empty() || begin[0] == '#')
    TextFileLoader(fname).populate(pc, key);
  else if (!key.empty())
    throw FileError("populate: " + fname + " is no text file, the only kind that has keys");
  else if (is_safetensors(begin))
    load_safetensors(fname, pc);
  else
    load(fname, pc);
}

void bind_files(nb::module_& m) {
  bind_checkpoints(m);
  m.def("save_model", save_model, "fname"_a, "pc"_a, "trainer"_a = nb::none(),
        "Writes the values of a collection, and a trainer with its state, to one checked file:\n"
        "all of it, or the old file stays. `load_model` reads it.\n\n"
        ">>> import os, tempfile\n"
        ">>> with tempfile.TemporaryDirectory() as folder:\n"
        "...     dy.save_model(f\"{folder}/model\", pc)\n"
        "...     os.listdir(folder)\n"
        "['model']");
  m.def(
      "load_model", load_model, "fname"_a, "pc"_a, "trainer"_a = nb::none(),
      "allow_missing"_a = false, "allow_extra"_a = false, "map"_a = false, "verify"_a = true,
      "Reads what `save_model` wrote, by names; the number of parameters that were read.\n"
      "FileError names all that does not fit, and changes nothing. With `map` the values are used\n"
      "where they lie in the file, whose pages all processes share: nobody may change the file in\n"
      "place. Without `verify` its pages are read when they are first used, unchecked.\n\n"
      ">>> import tempfile\n"
      ">>> W = pc.add_parameters((2, 3))\n"
      ">>> with tempfile.TemporaryDirectory() as folder:\n"
      "...     dy.save_model(f\"{folder}/model\", pc)\n"
      "...     dy.load_model(f\"{folder}/model\", pc)\n"
      "1");
  m.def(
      "save_safetensors",
      [](const Path& fname, const ParameterCollection& pc) {
        const nb::gil_scoped_release release;
        save_safetensors(fname, pc);
      },
      "fname"_a, "pc"_a, "Writes a file of the package safetensors.");
  m.def(
      "load_safetensors",
      [](const Path& fname, ParameterCollection& pc, Flag allow_missing, Flag allow_extra) {
        LoadOptions options;
        options.allow_missing = allow_missing;
        options.allow_extra = allow_extra;
        const nb::gil_scoped_release release;
        return load_safetensors(fname, pc, options).loaded;
      },
      "fname"_a, "pc"_a, "allow_missing"_a = false, "allow_extra"_a = false,
      "Reads such a file, by names; the number of parameters that were read.");
  m.def("_read_arrays", read_arrays, "fname"_a);
  m.def("_write_arrays", write_arrays, "fname"_a, "arrays"_a, "metadata"_a);
  m.def("_state_of", state_of, "pc"_a,
        nb::sig("def _state_of(pc: ParameterCollection) -> tuple[typing.Any, ...]"));
}

}  // namespace dynet::python
