#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// State of parameters, to detect changes: a number that grows with every change in the graph's
/// first `banks` banks.
struct ParameterState {
  std::size_t banks;
  std::uint64_t changes;

  /// As it is now.
  static ParameterState of(const GraphStore& graph);
  /// Whether a parameter of those banks has changed since.
  bool changed(const GraphStore& graph) const;
};

/// Addresses of the memory of a batch, operand by operand: a list of all pointers, and the
/// operands' numbers behind it.
template <class T>
struct StepMemory {
  std::uint32_t arity : 31;
  std::uint32_t has_aux : 1;  ///< as the form says
  std::uint32_t count;
  T** pointers;

  /// By node of the batch.
  T** outs() const { return pointers; }
  /// Operand k of node i at k * count + i.
  T** ins() const { return pointers + count; }
  /// By node, if there is scratch.
  T** auxs() const { return has_aux ? pointers + (arity + std::size_t{1}) * count : nullptr; }
  /// Operands, where their pointers are among `ins`.
  NodeId* args() const { return reinterpret_cast<NodeId*>(pointers + rows() * count); }

  /// Lists of pointers.
  std::size_t rows() const { return arity + std::size_t{1} + has_aux; }
  std::size_t bytes() const { return (rows() * sizeof(T*) + arity * sizeof(NodeId)) * count; }
};

/// A plan that ran: where its part of a recording begins.
struct RecordedRun {
  NodeId begin;
  std::uint32_t steps, order, value_marks;
  std::size_t batches;
  Arena::Mark pointers;
  ParameterState parameters;
};

/// Record of the forward pass, for the backward pass to follow in reverse: the address of each
/// node's value, and the batches that ran, with the memory of their nodes and operands. Plain data:
/// passes fill it in and read it.
template <class T>
struct Recording {
  NodeId evaluated = 0;     ///< nodes with a value
  std::size_t batches = 0;  ///< that ran

  // By node.
  PodVector<T*> value;

  // By step.
  PodVector<Step> steps;  ///< `first` counts in `order`
  PodVector<StepMemory<T>> memory;

  PodVector<NodeId> order;
  PodVector<RecordedRun> runs;
  PodVector<Arena::Mark> value_marks;  ///< of the values of each device, before each run
  Arena pointers{alignof(void*)};      ///< what the memory of steps is listed in

  const NodeId* ids(std::uint32_t step) const { return order.data() + steps[step].first; }

  /// Start of a run that would begin now.
  RecordedRun next_run(const GraphStore& graph, NodeId begin) const;
  /// Drops everything recorded since the start of `run`.
  void rewind(const RecordedRun& run);
  /// Drops only the steps recorded since the start of `run`.
  void forget_steps(const RecordedRun& run);
  /// The pointers of a step, those of operands filled in. Those of node id are listed in the graph
  /// from first_arg[id - begin] on.
  StepMemory<T> list_operands(const GraphStore& graph, const Step& step, const NodeId* ids,
                              NodeId begin, const std::uint32_t* first_arg);
  /// Keeps the nodes below `size`, over which no run but the last may reach.
  void truncate(NodeId size);
  void clear();
  void release();

 private:
  void truncate_step(Step& step, StepMemory<T>& memory, NodeId size);
};

// Inline: it is called for every batch.
template <class T>
inline StepMemory<T> Recording<T>::list_operands(const GraphStore& graph, const Step& step,
                                                 const NodeId* ids, NodeId begin,
                                                 const std::uint32_t* first_arg) {
  const Node& first = graph.nodes[ids[0]];
  const std::uint32_t arity = first.arity;
  const std::size_t count = step.count;
  StepMemory<T> m{arity, first.form->aux != no_aux, step.count, nullptr};
  m.pointers = static_cast<T**>(pointers.allocate(m.bytes()));
  T** const ins = m.ins();
  NodeId* const numbers = m.args();
  if (count == 1) {
    const NodeId* args = graph.args.data() + first_arg[ids[0] - begin];
    for (std::size_t k = 0; k < arity; ++k) {
      numbers[k] = args[k];
      ins[k] = value[args[k]];
    }
    return m;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId* args = graph.args.data() + first_arg[ids[i] - begin];
    for (std::size_t k = 0; k < arity; ++k) {
      numbers[k * count + i] = args[k];
      ins[k * count + i] = value[args[k]];
    }
  }
  return m;
}

}  // namespace dynet
