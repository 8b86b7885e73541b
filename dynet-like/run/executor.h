#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "dynet-like/base/arena.h"
#include "dynet-like/graph/evaluator.h"
#include "dynet-like/plan/planner.h"
#include "dynet-like/run/backward.h"
#include "dynet-like/run/capture.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/forward.h"
#include "dynet-like/run/recording.h"
#include "dynet-like/run/settings.h"

namespace dynet {

/// Runs a graph: a planner makes plans for the nodes that have no value yet, a forward pass runs
/// them and records what it does, a backward pass reads the recording in reverse. Reads the graph,
/// never changes it. `T` is float, or double for gradient checks.
template <class T>
class Executor final : public Evaluator<T> {
 public:
  /// Everything runs on one device, except device indices that are given a context of their own.
  explicit Executor(const GraphStore& graph, PlanPolicy policy = PlanPolicy::in_order,
                    Backend<T> backend = {})
      : graph_(graph), planner_(graph, policy), devices_(graph, std::move(backend)) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// If a kernel throws, the nodes of its plan keep having no value.
  void forward(NodeId last) override;
  /// Runs a plan for the nodes that come next; forward makes one and calls this.
  void run(const Plan& plan);
  void invalidate() override;
  /// Drops all values, but not the random draws: the next forward makes the same draws again.
  void rewind();
  /// See BackwardPass.
  void backward(NodeId loss, bool full = false, std::uint32_t result = 0) override;
  void truncate(NodeId size) override;
  void clear() override;
  void release() override;

  NodeId evaluated() const { return recording_.evaluated; }
  /// Address of a result of an evaluated node, in the memory of its backend. Recomputes a value
  /// that was freed.
  T* value(NodeId id, std::uint32_t result = 0) {
    if (forward_.is_freed(id)) [[unlikely]]
      forward_.rematerialize(id);
    return (result ? recording_.aux : recording_.value)[id];
  }
  /// See BackwardPass.
  T* gradient(NodeId id, std::uint32_t result = 0) { return backward_.gradient(id, result); }
  T* host_value(NodeId id, std::uint32_t result) override {
    return on_host(id, value(id, result), false);
  }
  T* host_gradient(NodeId id, std::uint32_t result) override {
    return on_host(id, gradient(id, result), graph_.nodes[id].form->kind == Kind::parameter);
  }
  /// Backend whose memory `value` and `gradient` of a node point to.
  Backend<T>& backend(NodeId id) { return devices_.of(id).backend; }

  /// Batches that ran for the present values. Parameters, lookups, aliases and transfers are no
  /// batches.
  std::size_t batches() const { return recording_.batches; }
  /// Passes that were replayed from a capture of an earlier one, see Capture.
  std::size_t forward_replays() const { return captures_.forward_replays; }
  std::size_t backward_replays() const { return captures_.backward_replays; }
  std::size_t capture_bytes() const { return captures_.bytes(); }
  std::size_t value_bytes() const;
  std::size_t gradient_bytes() const;
  GraphStatistics statistics() const override;

  void set_batching(bool batch) override {
    planner_.set_policy(batch ? PlanPolicy::in_batches : PlanPolicy::in_order);
  }
  void set_check_validity(bool check) override { settings_.check = check; }
  void set_interrupt(Interrupt* interrupt) override { settings_.interrupt = interrupt; }
  void set_observer(GraphObserver* observer) override { settings_.observer = observer; }
  void set_gradient_buffer(std::optional<unsigned> number) override { settings_.buffer = number; }
  /// Forward only: values that only backward needs are not kept, and the memory of a large graph is
  /// used again window by window. Switched off after values were computed, it drops all values.
  void set_inference(bool inference) override { set_inference(inference, {}); }
  /// The same with windows of other sizes.
  void set_inference(bool inference, std::optional<WindowSizes> windows) {
    settings_.inference = inference;
    inference_windows_ = windows;
    if (!inference && unrecorded_) rewind();
  }
  void set_precision(Precision precision) override {
    precision_ = precision;
    for (const auto& c : devices_.contexts()) c->backend.set_precision(precision);
  }

  void use(std::size_t index, Device* device) override;
  ParameterAccess<T>& parameters() { return devices_.contexts()[0]->parameters; }

 private:
  const Plan& plan_next();
  const WindowSizes* window_sizes() const;
  T* on_host(NodeId id, T* numbers, bool shared);

  const GraphStore& graph_;
  Planner planner_;
  Devices<T> devices_;
  PassSettings settings_;
  Recording<T> recording_;
  Captures<T> captures_;
  ForwardPass<T> forward_{graph_, devices_, settings_, recording_, captures_};
  BackwardPass<T> backward_{graph_, devices_, settings_, recording_, captures_};
  Arena copies_;                                  // values and gradients copied from a device
  std::optional<WindowSizes> inference_windows_;  // none: those of the device
  Precision precision_ = Precision::float32;
  bool unrecorded_ = false;  // some values were computed in inference
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace dynet
