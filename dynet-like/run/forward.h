#pragma once

#include "dynet-like/plan/plan.h"
#include "dynet-like/run/capture.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/recording.h"
#include "dynet-like/run/settings.h"

namespace dynet {

/// Computes values: runs plans, step by step, and records what it does.
template <class T>
class ForwardPass {
 public:
  ForwardPass(const GraphStore& graph, Devices<T>& devices, const PassSettings& settings,
              Recording<T>& recording, Captures<T>& captures)
      : graph_(graph), devices_(devices), settings_(settings), r_(recording), captures_(captures) {}

  /// Runs a plan for the nodes that come next. If a kernel throws they keep having no value.
  void run(const Plan& plan);
  /// In inference, after one of several plans for the nodes from `begin` to `last`: values that
  /// later nodes read, or none does, are copied; the memory of the plan is used again.
  void free_window(NodeId begin, NodeId last);
  /// Whether other values lie where that of a node was.
  bool is_freed(NodeId id) const { return id < freed_.size() && freed_[id]; }
  /// Computes the value of a node again, and before it what it needs and is gone too. Afterwards,
  /// or after an error, what is not gone has the value of the forward pass.
  void rematerialize(NodeId id);
  /// Keeps the values of the nodes below `size`.
  void truncate(NodeId size);
  /// Forgets all values.
  void clear();
  void release();

 private:
  struct PlanArrays {  // of the nodes from `begin` on
    NodeId begin;
    const std::uint32_t* first_arg;  // where their operands are listed in the graph
    T* const* aux;
  };

  void undo(const RecordedRun& run);
  void lay_out(const Plan& plan);
  void record_and_run(const Plan& plan, const RecordedRun& run);
  void run_and_free(const Plan& plan);
  bool can_replay() const;
  bool addresses_match(const Plan& plan, Capture<T>& capture);
  void record(const Plan& plan, const RecordedRun& run, const Capture<T>& capture);
  void replay(const Plan& plan, const RecordedRun& run, const Capture<T>& capture);
  Capture<T>* capture(const Plan& plan, const RecordedRun& run);
  void find_moving(const Plan& plan, Capture<T>& c);
  PlanArrays arrays_of(const Plan& plan) const {
    return {plan.begin, plan.first_arg.data(), aux_.data()};
  }
  BatchPointers<T> prepare(const Step& step, const NodeId* ids, const PlanArrays& known);
  void count_batch(const Step& step, const NodeId* ids);
  void run_step(const Step& step, const BatchPointers<T>& memory, const NodeId* ids);
  void run_transfer(const Step& step, const BatchPointers<T>& memory, const NodeId* ids);
  void run_lookup(NodeId id, T*& aux);
  void find_last_reads(NodeId begin, NodeId last);
  void free_kept(NodeId end);
  void rematerialize_operands(const Plan& plan);
  void note_freed(const Plan& plan);
  void find_freed(NodeId id, PodVector<NodeId>& all);
  bool reads_parameter(NodeId id) const;
  void recompute(NodeId id);

  const GraphStore& graph_;
  Devices<T>& devices_;
  const PassSettings& settings_;
  Recording<T>& r_;
  Captures<T>& captures_;
  T* values_ = nullptr;    // where the memory of the plan that runs begins, on the first device
  PodVector<T*> aux_;      // by node of the plan that runs
  PodVector<bool> freed_;  // by node
  CopyList<T> copies_;
  // Inference in windows only.
  NodeId first_read_ = 0;        // the first node of `last_read_`
  PodVector<NodeId> last_read_;  // by node: the last one that reads its value, or kForever
  PodVector<NodeId> kept_;       // the nodes whose values are copies, and other names of these
};

}  // namespace dynet
