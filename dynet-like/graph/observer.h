#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dynet-like/graph/op.h"
#include "dynet-like/graph/statistics.h"

namespace dynet {

/// A call of a kernel for nodes of one form.
struct KernelCall {
  enum Pass : std::uint8_t {
    forward,   ///< values
    backward,  ///< gradients of operands
    shared,    ///< gradient of an operand that many nodes of sums of products share
  };
  const GraphStore& graph;
  const OpForm& form;
  const NodeId* ids;
  std::size_t count;
  Pass pass;
  Terms terms = {};         ///< of sums of products: terms that are computed
  std::size_t operand = 0;  ///< `shared`: the operand
};

/// Kinds of work of a graph for a request of the user.
enum class Activity : std::uint8_t { plan, forward, backward };

/// Is told what one graph does, by the thread that does it.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  /// The user called a function such as "value", which may compute.
  virtual void ask(const char* function, SourceLocation at) = 0;
  /// Activities nest: forward contains plan.
  virtual void begin(Activity activity, const GraphStore& graph) = 0;
  virtual void end(Activity activity) = 0;
  /// A kernel is called next, until the next call or the end of the activity.
  virtual void call(const KernelCall& call) = 0;
  /// All nodes will be removed. `statistics`: of the passes.
  virtual void clear(const GraphStore& graph, const GraphStatistics& statistics) = 0;
};

/// Watches graphs and trainers.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Observer of one graph, or null if there is nothing to see at present.
  virtual std::unique_ptr<GraphObserver> watch() = 0;
  /// A trainer begins or ends an update.
  virtual void begin_update() = 0;
  virtual void end_update() = 0;
  /// The program learns from n samples in the next update.
  virtual void add_samples(std::size_t n) = 0;
};

/// Observer of all graphs and trainers of the process, or null. The library has no such state:
/// programs define this function, and so does dynet-like::compat; in others its address is null.
[[gnu::weak]] Observer* process_observer();

inline Observer* find_observer() { return process_observer ? process_observer() : nullptr; }

/// Tells an observer, which may be null, of an activity until the end of the block.
class Observed {
 public:
  Observed(GraphObserver* observer, Activity activity, const GraphStore& graph)
      : observer_(observer), activity_(activity) {
    if (observer_) [[unlikely]]
      observer_->begin(activity_, graph);
  }
  ~Observed() {
    if (observer_) [[unlikely]]
      observer_->end(activity_);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  GraphObserver* const observer_;
  const Activity activity_;
};

}  // namespace dynet
