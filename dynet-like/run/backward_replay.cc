// Replays of a backward pass over memory at the addresses of an earlier one, see CapturedGradients.
#include <algorithm>

#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/run/backward.h"

namespace dynet {

// Capture for this pass, complete or not; null if the pass cannot be captured.
template <class T>
CapturedGradients<T>* BackwardPass<T>::captured() const {
  Capture<T>* const last = captures_.last();
  return last && !keeps_all_ && !settings_.check ? &last->gradients : nullptr;
}

template <class T>
bool BackwardPass<T>::addresses_match(CapturedGradients<T>& c, NodeId loss) {
  DeviceContext<T>& here = *devices_.contexts()[0];
  if (c.generation != here.gradients.generation())
    c.misses = kMostMisses;  // the addresses cannot match again
  return c.complete && c.loss == loss && c.result == result_ && c.misses < kMostMisses &&
         std::all_of(c.slots.begin(), c.slots.end(), [&](const auto& slot) {
           const auto& attr = graph_.attr<ParameterAttr>(graph_.nodes[slot.node]);
           return here.parameters.gradient_of(*attr.parameter) == slot.gradient;
         });
}

template <class T>
void BackwardPass<T>::replay(CapturedGradients<T>& c) {
  DeviceContext<T>& here = *devices_.contexts()[0];
  here.gradients.rewind(c.end);
  c.misses = 0;
  for (const auto& slot : c.slots) {
    const auto& attr = graph_.attr<ParameterAttr>(graph_.nodes[slot.node]);
    *slot.write = here.parameters.use(*attr.parameter).adds ? Write::add : Write::store;
  }
  for (const MovingPointer<T>& m : c.moving) *m.where = r_.value[m.node];
  here.backend.fill(c.seed, 1, T(1), false);
  for (const CapturedCall<T>& call : c.calls) {
    settings_.check_interrupt();
    switch (call.kind) {
      case CapturedCall<T>::kernel: {
        GradientBatch<T> b{{graph_, call.ids, call.count, call.arity, call.outs, call.ins,
                            call.auxs, settings_.run, &here.prepared},
                           call.d_outs,
                           call.d_ins,
                           call.writes};
        b.first = call.first;
        b.end = call.end;
        b.d_seconds = call.d_seconds;
        b.terms = call.terms;
        b.d_sums = call.d_sums;
        settings_.observe(*call.form, b);
        here.backend.backward(*call.form, b);
        break;
      }
      case CapturedCall<T>::rows:
        scatter_rows(call.count, call.ids, call.d_outs, call.auxs);
    }
  }
  replayed_ = &c;
  ++captures_.backward_replays;
}

template <class T>
void BackwardPass<T>::capture(NodeId loss, CapturedGradients<T>& to) {
  struct Capturing {  // until the end, or an error
    CapturedGradients<T>*& to;
    ~Capturing() { to = nullptr; }
  } const capturing{captures_to_};
  to.clear();
  captures_to_ = &to;
  run_steps(loss);
  const DeviceContext<T>& here = *devices_.contexts()[0];
  to.loss = loss;
  to.result = result_;
  to.generation = here.gradients.generation();
  to.end = here.gradients.mark();
  for (NodeId id = 0; id <= loss; ++id)
    to.states.push_back(static_cast<std::uint8_t>(
        gradient_[id].state | (gradient_[id].second_written ? kSecondWritten : 0)));
  // A loss alone has no calls; every slot must have been written by a captured call.
  to.complete = !to.calls.empty() && std::all_of(to.slots.begin(), to.slots.end(),
                                                 [](const auto& slot) { return slot.write; });
}

// A call that was made just now. `recorded`: outs, ins and auxs are the recording's own lists,
// which stay. Operands that the kernel got are args[k * count + i].
template <class T>
void BackwardPass<T>::capture_call(const OpForm& form, const GradientBatch<T>& b, bool recorded,
                                   const NodeId* args) {
  CapturedGradients<T>& to = *captures_to_;
  const std::size_t all = b.arity * b.count;
  // Operands of the call; for one operand of a sum of products also the operand behind it.
  const std::size_t first = b.first * b.count;
  const std::size_t end = std::min(b.end == b.first + 1 ? b.end + 1 : b.end, b.arity) * b.count;
  Write* const writes = to.copy(b.writes, all);
  T** const outs = recorded ? nullptr : to.copy(b.outs, b.count);
  T** const ins = recorded ? nullptr : to.copy(b.ins, all);
  T* const* const auxs = recorded || !b.auxs ? b.auxs : to.copy(b.auxs, b.count);
  if (!recorded) {
    for (std::size_t i = first; i < end; ++i)
      if (captures_.moves(args[i])) to.moving.push_back({ins + i, args[i]});
  }
  for (auto& slot : to.slots)
    for (std::size_t i = first; i < end && !slot.write; ++i)
      if (b.d_ins[i] && args[i] == slot.node) slot.write = writes + i;
  to.calls.push_back(
      {CapturedCall<T>::kernel, static_cast<std::uint32_t>(b.count),
       static_cast<std::uint32_t>(b.arity), &form, to.copy(b.ids, b.count),
       recorded ? b.outs : outs, recorded ? b.ins : ins, auxs, to.copy(b.d_outs, b.count),
       b.d_seconds ? to.copy(b.d_seconds, b.count) : nullptr, to.copy(b.d_ins, all), writes,
       b.first, b.end, b.terms, b.d_sums ? to.copy(b.d_sums, b.count) : nullptr});
}

// Restores the states of gradients after a replay, as if the steps had run.
template <class T>
void BackwardPass<T>::restore_states() {
  gradient_.resize_uninitialized(covered_);
  for (NodeId id = 0; id < covered_; ++id)
    gradient_[id] = {
        .memory = nullptr,
        .batch = 0,
        .state = static_cast<typename Gradient::State>(replayed_->states[id] % kSecondWritten),
        .second_written = replayed_->states[id] >= kSecondWritten,
        .in_buffer = false,
        .readers = 0};
  seconds_.clear();
  seconds_.resize(covered_, nullptr);
  for (const auto& slot : replayed_->slots) gradient_[slot.node].memory = slot.gradient;
  replayed_ = nullptr;
}

template CapturedGradients<float>* BackwardPass<float>::captured() const;
template CapturedGradients<double>* BackwardPass<double>::captured() const;
template bool BackwardPass<float>::addresses_match(CapturedGradients<float>&, NodeId);
template bool BackwardPass<double>::addresses_match(CapturedGradients<double>&, NodeId);
template void BackwardPass<float>::replay(CapturedGradients<float>&);
template void BackwardPass<double>::replay(CapturedGradients<double>&);
template void BackwardPass<float>::capture(NodeId, CapturedGradients<float>&);
template void BackwardPass<double>::capture(NodeId, CapturedGradients<double>&);
template void BackwardPass<float>::capture_call(const OpForm&, const GradientBatch<float>&, bool,
                                                const NodeId*);
template void BackwardPass<double>::capture_call(const OpForm&, const GradientBatch<double>&, bool,
                                                 const NodeId*);
template void BackwardPass<float>::restore_states();
template void BackwardPass<double>::restore_states();

}  // namespace dynet
