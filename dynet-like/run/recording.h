#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// State of parameters, to detect changes: a counter of the changes in the graph's first `banks`
/// banks.
struct ParameterState {
  std::size_t banks;
  std::uint64_t changes;

  /// The present state.
  static ParameterState of(const GraphStore& graph);
  /// Whether a parameter of those banks has changed since.
  bool changed(const GraphStore& graph) const;
};

/// Addresses of the values of a batch and of its operands, in lists that lie in one block.
template <class T>
struct BatchPointers {
  T** outs = nullptr;      ///< by node of the batch
  T** ins = nullptr;       ///< operand k of node i at k * count + i
  T** auxs = nullptr;      ///< scratch, by node; null if the form has none
  NodeId* args = nullptr;  ///< operands, in the order of `ins`
  std::uint32_t count = 0;
  std::uint32_t arity = 0;

  /// Size of the block.
  static std::size_t bytes(std::size_t count, std::size_t arity, bool has_aux) {
    return count * ((1 + arity + has_aux) * sizeof(T*) + arity * sizeof(NodeId));
  }
  std::size_t bytes() const { return bytes(count, arity, auxs != nullptr); }
  /// Lists for `count` nodes of this arity in a block of memory.
  static BatchPointers in(void* block, std::uint32_t count, std::uint32_t arity, bool has_aux) {
    BatchPointers p;
    p.outs = static_cast<T**>(block);
    p.ins = p.outs + count;
    T** const end = p.ins + std::size_t{arity} * count;
    p.auxs = has_aux ? end : nullptr;
    p.args = reinterpret_cast<NodeId*>(has_aux ? end + count : end);
    p.count = count;
    p.arity = arity;
    return p;
  }
  /// The lists of a copy of the block.
  BatchPointers moved_to(void* block) const { return in(block, count, arity, auxs != nullptr); }
};

/// A plan that ran: the start of its part of a recording.
struct RecordedRun {
  NodeId begin;
  std::uint32_t steps, order, value_marks;
  std::size_t batches;
  Arena::Mark pointers;
  ParameterState parameters;
};

/// Record of the forward pass, which the backward pass runs in reverse: the address of each node's
/// value, and the steps that ran with the addresses of their operands. Plain data.
template <class T>
struct Recording {
  NodeId evaluated = 0;     ///< nodes with a value
  std::size_t batches = 0;  ///< that ran

  // By node.
  PodVector<T*> value;
  PodVector<T*> aux;  ///< scratch, which begins with the second result of the nodes that have two

  // By step.
  PodVector<Step> steps;  ///< `first` counts in `order`
  PodVector<BatchPointers<T>> memory;

  PodVector<NodeId> order;
  PodVector<RecordedRun> runs;
  PodVector<Arena::Mark> value_marks;  ///< of the value arena of each device, before each run
  Arena pointers{alignof(void*)};      ///< memory of the lists in `memory`

  const NodeId* ids(std::uint32_t step) const { return order.data() + steps[step].first; }

  /// Start of a run that begins now.
  RecordedRun next_run(const GraphStore& graph, NodeId begin) const;
  /// Drops everything recorded since the start of `run`.
  void rewind(const RecordedRun& run);
  /// Drops only the steps recorded since the start of `run`.
  void forget_steps(const RecordedRun& run);
  /// Lists for a step, with the operands filled in. The operands of node id are in the graph's list
  /// from first_arg[id - begin] on.
  BatchPointers<T> list_operands(const GraphStore& graph, const Step& step, const NodeId* ids,
                                 NodeId begin, const std::uint32_t* first_arg);
  /// Keeps the nodes below `size`; only the last run may have nodes from `size` on.
  void truncate(NodeId size);
  void clear();
  void release();

 private:
  void truncate_step(Step& step, BatchPointers<T>& memory, NodeId size);
};

// Inline: it is called for every batch.
template <class T>
inline BatchPointers<T> Recording<T>::list_operands(const GraphStore& graph, const Step& step,
                                                    const NodeId* ids, NodeId begin,
                                                    const std::uint32_t* first_arg) {
  const Node& first = graph.nodes[ids[0]];
  const std::uint32_t arity = first.arity, count = step.count;
  const bool has_aux = first.form->aux != no_aux;
  void* const block = pointers.allocate(BatchPointers<T>::bytes(count, arity, has_aux));
  const auto m = BatchPointers<T>::in(block, count, arity, has_aux);
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId* const args = graph.args.data() + first_arg[ids[i] - begin];
    for (std::size_t k = 0; k < arity; ++k) {
      m.args[k * count + i] = args[k];
      m.ins[k * count + i] = value[args[k]];
    }
  }
  if (first.reads_seconds()) [[unlikely]]
    for (std::size_t k = 0; k < arity; ++k)
      for (std::size_t i = k * count; first.reads_second(k) && i < (k + 1) * count; ++i)
        m.ins[i] = aux[m.args[i]];
  return m;
}

}  // namespace dynet
