#include "initializers.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <fstream>

#include "arrays.h"
#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// Python wrapper of an initializer.
struct Initializer {
  std::shared_ptr<ParameterInit> init;
};

template <class Init>
struct InitializerOf : Initializer {
  template <class... Args>
  explicit InitializerOf(Args&&... args)
      : Initializer{std::make_shared<Init>(std::forward<Args>(args)...)} {}
};

template <class Init, class... Args, class... Names>
void define(nb::module_& m, const char* name, const char* doc, nb::init<Args...>,
            const Names&... names) {
  nb::class_<InitializerOf<Init>, Initializer>(m, name, doc).def(nb::init<Args...>(), names...);
}

std::shared_ptr<ParameterInit> named(const std::string& name, const Dim& dim, bool is_lookup,
                                     float scale, float mean, float std) {
  if (name == "uniform") return std::make_shared<ParameterInitUniform>(scale);
  if (name == "normal") return std::make_shared<ParameterInitNormal>(mean, std * std);
  if (name == "glorot") return std::make_shared<ParameterInitGlorot>(is_lookup, scale);
  if (name == "saxe") return std::make_shared<ParameterInitSaxe>(scale);
  if (name == "identity") return std::make_shared<ParameterInitIdentity>();
  if (name == "he") {
    if (dim.rank() > 1) return std::make_shared<ParameterInitHe>();
    return std::make_shared<ParameterInitNormal>(0.0f, 2.0f / static_cast<float>(dim.rows()));
  }
  if (!std::ifstream(name))
    throw FileError("add_parameters: init=\"" + name +
                        "\" is none of \"uniform\", \"normal\", \"glorot\", \"he\", \"saxe\" and "
                        "\"identity\", nor a file that can be read",
                    here());
  return std::make_shared<ParameterInitFromFile>(name);
}

}  // namespace

std::shared_ptr<ParameterInit> initializer_of(nb::handle init, const Dim& dim, bool is_lookup,
                                              float scale, float mean, float std) {
  if (init.is_none()) return std::make_shared<ParameterInitGlorot>(is_lookup);
  if (nb::isinstance<Initializer>(init)) return nb::cast<const Initializer&>(init).init;
  if (nb::isinstance<nb::str>(init))
    return named(nb::cast<std::string>(init), dim, is_lookup, scale, mean, std);
  if (PyFloat_Check(init.ptr()) || PyLong_Check(init.ptr()))
    return std::make_shared<ParameterInitConst>(static_cast<float>(PyFloat_AsDouble(init.ptr())));
  if (!is_lookup && !has_shape(init, dim))
    throw ShapeError("add_parameters: an array of shape " + shape_text(init) +
                         " cannot be the values of a parameter " + to_string(dim),
                     here());
  return std::make_shared<ParameterInitFromVector>(numbers_of(init));
}

void bind_initializers(nb::module_& m) {
  nb::class_<Initializer>(m, "PyInitializer", "What fills a new parameter.");
  define<ParameterInitNormal>(m, "NormalInitializer", "Gaussian with this mean and variance.",
                              nb::init<float, float>(), "mean"_a = 0.0, "var"_a = 1.0);
  define<ParameterInitUniform>(m, "UniformInitializer", "Uniform in [-scale, scale).",
                               nb::init<float>(), "scale"_a);
  define<ParameterInitConst>(m, "ConstInitializer", "Every value c.", nb::init<float>(), "c"_a);
  define<ParameterInitIdentity>(m, "IdentityInitializer", "The identity, of a square matrix.",
                                nb::init<>());
  define<ParameterInitGlorot>(
      m, "GlorotInitializer",
      "Uniform in +-gain sqrt(3 k / s), with k sizes that add up to s; of a "
      "table the rows\ndo not count (Glorot and Bengio 2010).",
      nb::init<Flag, float>(), "is_lookup"_a = false, "gain"_a = 1.0);
  define<ParameterInitHe>(m, "HeInitializer",
                          "Gaussian with variance gain^2 / fan_in (He et al. 2015).",
                          nb::init<float>(), "gain"_a = 1.41421356);
  define<ParameterInitSaxe>(m, "SaxeInitializer",
                            "A matrix with orthonormal rows or columns, times scale (Saxe et al. "
                            "2014).",
                            nb::init<float>(), "scale"_a = 1.0);
  define<ParameterInitFromFile>(m, "FromFileInitializer", "The numbers of a text file.",
                                nb::init<Path>(), "fname"_a);
  nb::class_<InitializerOf<ParameterInitFromVector>, Initializer>(m, "NumpyInitializer",
                                                                  "The values of an array.")
      .def(
          "__init__",
          [](InitializerOf<ParameterInitFromVector>* self, nb::handle array) {
            new (self) InitializerOf<ParameterInitFromVector>(numbers_of(array));
          },
          "array"_a);
}

}  // namespace dynet::python
