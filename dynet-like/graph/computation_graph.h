#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dynet-like/base/span.h"
#include "dynet-like/graph/expression.h"
#include "dynet-like/graph/statistics.h"

namespace dynet {

class LookupParameter;
class Parameter;
class Workers;
struct ParameterStorageBase;

/// The nodes of a graph as in DyNet's programs: `cg.nodes.size()`, `cg.nodes[i]->dim`. Pointers are
/// valid until the next node is made.
class NodeList {
 public:
  explicit NodeList(const ComputationGraph& graph) : graph_(graph) {}
  /// Number of nodes.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  /// Throws IndexError.
  const Node* operator[](std::size_t i) const;

 private:
  const ComputationGraph& graph_;
};

/// Whether F is a DyNet node class with an operation in this library, see
/// ComputationGraph::add_function.
template <class F, class = void>
inline constexpr bool kStandsForOperation = false;
template <class F>
inline constexpr bool kStandsForOperation<F, std::void_t<typename F::StandsForOperation>> = true;

/// A graph of one sample or minibatch: built from Expressions, run, destroyed.
///
/// Construction, `clear` and destruction are cheap: the next graph reuses the memory. Any number of
/// graphs may live at once. A graph belongs to one thread at a time; different graphs run on
/// different threads, over shared parameters. A backward pass adds the gradients of parameters to
/// the buffer of its thread, or to a numbered buffer (set_gradient_buffer): see GradientBuffers.
/// With numbered buffers the sum depends neither on timing nor on the number of threads.
///
/// Values are reproducible to the bit: batched or not, immediate or not, in one forward pass or
/// several, in training or inference, on any number of threads; on a CPU, with one build of the
/// library. Gradients are reproducible to the bit for equal calls, on any number of threads.
/// Different calls or settings, such as batching, change gradients by rounding: the gradient of a
/// node with several users is a sum in the order in which the users ran.
class ComputationGraph {
 public:
  /// Batches nodes of one kind that do not depend on each other.
  ComputationGraph();
  /// Without `batched` every node runs alone, in the order of creation.
  explicit ComputationGraph(bool batched);
  ~ComputationGraph();
  ComputationGraph(const ComputationGraph&) = delete;
  ComputationGraph& operator=(const ComputationGraph&) = delete;

  /// Recomputes every node up to `e`: reads input pointers again and makes new random draws.
  const Tensor& forward(const Expression& e, SourceLocation at = SourceLocation::current());
  /// Computes the nodes up to `e` that have no value yet.
  const Tensor& incremental_forward(const Expression& e,
                                    SourceLocation at = SourceLocation::current());
  const Tensor& get_value(const Expression& e, SourceLocation at = SourceLocation::current());
  const Tensor& get_gradient(const Expression& e, SourceLocation at = SourceLocation::current());
  /// Overloads for a node by its index in the graph.
  const Tensor& forward(VariableIndex i, SourceLocation at = SourceLocation::current()) {
    return forward(Expression(this, i, at), at);
  }
  const Tensor& incremental_forward(VariableIndex i,
                                    SourceLocation at = SourceLocation::current()) {
    return incremental_forward(Expression(this, i, at), at);
  }
  const Tensor& get_value(VariableIndex i, SourceLocation at = SourceLocation::current()) {
    return get_value(Expression(this, i, at), at);
  }
  const Tensor& get_gradient(VariableIndex i, SourceLocation at = SourceLocation::current()) {
    return get_gradient(Expression(this, i, at), at);
  }
  void backward(VariableIndex i, bool full = false, SourceLocation at = SourceLocation::current()) {
    backward(Expression(this, i, at), full, at);
  }
  const Dim& get_dimension(VariableIndex i, SourceLocation at = SourceLocation::current()) const {
    return Expression(const_cast<ComputationGraph*>(this), i, at).dim(at);
  }
  /// Adds d e / d p to the gradient of every parameter p that the scalar `e` depends on, after
  /// computing missing values. With `full`, constants get gradients as well. Throws ShapeError
  /// unless `e` is one number, ArgumentError in inference.
  void backward(const Expression& e, bool full = false,
                SourceLocation at = SourceLocation::current());
  /// Drops all values: the next forward recomputes them, with new random draws.
  void invalidate();

