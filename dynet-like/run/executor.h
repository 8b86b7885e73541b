#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "dynet-like/plan/cache.h"
#include "dynet-like/plan/planner.h"
#include "dynet-like/plan/windows.h"
#include "dynet-like/run/backward_pass.h"
#include "dynet-like/run/capture.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/forward_pass.h"
#include "dynet-like/run/recording.h"
#include "dynet-like/run/settings.h"

namespace dynet {

/// Runs a graph: a planner makes plans for the nodes that have no value yet, a forward pass runs
/// them and records what it does, a backward pass reads the recording in reverse. Reads the graph,
/// never changes it. `T` is float, or double for gradient checks.
template <class T>
class Executor {
 public:
  /// Everything runs on one device, except device indices that are given a context of their own.
  explicit Executor(const GraphStore& graph, PlanPolicy policy = PlanPolicy::in_order,
                    Backend<T> backend = {})
      : graph_(graph), planner_(policy), devices_(graph, std::move(backend)) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// See Devices.
  std::size_t add_context(Backend<T> backend) { return devices_.add(std::move(backend)); }
  void use(std::size_t device, std::size_t context) { devices_.use(device, context); }

  /// Computes every node up to `last` that has no value yet. If a kernel throws, the nodes of its
  /// plan keep having none.
  void forward(NodeId last);
  /// Runs a plan for the nodes that come next; forward makes one and calls this.
  void run(const Plan& plan);
  void invalidate();
  /// Forgets all values, but not the random draws: the next forward makes the same again.
  void rewind();
  /// See BackwardPass.
  void backward(NodeId loss, bool full = false);
  void truncate(NodeId size);
  void clear();
  void release();

  NodeId evaluated() const { return recording_.evaluated; }
  /// Batches that that ran for the present values; parameters, lookups, aliases and transfers run
  /// nothing.
  std::size_t batches() const { return recording_.batches; }
  /// Passes that did the same as an earlier one, see Capture.
  std::size_t forward_replays() const { return captures_.forward_replays; }
  std::size_t backward_replays() const { return captures_.backward_replays; }
  std::size_t capture_bytes() const { return captures_.bytes(); }
  std::size_t value_bytes() const;
  std::size_t gradient_bytes() const;
  /// Backend whose memory `value` and `gradient` of a node point to.
  Backend<T>& backend(NodeId id) { return devices_.of(id).backend; }
  /// Valid for evaluated nodes. Computes again what a plan has not kept.
  T* value(NodeId id) {
    if (forward_.is_freed(id)) [[unlikely]]
      forward_.rematerialize(id);
    return recording_.value[id];
  }
  /// See BackwardPass.
  T* gradient(NodeId id) { return backward_.gradient(id); }

  void set_check_validity(bool check) { settings_.check = check; }
  void set_interrupt(Interrupt* interrupt) { settings_.interrupt = interrupt; }
  void set_policy(PlanPolicy policy) { planner_.set_policy(policy); }
  /// Forward only: what backward would need is not kept, and the memory of a large graph is used
  /// again window by window. Switched off after values were computed so, it forgets all values, as
  /// `rewind`.
  void set_inference(bool inference, std::optional<WindowSizes> windows = {}) {
    settings_.inference = inference;
    inference_windows_ = windows;
    if (!inference && unrecorded_) rewind();
  }
  /// How devices multiply.
  void set_precision(Precision precision) {
    for (const auto& c : devices_.contexts()) c->backend.set_precision(precision);
  }
  /// Number of the buffer for gradients of parameters; none: the calling thread's buffer.
  void set_gradient_buffer(std::optional<unsigned> number) { settings_.buffer = number; }
  ParameterAccess<T>& parameters() { return devices_.contexts()[0]->parameters; }

 private:
  void run_forward(NodeId last);

  const GraphStore& graph_;
  Planner planner_;
  PlanCache plans_;
  Devices<T> devices_;
  PassSettings settings_;
  Recording<T> recording_;
  Captures<T> captures_;
  ForwardPass<T> forward_{graph_, devices_, settings_, recording_, captures_};
  BackwardPass<T> backward_{graph_, devices_, settings_, recording_, captures_};
  std::optional<WindowSizes> inference_windows_;  // others than those of the device
  bool unrecorded_ = false;                       // some values were computed in inference
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace dynet
