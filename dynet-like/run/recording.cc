#include "dynet-like/run/recording.h"

#include <algorithm>
#include <type_traits>

#include "dynet-like/param/storage.h"

namespace dynet {

ParameterState ParameterState::of(const GraphStore& graph) {
  ParameterState state{graph.banks.size(), 0};
  for (const auto& bank : graph.banks)
    state.changes += bank->changes.load(std::memory_order_relaxed);
  return state;
}

bool ParameterState::changed(const GraphStore& graph) const {
  std::uint64_t now = 0;
  for (std::size_t b = 0; b < banks; ++b)
    now += graph.banks[b]->changes.load(std::memory_order_relaxed);
  return now != changes;
}

template <class T>
RecordedRun Recording<T>::next_run(const GraphStore& graph, NodeId begin) const {
  return {begin,
          static_cast<std::uint32_t>(steps.size()),
          static_cast<std::uint32_t>(order.size()),
          static_cast<std::uint32_t>(value_marks.size()),
          batches,
          pointers.mark(),
          ParameterState::of(graph)};
}

template <class T>
void Recording<T>::rewind(const RecordedRun& run) {
  value_marks.truncate(run.value_marks);
  forget_steps(run);
  batches = run.batches;
}

template <class T>
void Recording<T>::forget_steps(const RecordedRun& run) {
  steps.truncate(run.steps);
  memory.truncate(run.steps);
  order.truncate(run.order);
  pointers.rewind(run.pointers);
}

template <class T>
void Recording<T>::truncate(NodeId size) {
  if (!runs.empty()) {
    const RecordedRun& run = runs.back();
    std::size_t kept_steps = run.steps;
    std::uint32_t kept = run.order;
    for (std::size_t s = run.steps; s < steps.size(); ++s) {
      Step step = steps[s];
      BatchPointers<T> m = memory[s];
      truncate_step(step, m, size);
      if (step.count == 0) continue;
      kept = std::max(kept, step.first + step.count);
      steps[kept_steps] = step;
      memory[kept_steps++] = m;
    }
    steps.truncate(kept_steps);
    memory.truncate(kept_steps);
    order.truncate(kept);
  }
  evaluated = size;
}

// Keeps the nodes of a step that are below `size`.
template <class T>
void Recording<T>::truncate_step(Step& step, BatchPointers<T>& m, NodeId size) {
  const std::uint32_t count = step.count;
  NodeId* const nodes = order.data() + step.first;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) kept += nodes[i] < size;
  const auto keep = [&](auto* all, std::size_t rows) {  // rows of `count` become rows of `kept`
    for (std::size_t row = 0, to = 0; row < rows; ++row)
      for (std::uint32_t i = 0; i < count; ++i)
        if (nodes[i] < size) all[to++] = all[row * count + i];
  };
  if (kept < count) {
    keep(m.outs, 1);
    keep(m.ins, m.arity);
    if (m.auxs) keep(m.auxs, 1);
    keep(m.args, m.arity);
    m.count = kept;
  }
  step.count = static_cast<std::uint32_t>(
      std::remove_if(nodes, nodes + count, [&](NodeId id) { return id >= size; }) - nodes);
}

template <class T>
void Recording<T>::clear() {
  evaluated = 0;
  batches = 0;
  steps.clear();
  memory.clear();
  order.clear();
  runs.clear();
  value_marks.clear();
  pointers.reset();
}

template <class T>
void Recording<T>::release() {
  clear();
  const auto free = [](auto&... all) { (std::remove_reference_t<decltype(all)>().swap(all), ...); };
  free(value, aux, steps, memory, order, runs, value_marks);
  pointers.release();
}

template struct Recording<float>;
template struct Recording<double>;

}  // namespace dynet
