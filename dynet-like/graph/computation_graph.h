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

/// The nodes of a graph as DyNet's programs see them: `cg.nodes.size()`, `cg.nodes[i]->dim`.
/// Pointers are good until the next node is made.
class NodeList {
 public:
  explicit NodeList(const ComputationGraph& graph) : graph_(graph) {}
  /// How many there are.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  /// Throws IndexError.
  const Node* operator[](std::size_t i) const;

 private:
  const ComputationGraph& graph_;
};

/// Whether a class is one of DyNet's that an operation is here, see ComputationGraph::add_function.
template <class F, class = void>
inline constexpr bool kStandsForOperation = false;
template <class F>
inline constexpr bool kStandsForOperation<F, std::void_t<typename F::StandsForOperation>> = true;

/// A graph of one sample: built from Expressions, run, thrown away.
///
/// Making one, clearing one and throwing one away is cheap: its memory is kept and used again, also
/// by the next graph. Any number may live at once; a graph belongs to one thread at a time,
/// different graphs run on different threads, over shared parameters. What a backward pass adds to
/// the parameters goes into a buffer of its thread, or of a number (set_gradient_buffer): see
/// GradientBuffers. With numbers the sum does not depend on timing, nor on the number of threads.
///
/// A value has the same bits however it is computed: batched or not, at once or node by node, in
/// one forward pass or several, in training or inference, on any number of threads; on a CPU, by
/// one build of the library. Gradients have the same bits if the same calls are made again, and on
/// any number of threads. Otherwise, batched or not for example, they differ by rounding: what many
/// nodes share gets its gradient as a sum over them, in the order in which they ran.
class ComputationGraph {
 public:
  /// Nodes of one kind that do not wait for each other run together.
  ComputationGraph();
  /// Without `batched` every node runs alone, in the order of creation.
  explicit ComputationGraph(bool batched);
  ~ComputationGraph();
  ComputationGraph(const ComputationGraph&) = delete;
  ComputationGraph& operator=(const ComputationGraph&) = delete;

  /// Runs every node up to `e` again: values behind pointers are read again, random draws are new.
  const Tensor& forward(const Expression& e, SourceLocation at = SourceLocation::current());
  /// Runs only what has no value yet.
  const Tensor& incremental_forward(const Expression& e,
                                    SourceLocation at = SourceLocation::current());
  const Tensor& get_value(const Expression& e, SourceLocation at = SourceLocation::current());
  const Tensor& get_gradient(const Expression& e, SourceLocation at = SourceLocation::current());
  /// The same of a node by its index in the graph.
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
  /// Adds the gradient of the scalar `e` to that of every parameter below it, running forward first
  /// where needed. With `full`, constants get gradients too. Throws ShapeError unless `e` is one
  /// number.
  void backward(const Expression& e, bool full = false,
                SourceLocation at = SourceLocation::current());
  /// Forgets all values.
  void invalidate();

  /// Removes all nodes and all checkpoints; every Expression of this graph becomes stale. Takes the
  /// same time whatever the size.
  void clear();
  /// Becomes a new graph: without nodes, with a number of its own and the settings of one that was
  /// just made. In less time than it takes to destroy a graph and to make another one. Throws as
  /// the constructor.
  void renew(bool batched = true);
  /// Remembers the present end of the graph, on a stack.
  void checkpoint();
  /// Back to the last checkpoint, which is taken off. Throws ArgumentError if there is none.
  void revert(SourceLocation at = SourceLocation::current());

  /// Compute every node as soon as it is made, so that an error shows at the line that made it.
  void set_immediate_compute(bool immediate);
  /// Look for NaN and infinities in every value and gradient; the first one throws NumericError
  /// naming the node, its operands and the line that made it. Minus infinity masks scores: it may
  /// be put in, and be in values of operations on values that have it. What a stopped backward pass
  /// has added to the parameters stays there until `reset_gradient`.
  void set_check_validity(bool check);
  /// Seeds the random draws (dropout, noise, random inputs) of nodes made from now on. Without it
  /// every graph of the process draws differently, in the order in which graphs are made.
  void set_seed(std::uint64_t seed);

