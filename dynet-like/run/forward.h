#pragma once

#include "dynet-like/plan/plan.h"
#include "dynet-like/run/capture.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/recording.h"
#include "dynet-like/run/settings.h"

namespace dynet {

/// Computes values: runs plans step by step and records the steps.
template <class T>
class ForwardPass {
 public:
  ForwardPass(const GraphStore& graph, Devices<T>& devices, const PassSettings& settings,
              Recording<T>& recording, Captures<T>& captures)
      : graph_(graph), devices_(devices), settings_(settings), r_(recording), captures_(captures) {}

  /// Runs a plan for the nodes that follow the evaluated ones. If a kernel throws, its nodes keep
  /// having no value.
  void run(const Plan& plan);
  /// Inference in windows, after the plan of one window of the nodes [begin, last]: copies the
  /// values that a later window reads and those that no node reads, and frees the window's memory.
  void free_window(NodeId begin, NodeId last);
  /// Whether the memory of a node's value was reused for another value.
  bool is_freed(NodeId id) const { return id < freed_.size() && freed_[id]; }
  /// Recomputes a freed value, and first the freed values it depends on. Values that are not freed
  /// are those of the forward pass, also after an error.
  void rematerialize(NodeId id);
  /// Keeps the values of the nodes below `size`.
  void truncate(NodeId size);
  /// Drops all values.
  void clear();
  void release();

 private:
  struct PlanArrays {  // of the nodes from `begin` on
    NodeId begin;
    const std::uint32_t* first_arg;  // position of their operands in the graph's list
  };

  void undo(const RecordedRun& run);
  void refresh_parameters(NodeId end);
  void lay_out(const Plan& plan);
  void record_and_run(const Plan& plan, const RecordedRun& run);
  void run_and_free(const Plan& plan);
  bool can_replay() const;
  bool addresses_match(const Plan& plan, Capture<T>& capture);
  void record(const Plan& plan, const RecordedRun& run, const Capture<T>& capture);
  void replay(const Plan& plan, const RecordedRun& run, const Capture<T>& capture);
  Capture<T>* capture(const Plan& plan, const RecordedRun& run);
  void find_moving(const Plan& plan, Capture<T>& c);
  PlanArrays arrays_of(const Plan& plan) const { return {plan.begin, plan.first_arg.data()}; }
  BatchPointers<T> prepare(const Step& step, const NodeId* ids, const PlanArrays& arrays);
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
  T* values_ = nullptr;    // memory of the running plan on the first device
  PodVector<bool> freed_;  // by node
  CopyList<T> copies_;
  // Inference in windows only.
  NodeId first_read_ = 0;        // the first node of `last_read_`
  PodVector<NodeId> last_read_;  // by node: the last reader of its value, or kForever
  PodVector<NodeId> kept_;       // nodes whose values were copied, and their aliases
};

}  // namespace dynet