  /// Removes all nodes and all checkpoints; every Expression of this graph becomes stale. The time
  /// does not depend on the number of nodes.
  void clear();
  /// Turns this graph into a new one: no nodes, a new number (get_id), default settings. Cheaper
  /// than destroying the graph and constructing another. Throws the errors of the constructor.
  void renew(bool batched = true);
  /// Pushes the present end of the graph onto the stack of checkpoints.
  void checkpoint();
  /// Pops the last checkpoint and removes all nodes made since. Throws ArgumentError if there is
  /// none.
  void revert(SourceLocation at = SourceLocation::current());

  /// Computes every node as soon as it is made, so that an error names the line of the node.
  void set_immediate_compute(bool immediate);
  /// Checks every value and gradient for NaN and infinities; the first one throws NumericError with
  /// the node, its operands and its source line. Minus infinity is allowed as a mask of scores: in
  /// inputs, and in values of operations on values that contain it. Gradients that a stopped
  /// backward pass has added to parameters remain until `reset_gradient`.
  void set_check_validity(bool check);
  /// Seeds the random draws (dropout, noise, random inputs) of nodes made from now on. Without a
  /// seed every graph of the process has other draws, which depend on the order of construction.
  void set_seed(std::uint64_t seed);

  /// Adds the gradients of parameters to buffer `number` of their collections instead of the buffer
  /// of the thread that runs `backward`, so that the sum over buffers does not depend on the
  /// assignment of work to threads. Two graphs with one number must not run at the same time. See
  /// Workers.
  void set_gradient_buffer(unsigned number);
  /// For graphs that are only run forward. A graph with more than 8 MiB of values (32 MiB on a
  /// device) runs in windows; after each window, values that no later node reads are freed. A freed
  /// value is recomputed when it is requested. `backward` throws ArgumentError. Switching inference
  /// off drops all values if some were computed in inference: the next forward recomputes them with
  /// the same draws.
  void set_inference(bool inference);
  /// No effect: a graph runs on the calling thread. For several threads, give each its own graph,
  /// see Workers.
  [[deprecated("a graph runs on one thread; give each thread a graph, see Workers")]] void
  set_workers(Workers* /*workers*/) {}

  /// Device of all nodes that get no device from their operands, their parameter or their own
  /// argument, see `to_device`; initially `default_device`. Requested values and gradients are
  /// copied from the device. Gradients of parameters accumulate in the memory of the device until a
  /// trainer reads them. Throws ArgumentError if the graph has nodes, and DeviceError if the device
  /// cannot be used. Operations without a kernel for their device throw DeviceError when their node
  /// is made.
  void set_device(Device* device, SourceLocation at = SourceLocation::current());

  /// Precision to which GPUs round the factors of products: of matmul, affine_transform and conv2d,
  /// of the builders that use them, and of all their gradients. Parameters, sums and all other
  /// operations are float32. The default, `float32`, does not round. A CPU with AVX512-BF16 rounds
  /// to bf16 as well, except in conv2d: faster for products with many columns, and subnormal
  /// numbers become zero. Other CPUs compute in float32, and so does every CPU for TF32. May be
  /// called before or after `set_device`; throws ArgumentError if the graph has nodes.
  void set_precision(Precision precision, SourceLocation at = SourceLocation::current());

