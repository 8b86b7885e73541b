#pragma once

#include <nanobind/stl/pair.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

#include "operations.h"

// Common code of the layers of nn/. A C++ class with settings becomes a Python class whose
// constructor takes the collection and the settings by name.

namespace dynet::python {

/// Python wrapper of a layer, which enters the current graph automatically, once per graph.
template <class L>
class Layer {
 public:
  Layer(ParameterCollection& model, const typename L::Settings& settings)
      : layer_(model, settings) {}
  explicit Layer(const L& layer) : layer_(layer) {}

  /// The layer in the current graph.
  L& in_graph() {
    if (current_graph().get_id() != graph_) enter(true);
    return layer_;
  }
  void enter(bool update) {
    ComputationGraph& cg = current_graph();
    layer_.new_graph(cg, update, here());
    graph_ = cg.get_id();
  }
  L& get() { return layer_; }

 private:
  L layer_;
  std::uint64_t graph_ = 0;
};

/// Python type of a setting, and its conversions.
template <class T>
struct AsPython {
  using Type = T;
  static T read(const T& x) { return x; }
  static T shown(const T& x) { return x; }
};
/// A float as the double with the same shortest decimal representation.
template <>
struct AsPython<float> {
  using Type = double;
  static float read(double x) { return static_cast<float>(x); }
  static double shown(float x) {
    char text[32];
    double result = static_cast<double>(x);
    std::from_chars(text, std::to_chars(text, text + sizeof text, x).ptr, result);
    return result;
  }
};
template <>
struct AsPython<Activation> {
  using Type = std::string;
  static Activation read(const std::string& name) {
    if (name == "relu") return Activation::relu;
    if (name == "gelu") return Activation::gelu;
    if (name == "swiglu") return Activation::swiglu;
    nn_detail::fail("activation", "\"relu\", \"gelu\" or \"swiglu\", not \"" + name + "\"", here());
  }
  static std::string shown(Activation a) {
    return a == Activation::relu ? "relu" : a == Activation::gelu ? "gelu" : "swiglu";
  }
};

/// A required setting, and an optional one.
template <class S, class T>
struct Needed {
  using Python = AsPython<T>;
  const char* name;
  T S::*member;
  nb::arg arg() const { return nb::arg(name); }
};
template <class S, class T>
struct Optional {
  using Python = AsPython<T>;
  const char* name;
  T S::*member;
  nb::arg_v arg() const { return nb::arg(name) = Python::shown(S().*member); }
};
template <class S, class T>
Needed<S, T> needed(const char* name, T S::*member) {
  return {name, member};
}
template <class S, class T>
Optional<S, T> optional(const char* name, T S::*member) {
  return {name, member};
}

/// Adds a Python class for a layer and its settings.
template <class L, class... Settings>
nb::class_<Layer<L>> add_layer(nb::module_& m, const char* name, const char* doc,
                               const char* settings_doc, Settings... settings) {
  using Class = Layer<L>;
  nb::class_<Class> c(m, name, nb::dynamic_attr(), doc);
  c.def(
       "__init__",
       [settings...](Class* self, ParameterCollection model,
                     const typename Settings::Python::Type&... values) {
         typename L::Settings all;
         ((all.*settings.member = Settings::Python::read(values)), ...);
         new (self) Class(model, all);
       },
       nb::arg("model"), settings.arg()..., settings_doc)
      .def(
          "new_graph", [](Class& l, Flag update) { l.enter(update); }, nb::arg("update") = true,
          "Enters the current graph; without `update` the parameters get no gradient there. The\n"
          "first use in a graph does it, with `update`; after a `revert` it has to be called.")
      .def(
          "param_collection", [](Class& l) { return l.get().get_parameter_collection(); },
          "The collection of its parameters.")
      .def_prop_ro(
          "spec",
          [settings...](Class& l) {
            nb::typed<nb::dict, nb::str, nb::any> spec;
            ((spec[settings.name] = Settings::Python::shown(l.get().settings().*settings.member)),
             ...);
            return spec;
          },
          "What the constructor was given besides the collection, by name; see `from_spec`.")
      .def("__repr__",
           [name, settings...](Class& l) {
             std::string text;
             const auto add = [&](const char* setting, nb::object value) {
               text += (text.empty() ? "" : ", ") + std::string(setting) + '=' +
                       nb::cast<std::string>(nb::repr(value));
             };
             (add(settings.name,
                  nb::cast(Settings::Python::shown(l.get().settings().*settings.member))),
              ...);
             return std::string(name) + '(' + text + ')';
           })
      .def(
          "__copy__", [](Class& l) { return new Class(l.get()); },
          "Another one of the same parameters, for another thread: each belongs to one.");
  nb::setattr(c, "from_spec",
              nb::module_::import_("builtins")
                  .attr("classmethod")(nb::cpp_function(
                      [](nb::handle cls, const nb::dict& spec, const ParameterCollection& model) {
                        return cls(model, **spec);
                      },
                      nb::name("from_spec"), nb::scope(c), nb::arg("cls"), nb::arg("spec"),
                      nb::arg("model"),
                      nb::sig((std::string("def from_spec(cls, spec: dict[str, typing.Any], model: "
                                           "ParameterCollection) -> ") +
                               name)
                                  .c_str()),
                      "A layer of these settings, with parameters of its own.")));
  return c;
}

template <class L>
void def_dropout(nb::class_<Layer<L>>& c, const char* doc) {
  c.def(
       "set_dropout", [](Layer<L>& l, float rate) { l.get().set_dropout(rate); }, nb::arg("rate"),
       doc)
      .def(
          "disable_dropout", [](Layer<L>& l) { l.get().disable_dropout(); },
          "No dropout from now on.");
}

/// Makes `layer(...)` call `layer.apply(...)`.
template <class L>
void def_call(nb::class_<Layer<L>>& c) {
  nb::setattr(c, "__call__", c.attr("apply"));
}

/// Adds `apply` with one expression.
template <class L>
void def_apply(nb::class_<Layer<L>>& c, const char* doc) {
  c.def(
      "apply", [](Layer<L>& l, const Expression& x) { return l.in_graph().apply(x, here()); },
      nb::arg("x"), doc);
  def_call(c);
}

/// Calls `f` without the interpreter lock.
template <class F>
auto without_lock(F f) {
  const nb::gil_scoped_release release;
  return f();
}

/// Converts results with scores to pairs.
template <class Scored, class F>
auto pairs_of(const std::vector<Scored>& all, F part) {
  std::vector<std::pair<decltype(part(all[0])), double>> pairs;
  pairs.reserve(all.size());
  for (const Scored& s : all) pairs.emplace_back(part(s), s.score);
  return pairs;
}

}  // namespace dynet::python
