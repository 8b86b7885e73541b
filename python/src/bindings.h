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

// Declarations shared by all files of the module. Each `bind_*` adds classes and functions.

namespace dynet::python {

namespace nb = nanobind;

/// File name, passed as str or os.PathLike.
struct Path : std::string {
  using std::string::string;
};

/// Boolean with Python's truth value of any object.
struct Flag {
  bool value = false;
  Flag() = default;
  Flag(bool given) : value(given) {}
  operator bool() const { return value; }
};

/// Settings of new graphs.
struct GraphSettings {
  bool batched = true;             ///< automatic batching
  bool immediate_compute = false;  ///< compute each node when it is created
  bool check_validity = false;     ///< throw for NaN and infinity
  bool inference = false;          ///< forward only
  std::uint64_t seed = 0;          ///< seed of random nodes; 0: derived from the program's settings
  Device* device = nullptr;        ///< null: the device of the program's settings
  Precision precision = Precision::float32;
};

/// Python's graph: a ComputationGraph that can be renewed, with one node per parameter used as an
/// expression.
class Graph {
 public:
  explicit Graph(const GraphSettings& settings);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  ComputationGraph& operator*() { return *graph_; }
  ComputationGraph* operator->() { return graph_.get(); }
  /// Clears the graph, which makes all its expressions stale. Missing arguments keep their
  /// settings.
  void renew(Flag immediate_compute, Flag check_validity, std::optional<Flag> autobatching);
  /// Number of renewals.
  unsigned version() const { return version_; }
  /// Node of a parameter or table, created on first use. Throws like `parameter`.
  template <class P>
  Expression node_of(const P& p);
  /// Keeps an object and a shape alive as long as the nodes; returns the address of the shape.
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

/// Graph of an expression; null if it is destroyed.
Graph* graph_of(const Expression& e);
/// Graph for functions without operands: that of the innermost `with dynet.graph()` of this thread,
/// otherwise the thread's default graph.
Graph& current();
ComputationGraph& current_graph();
/// Line of the calling user code, for nodes and error messages.
SourceLocation here();
/// Sets the Python exception for the current C++ exception.
void set_error() noexcept;
/// Result of `f` as a new reference; null, with a Python exception set, if it throws.
template <class F>
PyObject* or_error(F f) noexcept {
  try {
    return f().release().ptr();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
/// Operator slots of operand classes.
const PyType_Slot* operator_slots();

/// Expression of a parameter in the current graph.
Expression expression_of(const Parameter& p);
Expression expression_of(const LookupParameter& p);
inline const Expression& expression_of(const Expression& e) { return e; }

/// Seed from `reset_random_seed` or the initial settings; 0: none.
std::uint64_t random_seed();
/// Weight decay of new collections.
float default_weight_decay();

void bind_errors(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_expressions(nb::module_& m, nb::class_<Expression>& expression);
void bind_parameters(nb::module_& m, nb::class_<Parameter>& parameter,
                     nb::class_<LookupParameter>& table);
void bind_collections(nb::module_& m, nb::class_<ParameterCollection>& collection);
void bind_initializers(nb::module_& m);
void bind_trainers(nb::module_& m);
void bind_batch_trainer(nb::module_& m);
void bind_profiler(nb::module_& m);
void bind_tensorboard(nb::module_& m);
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
