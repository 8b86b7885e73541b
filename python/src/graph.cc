#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/base/random.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/profile/picture.h"
#include "operations.h"

// Functions of the interpreter that loads this module, outside the stable ABI.
extern "C" {
[[gnu::weak]] PyThreadState* PyInterpreterState_ThreadHead(PyInterpreterState* interpreter);
[[gnu::weak]] PyThreadState* PyThreadState_Next(PyThreadState* thread);
}

namespace dynet::python {
namespace {

using namespace nb::literals;

// Settings of `init` and `dynet_config`, applied once.
struct Defaults {
  float weight_decay = 0;
  std::string device;  // device of graphs; empty: the CPU
  std::atomic<std::uint64_t> seed = 0;
  std::atomic<std::uint64_t> graphs = 0;  // number of graphs since the seed was set
};
Defaults& defaults() {
  static auto& d = *new Defaults;
  return d;
}

// All graphs by their ComputationGraph.
struct Graphs {
  std::mutex mutex;
  std::unordered_map<const ComputationGraph*, Graph*> by_inside;
};
Graphs& graphs() {
  static auto& all = *new Graphs;  // never freed: graphs of threads are destroyed last
  return all;
}

// Id of the main thread, the only one in which Python handles signals.
unsigned long first_thread = 0;

// Handles Ctrl-C and other signals in Python during long computations.
Interrupt& signals() {
  static auto& interrupt = *new Interrupt([] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  return interrupt;
}

// Current graph of this thread; null before its first use.
constinit thread_local Graph* in_use = nullptr;

// True if no other thread has a Python thread state. New states are inserted at the head of the
// list.
bool is_only_thread() {
  if (!PyInterpreterState_ThreadHead || !PyThreadState_Next) return false;
  PyThreadState* const own = PyThreadState_Get();
  // In a subinterpreter, calling Python from inside would deadlock.
  if (own != PyGILState_GetThisThreadState()) return false;
  return PyInterpreterState_ThreadHead(PyInterpreterState_Get()) == own && !PyThreadState_Next(own);
}

struct Thread {
  std::shared_ptr<Graph> own;
  // Python object of `own`, created once. Only the main thread has it, and drops it before the
  // interpreter ends.
  PyObject* own_object = nullptr;
  std::vector<std::shared_ptr<Graph>> entered;  // graphs entered by `with`, the innermost last

  ~Thread() { in_use = nullptr; }
  void drop_own() {
    Py_CLEAR(own_object);
    own.reset();
    note_use();
  }
  void note_use() { in_use = entered.empty() ? own.get() : entered.back().get(); }
};
Thread& this_thread() {
  thread_local Thread t;
  return t;
}

nb::object current_object() {
  Thread& t = this_thread();
  if (!t.entered.empty()) return nb::cast(t.entered.back());
  if (t.own_object) return nb::borrow(t.own_object);
  current();
  nb::object object = nb::cast(t.own);
  if (PyThread_get_thread_ident() == first_thread)
    t.own_object = nb::object(object).release().ptr();
  return object;
}

nb::object renew(Flag immediate_compute, Flag check_validity, std::optional<Flag> autobatching) {
  current().renew(immediate_compute, check_validity, autobatching);
  return current_object();
}

void set_defaults(std::uint64_t seed, float weight_decay, const std::string& device) {
  defaults().weight_decay = weight_decay;
  defaults().device = device;
  defaults().seed = seed;
  defaults().graphs = 0;
  this_thread().drop_own();  // the next graph uses the settings
}

void leave(const std::shared_ptr<Graph>& graph) {
  Thread& t = this_thread();
  if (t.entered.empty() || t.entered.back() != graph)
    throw ArgumentError("graph: this thread has not entered it last, and cannot leave it", here());
  t.entered.pop_back();
  t.note_use();
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device* d : get_device_manager()->get_devices()) names.push_back(d->name);
  return names;
}

Expression input_matrix(Graph& g, const std::vector<float>& v, const Sizes& d, unsigned batch_size,
                        const std::string& device) {
  return input(*g, shape_of(d, batch_size), v, device_argument(device), here());
}

Expression input_sparse(Graph& g, const std::vector<unsigned>& idxs, const std::vector<float>& v,
                        const Sizes& dim, unsigned batch_size, float defval,
                        const std::string& device) {
  return input(*g, shape_of(dim, batch_size), idxs, v, defval, device_argument(device), here());
}

void print(const std::string& text) { nb::module_::import_("builtins").attr("print")(text); }

Expression node(Graph& g, VariableIndex i) { return Expression(&*g, i, here()); }

Tensor run(Graph& g, VariableIndex i, bool again) {
  const SourceLocation at = here();
  const Expression e = node(g, i);
  const Unlocked unlocked(e);
  return again ? g->forward(e, at) : g->incremental_forward(e, at);
}

// Adds the six methods that run a graph up to a node, by index.
void bind_runs(nb::class_<Graph>& graph) {
  for (const bool again : {true, false}) {
    const std::string name = again ? "forward" : "inc_forward";
    const char* what = again ? "Computes all nodes up to `index` again."
                             : "Computes the nodes up to `index` that have no value.";
    const auto method = [&](const std::string& full, auto f) {
      nb::setattr(graph, full.c_str(),
                  nb::cpp_function(f, nb::name(full.c_str()), nb::scope(graph), nb::is_method(),
                                   "index"_a, what));
    };
    method(name, [again](Graph& g, VariableIndex i) { run(g, i, again); });
    method(name + "_scalar",
           [again](Graph& g, VariableIndex i) { return as_scalar(run(g, i, again)); });
    method(name + "_vec",
           [again](Graph& g, VariableIndex i) { return as_vector(run(g, i, again)); });
  }
}

nb::typed<nb::dict, nb::str, nb::any> statistics(Graph& g) {
  const GraphStatistics s = g->statistics();
  nb::typed<nb::dict, nb::str, nb::any> d;
  d["nodes"] = s.nodes;
  d["batches"] = s.batches;
  d["value_bytes"] = s.value_bytes;
  d["gradient_bytes"] = s.gradient_bytes;
  d["isa"] = s.isa;
  return d;
}

// Lists the nodes, one per line; `nan_check_only` selects those with NaN or infinity.
std::string dumped(Graph& g, bool show_values, bool show_gradients, bool nan_check_only) {
  std::ostringstream out;
  for (VariableIndex i = 0; i < g->size(); ++i) {
    const Expression e = node(g, i);
    const auto bad = [](const Tensor& t) { return !t.is_valid(); };
    const auto show = [&](const char* what, const Tensor& t) {
      if (nan_check_only && !bad(t)) return;
      out << "node " << i << ' ' << what << ' ' << to_string(t.d) << '\n';
      if (!nan_check_only) out << t << '\n';
    };
    if (show_values || nan_check_only) show("value", e.value(here()));
    if (show_gradients) {
      std::optional<Tensor> gradient;
      try {
        gradient = e.gradient(here());
      } catch (const GradientError&) {  // no backward pass
      }
      if (gradient) show("gradient", *gradient);
    }
  }
  return out.str();
}

void dump(Graph& g, const Path& filename, Flag show_values, Flag show_gradients,
          Flag nan_check_only) {
  const std::string text = dumped(g, show_values, show_gradients, nan_check_only);
  if (filename.empty()) {
    print(text);
  } else {
    std::ofstream out(filename);
    out << text;
    if (!out.flush()) throw FileError("dump: " + filename + " cannot be written", here());
  }
}

void print_graphviz(Graph& g) { print(g->ComputationGraph::print_graphviz()); }

Precision precision_of(const std::string& name) {
  if (name == "float32") return Precision::float32;
  if (name == "tf32") return Precision::tf32;
  if (name == "bf16") return Precision::bf16;
  throw ArgumentError("graph: precision is float32, tf32 or bf16, not \"" + name + '"', here());
}

std::shared_ptr<Graph> make_graph(Flag autobatching, Flag immediate_compute, Flag check_validity,
                                  Flag inference, std::optional<std::uint64_t> seed,
                                  const std::string& device, const nb::object& workers,
                                  const std::string& precision) {
  if (!workers.is_none() &&
      PyErr_WarnEx(
          PyExc_DeprecationWarning,
          "graph: workers does nothing, a graph runs on one thread; give each thread a graph",
          1) < 0)
    throw nb::python_error();
  GraphSettings settings{autobatching, immediate_compute, check_validity, inference};
  settings.seed = seed.value_or(0);
  if (!device.empty()) settings.device = get_device_manager()->get_global_device(device, here());
  settings.precision = precision_of(precision);
  return std::make_shared<Graph>(settings);
}

void bind_class(nb::module_& m) {
  nb::class_<Graph> graph(
      m, "ComputationGraph",
      "A graph of one sample. `cg()` is the one in use, `graph()` makes another one.");
  graph
      .def(
          "renew",
          [](const std::shared_ptr<Graph>& g, Flag immediate_compute, Flag check_validity,
             std::optional<Flag> autobatching) {
            g->renew(immediate_compute, check_validity, autobatching);
            return g;
          },
          "immediate_compute"_a = false, "check_validity"_a = false, "autobatching"_a = nb::none(),
          "Throws all nodes away and returns the graph; see `renew_cg`.")
      .def("version", &Graph::version, "How often it was renewed.")
      .def(
          "revert", [](Graph& g) { g->revert(here()); }, "Back to the last `checkpoint`.")
      .def(
          "checkpoint", [](Graph& g) { g->checkpoint(); }, "Remembers the present end.")
      .def(
          "backward",
          [](Graph& g, VariableIndex i, Flag full) {
            const SourceLocation at = here();
            const Expression e = node(g, i);
            const Unlocked unlocked(e);
            g->backward(e, full, at);
          },
          "index"_a, "full"_a = false, "Expression.backward of the node `index`.")
      .def("dump", dump, "filename"_a, "show_values"_a, "show_gradients"_a, "nan_check_only"_a,
           "Writes values and gradients of all nodes to a file, or prints them; with\n"
           "`nan_check_only` the numbers of nodes that have NaN or infinities.")
      .def("print_graphviz", print_graphviz, "Prints the graph as text for Graphviz.")
      .def("inputMatrixLiteral", input_matrix, "v"_a, "d"_a, "batch_size"_a = 1, "device"_a = "",
           "Numbers in column-major order as an expression of shape d.")
      .def("inputSparseTensor", input_sparse, "idxs"_a, "v"_a, "dim"_a, "batch_size"_a = 1,
           "defval"_a = 0.0f, "device"_a = "",
           "`defval` everywhere but for v, at column-major places idxs, as shape dim.")
      .def(
          "graphviz", [](Graph& g) { return g->ComputationGraph::print_graphviz(); },
          "The graph as text for Graphviz.")
      .def("statistics", statistics, "Nodes, batches that ran, memory, instruction set: a dict.")
      .def_prop_ro(
          "id", [](Graph& g) { return g->get_id(); },
          "Its number among the graphs of this process.")
      .def(
          "set_gradient_buffer", [](Graph& g, unsigned n) { g->set_gradient_buffer(n); },
          "number"_a,
          "Adds gradients of parameters in this buffer instead of the thread's: what is added up\n"
          "then does not depend on which thread did what. Two graphs with one number must not\n"
          "run at once.")
      .def("__len__", [](Graph& g) { return g->size(); })
      .def("__bool__", [](Graph&) { return true; })
      .def("__enter__",
           [](const std::shared_ptr<Graph>& g) {
             this_thread().entered.push_back(g);
             this_thread().note_use();
             return g;
           })
      .def(
          "__exit__", [](const std::shared_ptr<Graph>& g, const nb::args&) { leave(g); },
          nb::sig("def __exit__(self, *args: object) -> None"))
      .def("__repr__",
           [](Graph& g) {
             return "<graph " + std::to_string(g->get_id()) + " of " + std::to_string(g->size()) +
                    " nodes>";
           })
      .def(
          "svg",
          [](Graph& g, std::size_t most_boxes, bool values) {
            return graph_svg(*g, {most_boxes, values});
          },
          "most_boxes"_a = PictureSettings().most_boxes, "values"_a = false,
          "The graph as an SVG picture; nodes of one batch have one colour. With more nodes than\n"
          "`most_boxes` it is folded: a box for each batch, or for each operation and line.")
      .def("_repr_svg_", [](Graph& g) { return graph_svg(*g); });
  bind_runs(graph);
}

}  // namespace

Graph::Graph(const GraphSettings& settings)
    : settings_(settings), graph_(std::make_unique<ComputationGraph>(settings.batched)) {
  apply_settings();
  const std::lock_guard lock(graphs().mutex);
  graphs().by_inside[graph_.get()] = this;
}

Graph::~Graph() {
  {
    const std::lock_guard lock(graphs().mutex);
    graphs().by_inside.erase(graph_.get());
  }
  graph_.reset();
  drop_kept();
}

void Graph::drop_kept() {
  if (kept_.empty()) return;
  if (!Py_IsInitialized()) {  // the interpreter has ended, so the objects are leaked
    static_cast<void>(new auto(std::move(kept_)));
    return;
  }
  const nb::gil_scoped_acquire acquire;  // an ending thread has released the lock
  kept_.clear();
}

const Dim* Graph::keep(nb::object object, const Dim& shape) {
  return &kept_.emplace_back(std::move(object), shape).second;
}

void Graph::apply_settings() {
  if (PyThread_get_thread_ident() == first_thread)
    state_of(*graph_).evaluator->set_interrupt(&signals());
  if (settings_.immediate_compute) graph_->set_immediate_compute(true);
  if (settings_.check_validity) graph_->set_check_validity(true);
  if (settings_.inference) graph_->set_inference(true);
  if (settings_.precision != Precision::float32) graph_->set_precision(settings_.precision, here());
  // Each renewal gets a new seed.
  if (settings_.seed)
    graph_->set_seed(version_ ? mix_bits(settings_.seed + version_) : settings_.seed);
  else if (const std::uint64_t seed = random_seed())
    graph_->set_seed(mix_bits(seed + ++defaults().graphs));
  if (settings_.device)
    graph_->set_device(settings_.device, here());
  else if (const std::string& device = defaults().device; !device.empty())
    graph_->set_device(get_device_manager()->get_global_device(device, here()), here());
}

void Graph::renew(Flag immediate_compute, Flag check_validity, std::optional<Flag> autobatching) {
  settings_.batched = autobatching.value_or(true);
  settings_.immediate_compute = immediate_compute;
  settings_.check_validity = check_validity;
  ++version_;
  graph_->renew(settings_.batched);
  drop_kept();
  apply_settings();
}

template <class P>
Expression Graph::node_of(const P& p) {
  Expression& known = parameters_[&p.stored()];
  if (known.is_stale()) known = parameter(*graph_, p, here());
  return known;
}

Graph* graph_of(const Expression& e) {
  if (!e.state || e.is_stale()) return nullptr;
  const std::lock_guard lock(graphs().mutex);
  const auto found = graphs().by_inside.find(e.pg);
  return found == graphs().by_inside.end() ? nullptr : found->second;
}

Unlocked::Unlocked() {
  if (!is_only_thread()) release_.emplace();
}

Unlocked::Unlocked(const Expression& e) {
  if (!in_use || &**in_use != e.pg || !is_only_thread()) release_.emplace();
}

Graph& current() {
  if (in_use) return *in_use;
  Thread& t = this_thread();
  t.own = std::make_shared<Graph>(GraphSettings{});
  t.note_use();
  return *t.own;
}
ComputationGraph& current_graph() { return *current(); }
Expression expression_of(const Parameter& p) { return current().node_of(p); }
Expression expression_of(const LookupParameter& p) { return current().node_of(p); }
std::uint64_t random_seed() { return defaults().seed; }
float default_weight_decay() { return defaults().weight_decay; }

void bind_graph(nb::module_& m) {
  first_thread = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  nb::class_<Workers>(m, "Workers", "Threads that share in the updates of a trainer.")
      .def(nb::init<unsigned>(), "threads"_a, "So many threads, the calling one included.");
  bind_class(m);
  m.def(
      "graph", make_graph, "autobatching"_a = true, "immediate_compute"_a = false,
      "check_validity"_a = false, "inference"_a = false, "seed"_a = nb::none(), "device"_a = "",
      "workers"_a = nb::none(), "precision"_a = "float32",
      "A new graph, for `with dynet.graph() as cg:`. Any number of them may live at once, each of\n"
      "one thread at a time.\n\n"
      "autobatching: nodes of one kind run together\n"
      "immediate_compute: each node is computed when it is made\n"
      "check_validity: NaN and infinities are a NumericError that names the node\n"
      "inference: only for forward, in less memory\n"
      "seed: of its random draws\n"
      "device: such as \"GPU:0\"\n"
      "workers: does nothing, deprecated; see Trainer.set_workers for updates\n"
      "precision: \"tf32\" or \"bf16\" rounds factors of products where the hardware is faster "
      "so:\n"
      "GPUs, and for bf16 CPUs with AVX512-BF16; sums, parameters and gradients stay float32\n\n"
      ">>> with dy.graph(seed=1) as cg:\n"
      "...     loss = dy.squared_norm(dy.inputVector([3, 4]))\n"
      ">>> loss.value(), len(cg)\n"
      "(25.0, 2)");
  m.def("renew_cg", renew, "immediate_compute"_a = false, "check_validity"_a = false,
        "autobatching"_a = nb::none(),
        nb::sig("def renew_cg(immediate_compute: bool = False, check_validity: bool = False, "
                "autobatching: bool | None = None) -> ComputationGraph"),
        "Throws the nodes of the graph in use away: a new sample begins. All expressions of it\n"
        "become stale. Returns the graph.\n\n"
        ">>> x = dy.inputVector([1, 2])\n"
        ">>> cg = dy.renew_cg()\n"
        ">>> len(cg), x.is_stale()\n"
        "(0, True)");
  m.def("cg", current_object, nb::sig("def cg() -> ComputationGraph"), "The graph in use.");
  m.def(
      "cg_version", [] { return current().version(); }, "How often the graph in use was renewed.");
  m.def(
      "cg_checkpoint", [] { current_graph().checkpoint(); },
      "Remembers the present end of the graph, on a stack.");
  m.def(
      "cg_revert", [] { current_graph().revert(here()); },
      "Back to the last checkpoint, which is taken off.");
  m.def(
      "print_text_graphviz", [] { print_graphviz(current()); },
      "Prints the graph in use as text for Graphviz.");
  m.def(
      "dump_cg",
      [](const Path& filename, Flag show_values, Flag show_gradients, Flag nan_check_only) {
        dump(current(), filename, show_values, show_gradients, nan_check_only);
      },
      "filename"_a = "", "show_values"_a = true, "show_gradients"_a = true,
      "nan_check_only"_a = false, "ComputationGraph.dump of the graph in use.");
  m.def(
      "reset_random_seed",
      [](std::uint64_t seed) {
        defaults().seed = seed;
        defaults().graphs = 0;
        if (seed) current_graph().set_seed(mix_bits(seed));
      },
      "seed"_a,
      "The seed of the random draws of this graph and of those made from now on, and of the\n"
      "initial values of new collections.");
  // Graphs hold Python objects, which must be freed before the interpreter ends.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    this_thread().entered.clear();
    this_thread().drop_own();
  }));
  m.def("_set_defaults", set_defaults, "seed"_a, "weight_decay"_a, "device"_a);
  m.def("_device_names", device_names);
}

}  // namespace dynet::python