  /// The gradients of parameters are added in buffer `number` of their collections, and not in that
  /// of the thread that runs `backward`: what is added up buffer by buffer does not depend on which
  /// thread did what. Two graphs with one number must not run at once. See Workers.
  void set_gradient_buffer(unsigned number);
  /// For graphs that are only run forward: one with more than 8 MiB of values runs in windows, and
  /// the memory of values that no later node reads is used again. A freed value is rematerialized
  /// when it is requested; `backward` throws ArgumentError. Switched off again, all values are
  /// dropped if some were computed in inference: the next forward makes them, with the same draws.
  void set_inference(bool inference);
  /// Does nothing: a graph runs on the thread that runs it. Several threads run a graph each, see
  /// Workers.
  [[deprecated("a graph runs on one thread; give each thread a graph, see Workers")]] void
  set_workers(Workers* /*workers*/) {}

  /// Device for the values and operations of all nodes that get no other device from their
  /// operands, their parameter or their own argument, see `to_device`; at first `default_device`.
  /// Requested values and gradients are copied from the device. Gradients of parameters accumulate
  /// in the memory of the device until a trainer reads them. Call it before there are nodes: throws
  /// ArgumentError otherwise, and DeviceError if the device cannot be used. Operations that cannot
  /// run on their device throw DeviceError where they are made.
  void set_device(Device* device, SourceLocation at = SourceLocation::current());

  /// The precision to which GPUs round the factors of products: of matmul, affine_transform and
  /// conv2d, of the builders made of them, and of all their gradients. Parameters, sums and
  /// everything else stay floats; `float32`, no rounding, is the default. A CPU with AVX512-BF16
  /// does the same in bf16, but for conv2d, and is faster where it multiplies with many columns;
  /// numbers below the normal ones are zero there. Any other CPU computes in float32 whatever is
  /// set, and so does every CPU for TF32. Call it before there are nodes, before or after
  /// `set_device`: throws ArgumentError else.
  void set_precision(Precision precision, SourceLocation at = SourceLocation::current());

  /// Its number among the graphs that the process has made, from 1.
  unsigned get_id() const;
  /// Members of DyNet's graph that make nodes, equal to the functions `input`, `parameter`,
  /// `const_parameter`, `lookup` and `const_lookup`. Defined in dynet-like::compat.
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
  /// The operation that DyNet's class `F`, of dynet/nodes.h, stands for, with what its constructor
  /// takes.
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

  /// How large it is and what ran.
  GraphStatistics statistics() const;
  /// Number of nodes.
  std::size_t size() const;
  /// The graph as text for Graphviz.
  void print_graphviz(std::ostream& out) const;
  /// The same as a string, and printed in programs that call `initialize` of dynet-like::compat.
  std::string print_graphviz() const;
  /// The nodes, for tools and tests.
  const GraphStore& store() const;
  const NodeList nodes{*this};

 private:
  friend GraphState& state_of(ComputationGraph& graph);
  GraphState* state_;
};

/// Adds a node over operands, which decide the graph. Checks them and the shape rule; on any error
/// the graph is as before. This is what every operation ends in, a user's own too.
Expression add_node(const OpForm& form, Span<const Expression> operands,
                    const Attributes& attributes, SourceLocation at);
Expression add_node(const OpForm& form, const Expression& x, const Attributes& attributes,
                    SourceLocation at);
Expression add_node(const OpForm& form, const Expression& x, const Expression& y,
                    const Attributes& attributes, SourceLocation at);
/// Adds a node without operands: at this device, else at that of the parameter that it names, else
/// at the graph's own. Throws DeviceError if the device cannot be used.
Expression add_node(ComputationGraph& graph, const OpForm& form, const Attributes& attributes,
                    SourceLocation at, Device* device = nullptr);
/// Adds a node of Kind::transfer, at another device than its operand.
Expression add_transfer(const OpForm& form, const Expression& x, Device* to, SourceLocation at);
/// The device of an expression; null if it is empty or stale.
Device* device_of(const Expression& e);
/// A key for the random draws of a new node of this graph.
std::uint64_t next_random_key(ComputationGraph& graph);
std::uint64_t next_random_key(const Expression& e);
/// The last key was not used: the next node gets it.
void give_back_random_key(ComputationGraph& graph);
void give_back_random_key(const Expression& e);
/// Keeps the bank of a parameter alive as long as the graph may name it.
void keep_bank(ComputationGraph& graph, const std::shared_ptr<ParameterStorageBase>& parameter);

/// How many graphs live, and the number of the one that was made last. Nothing depends on them.
int get_number_of_active_graphs();
unsigned get_current_graph_id();

/// Gives memory of graphs that are gone back to the system.
void release_graph_memory();

}  // namespace dynet
