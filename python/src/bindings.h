#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dynet-like/dynet.h"
#include "expression_caster.h"
#include "lock.h"
#include "parameter_nodes.h"

// Declarations that all files of the module share. Each `bind_*` adds its classes and functions.

namespace dynet::python {

namespace nb = nanobind;

/// The name of a file, given as text or as an os.PathLike.
struct Path : std::string {
  using std::string::string;
};

/// A flag: whatever Python takes for true or false.
struct Flag {
  bool value = false;
  Flag() = default;
  Flag(bool given) : value(given) {}
  operator bool() const { return value; }
};

/// How graphs are made from now on.
struct GraphSettings {
  bool batched = true;             ///< nodes of one kind run together
  bool immediate_compute = false;  ///< each node is computed when it is made
  bool check_validity = false;     ///< NaN and infinities are errors
  bool inference = false;          ///< only run forward
  std::uint64_t seed = 0;          ///< of its draws; 0: as the settings of the program have it
  Device* device = nullptr;        ///< null: as the settings of the program have it
};

/// A graph as Python has it: a ComputationGraph that can be renewed, with one node for each
/// parameter that was used as an expression.
class Graph {
 public:
  explicit Graph(const GraphSettings& settings);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  ComputationGraph& operator*() { return *graph_; }
  ComputationGraph* operator->() { return graph_.get(); }
  /// Throws everything away: all expressions become stale. What the arguments do not say stays.
  void renew(Flag immediate_compute, Flag check_validity, std::optional<Flag> autobatching);
  /// How often that was done.
  unsigned version() const { return version_; }
  /// The node of a parameter or table, made when it is first asked for. Throws as `parameter`.
  template <class P>
  Expression node_of(const P& p);
  /// Keeps an object and a shape as long as there are nodes; returns where the shape lies.
  const Dim* keep(nb::object object, const Dim& shape);

 private:
  void apply_settings();
  void drop_kept();

  GraphSettings settings_;
  std::unique_ptr<ComputationGraph> graph_;
  unsigned version_ = 0;
  std::deque<std::pair<nb::object, Dim>> kept_;
  ParameterNodes parameters_;
};

/// The graph of an expression; null if it is gone.
Graph* graph_of(const Expression& e);
/// The graph that functions without operands use: that of the innermost `with dynet.graph()` of
/// this thread, otherwise the thread's own.
Graph& current();
ComputationGraph& current_graph();
/// The line of the user's program that calls, as it is kept in nodes and named in errors.
SourceLocation here();
/// The error of Python's for the exception that is being handled.
void set_error() noexcept;
/// Result of `f`, for Python to own; null, with an error of Python's, if it throws.
template <class F>
PyObject* or_error(F f) noexcept {
  try {
    return f().release().ptr();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
/// The operators, for classes of operands.
const PyType_Slot* operator_slots();

/// The expression of a parameter in the current graph.
Expression expression_of(const Parameter& p);
Expression expression_of(const LookupParameter& p);
inline const Expression& expression_of(const Expression& e) { return e; }

/// The seed that `reset_random_seed` and the settings at the start give; 0: none.
std::uint64_t random_seed();
/// The weight decay of new collections.
float default_weight_decay();

void bind_errors(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_expressions(nb::module_& m, nb::class_<Expression>& expression);
void bind_parameters(nb::module_& m, nb::class_<Parameter>& parameter,
                     nb::class_<LookupParameter>& table);
void bind_collections(nb::module_& m, nb::class_<ParameterCollection>& collection);
void bind_initializers(nb::module_& m);
void bind_trainers(nb::module_& m);
void bind_files(nb::module_& m);
void bind_checks(nb::module_& m);
void bind_custom_operation(nb::module_& m);
void bind_operations(nb::module_& m);
void bind_builders(nb::module_& m);
void bind_crfs(nb::module_& m);
void bind_decoding(nb::module_& m);
void bind_beam_search(nb::module_& m);
void bind_layers_of_nn(nb::module_& m);
void bind_transformers(nb::module_& m);
void bind_trees_of_nn(nb::module_& m);
void bind_more_layers(nb::module_& m);

}  // namespace dynet::python

namespace nanobind::detail {

template <>
struct type_caster<dynet::python::Flag> {
  NB_TYPE_CASTER(dynet::python::Flag, const_name("bool"))

  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    const int truth = PyObject_IsTrue(src.ptr());
    if (truth < 0) PyErr_Clear();
    value = truth > 0;
    return truth >= 0;
  }

  static handle from_cpp(const dynet::python::Flag& flag, rv_policy, cleanup_list*) noexcept {
    return PyBool_FromLong(flag.value);
  }
};

template <>
struct type_caster<dynet::python::Path> {
  NB_TYPE_CASTER(dynet::python::Path, const_name("str | os.PathLike[str]"))

  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    PyObject* bytes = nullptr;
    if (!PyUnicode_FSConverter(src.ptr(), &bytes)) {
      PyErr_Clear();
      return false;
    }
    const char* const text = PyBytes_AsString(bytes);
    if (text) value.assign(text);
    Py_DECREF(bytes);
    return text != nullptr;
  }
};

}  // namespace nanobind::detail