  /// Number of this graph among the graphs of the process, from 1.
  unsigned get_id() const;
  /// Member functions of DyNet's graph that make nodes; equal to the functions `input`,
  /// `parameter`, `const_parameter`, `lookup` and `const_lookup`. Defined in dynet-like::compat.
  VariableIndex add_input(real s, Device* device = default_device);
  VariableIndex add_input(const real* s, Device* device = default_device);
  VariableIndex add_input(const Dim& d, const std::vector<float>& data,
                          Device* device = default_device);
  VariableIndex add_input(const Dim& d, const std::vector<float>* data,
                          Device* device = default_device);
  VariableIndex add_input(const Dim& d, const std::vector<unsigned>& ids,
                          const std::vector<float>& data, Device* device = default_device,
                          float others = 0);
  VariableIndex add_parameters(const Parameter& p);
  VariableIndex add_parameters(const LookupParameter& p);
  VariableIndex add_const_parameters(const Parameter& p);
  VariableIndex add_const_parameters(const LookupParameter& p);
  VariableIndex add_lookup(const LookupParameter& p, unsigned index);
  VariableIndex add_lookup(const LookupParameter& p, const unsigned* index);
  VariableIndex add_lookup(const LookupParameter& p, const std::vector<unsigned>& indices);
  VariableIndex add_lookup(const LookupParameter& p, const std::vector<unsigned>* indices);
  VariableIndex add_const_lookup(const LookupParameter& p, unsigned index);
  VariableIndex add_const_lookup(const LookupParameter& p, const unsigned* index);
  VariableIndex add_const_lookup(const LookupParameter& p, const std::vector<unsigned>& indices);
  VariableIndex add_const_lookup(const LookupParameter& p, const std::vector<unsigned>* indices);
  /// Adds the operation of DyNet's class `F` (dynet/nodes.h); `side` are the arguments of its
  /// constructor after the operands.
  template <class F, class... Side>
  VariableIndex add_function(std::initializer_list<VariableIndex> operands, Side&&... side) {
    return add_function<F>(std::vector<VariableIndex>(operands), std::forward<Side>(side)...);
  }
  template <class F, class List, class... Side>
  VariableIndex add_function(const List& operands, Side&&... side) {
    static_assert(kStandsForOperation<F>,
                  "no operation has this name; one of your own is an OpForm, see 'Operations of "
                  "your own' in docs/from-dynet.md");
    std::vector<Expression> x;
    for (const VariableIndex i : operands) x.emplace_back(this, i);
    return F::apply(*this, x, std::forward<Side>(side)...).i;
  }

  /// Size of the graph, and counts and memory of its last passes.
  GraphStatistics statistics() const;
  /// Number of nodes.
  std::size_t size() const;
  /// Prints the graph in Graphviz's language.
  void print_graphviz(std::ostream& out) const;
  /// Returns the graph in Graphviz's language, and prints it in programs that call `initialize` of
  /// dynet-like::compat.
  std::string print_graphviz() const;
  /// The nodes, for tools and tests.
  const GraphStore& store() const;
  const NodeList nodes{*this};

 private:
  friend GraphState& state_of(ComputationGraph& graph);
  GraphState* state_;
};

/// Adds a node to the graph of its operands. Checks the operands and evaluates the shape rule; on
/// an error the graph is unchanged. Every operation calls it, including operations defined by
/// users.
Expression add_node(const OpForm& form, Span<const Expression> operands,
                    const Attributes& attributes, const SourceLocation& at);
/// The same for operands in two lists.
Expression add_node(const OpForm& form, Span<const Expression> operands,
                    Span<const Expression> more, const Attributes& attributes,
                    const SourceLocation& at);
Expression add_node(const OpForm& form, const Expression& x, const Attributes& attributes,
                    const SourceLocation& at);
Expression add_node(const OpForm& form, const Expression& x, const Expression& y,
                    const Attributes& attributes, const SourceLocation& at);
/// Adds a node without operands on `device`, or on the graph's own device if null. Throws
/// DeviceError if the device cannot be used.
Expression add_node(ComputationGraph& graph, const OpForm& form, const Attributes& attributes,
                    const SourceLocation& at, Device* device = nullptr);
/// Adds a node of Kind::transfer: a copy of `x` on the device `to`.
Expression add_transfer(const OpForm& form, const Expression& x, Device* to,
                        const SourceLocation& at);
/// The device of an expression; null if it is empty or stale.
Device* device_of(const Expression& e);
/// Draws a key for the random draws of a new node of this graph.
std::uint64_t next_random_key(ComputationGraph& graph);
std::uint64_t next_random_key(const Expression& e);
/// Returns the last key, which was not used: the next node gets it.
void give_back_random_key(ComputationGraph& graph);
void give_back_random_key(const Expression& e);
/// Keeps the bank of a parameter alive until the graph is cleared or destroyed.
void keep_bank(ComputationGraph& graph, const std::shared_ptr<ParameterStorageBase>& parameter);

/// Number of live graphs, and number of the newest graph. No result depends on them.
int get_number_of_active_graphs();
unsigned get_current_graph_id();

/// Frees the memory that is kept of destroyed graphs.
void release_graph_memory();

}  // namespace dynet
