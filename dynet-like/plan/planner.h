#pragma once

#include <optional>

#include "dynet-like/plan/cache.h"
#include "dynet-like/plan/plan_maker.h"
#include "dynet-like/plan/windows.h"

namespace dynet {

/// Plans a graph: in windows if it is large, with cached plans for repeated structures.
class Planner {
 public:
  Planner(const GraphStore& graph, PlanPolicy policy) : graph_(graph), maker_(policy) {}

  PlanPolicy policy() const { return maker_.policy(); }
  void set_policy(PlanPolicy policy) { maker_.set_policy(policy); }

  /// Starts planning the nodes [begin, end), in windows of these sizes; null: as one plan.
  void start(NodeId begin, NodeId end, const WindowSizes* sizes) {
    end_ = end;
    windows_.reset();
    if (sizes) windows_.emplace(graph_, begin, end, *sizes);
  }
  /// Whether there may be more than one window.
  bool cuts() const { return windows_ && windows_->cuts(); }
  /// Plan of the window that starts at `begin`; valid until the next call.
  const Plan& plan(NodeId begin) {
    while (true) {
      const NodeId end = windows_ ? windows_->end_of(begin) : end_;
      const Plan& plan = cache_.plan(graph_, begin, end, maker_);
      if (!windows_ || windows_->accept(plan)) return plan;
    }
  }
  void release() {
    cache_.release();
    maker_.release();
    windows_.reset();
  }

 private:
  const GraphStore& graph_;
  PlanMaker maker_;
  PlanCache cache_;
  std::optional<Windows> windows_;  // none: one plan
  NodeId end_ = 0;
};

}  // namespace dynet
