// A plan that does the same as the last time, see Capture.
#include <algorithm>
#include <memory>
#include <type_traits>

#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/run/forward_pass.h"

namespace dynet {

template <class T>
bool ForwardPass<T>::can_replay() const {
  return std::is_same_v<T, float> && !settings_.check && !settings_.frees &&
         devices_.all_on_cpu() && devices_.contexts().size() == 1;
}

// Allocates the memory of the plan if all of a capture's pointers hold.
template <class T>
bool ForwardPass<T>::lies_as_before(const Plan& plan, Capture<T>& c) {
  if (!std::equal(plan.outside.begin(), plan.outside.end(), c.outside.begin(), c.outside.end()))
    return false;
  DeviceContext<T>& here = *devices_.contexts()[0];
  ++c.misses;
  for (const typename Capture<T>::Given& g : c.given) {
    const Node& n = graph_.nodes[g.node];
    if (n.needs_gradient() != g.needs_gradient) return false;
    if (!g.value) continue;
    const T* const now = g.node < plan.begin
                             ? r_.value[g.node]
                             : here.parameters.values(*graph_.attr<ParameterAttr>(n).parameter);
    if (now != g.value) return false;
  }
  const Arena::Mark before = here.values.mark();
  if (here.values.template allocate_array<T>(plan.extent) != c.values) {
    here.values.rewind(before);
    c.misses = kMostMisses;  // it never will again
    return false;
  }
  c.misses = 0;
  return true;
}

template <class T>
void ForwardPass<T>::record(const Plan& plan, const RecordedRun& run, const Capture<T>& c) {
  std::copy_n(plan.order.data(), plan.order.size(), r_.order.append(plan.order.size()));
  std::copy_n(c.memory.data(), c.memory.size(), r_.memory.append(c.memory.size()));
  Step* const steps = r_.steps.append(plan.steps.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    steps[s] = plan.steps[s];
    steps[s].first += run.order;
  }
}

template <class T>
void ForwardPass<T>::replay(const Plan& plan, const RecordedRun& run, const Capture<T>& c) {
  r_.value.resize_uninitialized(plan.end);
  std::copy_n(c.value.data(), c.value.size(), r_.value.data() + plan.begin);
  if (!settings_.inference) record(plan, run, c);
  for (const typename Capture<T>::Redone& redone : c.redone) {
    const Node& n = graph_.nodes[redone.node];
    T* aux = redone.aux;
    if (n.form->kind == Kind::lookup)
      run_lookup(redone.node, aux);
    else
      r_.value[redone.node] = r_.value[graph_.args_of(n)[0]];
  }
  for (const MovingPointer<T>& m : c.moving) *m.where = r_.value[m.node];
  r_.batches += c.batches;
  Backend<T>& here = devices_.contexts()[0]->backend;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const NodeId* const ids = plan.order.data() + step.first;
    const OpForm& form = *graph_.nodes[ids[0]].form;
    if (form.kind != Kind::compute) continue;
    settings_.look_for_interrupt();
    const StepMemory<T>& m = c.memory[s];
    here.forward(form, Batch<T>{graph_, ids, step.count, m.arity, m.outs(), m.ins(), m.auxs(),
                                settings_.run, step.terms, step.accumulates});
  }
  ++captures_.forward_replays;
}

// Captures a plan that has just run.
template <class T>
Capture<T>* ForwardPass<T>::capture(const Plan& plan, const RecordedRun& run) {
  auto made = std::make_unique<Capture<T>>();
  Capture<T>& c = *made;
  const auto copy = [](const auto& from, std::size_t n, auto& to) {
    std::copy_n(from, n, to.append(n));
  };
  c.begin = plan.begin;
  c.values = values_;
  c.batches = r_.batches - run.batches;
  copy(r_.value.data() + plan.begin, plan.end - plan.begin, c.value);
  copy(plan.outside.data(), plan.outside.size(), c.outside);
  copy(r_.memory.data() + run.steps, plan.steps.size(), c.memory);
  for (StepMemory<T>& m : c.memory)
    m.pointers =
        reinterpret_cast<T**>(c.copy(reinterpret_cast<const std::byte*>(m.pointers), m.bytes()));
  find_moving(plan, c);
  for (const NodeId a : plan.outside)
    c.given.push_back(
        {a, graph_.nodes[a].needs_gradient(), captures_.moves(a) ? nullptr : r_.value[a]});
  for (NodeId id = plan.begin; id < plan.end; ++id) {
    const Node& n = graph_.nodes[id];
    if (n.arity == 0)
      c.given.push_back(
          {id, n.needs_gradient(), n.form->kind == Kind::parameter ? r_.value[id] : nullptr});
  }
  std::copy_n(c.memory.data(), c.memory.size(), r_.memory.data() + run.steps);
  return captures_.add(plan, std::move(made));
}

template <class T>
void ForwardPass<T>::find_moving(const Plan& plan, Capture<T>& c) {
  c.moves.resize(plan.end - plan.begin, false);
  const auto moves = [&](NodeId id) {
    return id < plan.begin ? captures_.moves(id) : c.moves[id - plan.begin];
  };
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const NodeId* const ids = plan.order.data() + plan.steps[s].first;
    const StepMemory<T>& m = c.memory[s];
    const Kind kind = graph_.nodes[ids[0]].form->kind;
    for (std::uint32_t i = 0; i < m.count; ++i) {
      if (kind == Kind::lookup) {
        c.redone.push_back({ids[i], m.auxs()[i]});
        c.moves[ids[i] - plan.begin] = graph_.nodes[ids[i]].dim.bd == 1;
      } else if (kind == Kind::alias && moves(m.args()[i])) {
        c.redone.push_back({ids[i], nullptr});
        c.moves[ids[i] - plan.begin] = true;
      }
    }
    // Values of operands only: no kernel reads the value of an alias, or of a row, as its own.
    const std::size_t operands = std::size_t{m.arity} * m.count;
    for (std::size_t i = 0; i < operands; ++i)
      if (moves(m.args()[i])) c.moving.push_back({m.ins() + i, m.args()[i]});
  }
  if (c.redone.empty() && c.moving.empty()) c.moves.clear();
}

#define DYNET_INSTANTIATE(T)                                                                \
  template bool ForwardPass<T>::can_replay() const;                                         \
  template bool ForwardPass<T>::lies_as_before(const Plan&, Capture<T>&);                   \
  template void ForwardPass<T>::replay(const Plan&, const RecordedRun&, const Capture<T>&); \
  template Capture<T>* ForwardPass<T>::capture(const Plan&, const RecordedRun&);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)
#undef DYNET_INSTANTIATE

}  // namespace dynet
