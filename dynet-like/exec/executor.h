#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/exec/backend.h"
#include "dynet-like/exec/parameter_access.h"
#include "dynet-like/exec/pool.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/plan/cache.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// What an executor keeps for one device.
template <class T>
struct DeviceContext {
  explicit DeviceContext(Backend<T> r)
      : backend(std::move(r)),
        parameters(backend),
        values(backend.memory()),
        gradients(backend.memory()),
        rematerialized(backend.memory()) {}

  Backend<T> backend;
  ParameterAccess<T> parameters;
  Arena values, gradients, rematerialized;
  Pool<T> pool{gradients};
};

/// Runs a graph: makes a plan for the nodes that have no value yet, runs its steps forward, and the
/// steps of all plans backward. Reads the graph, never changes it. `T` is float, or double for
/// gradient checks.
template <class T>
class Executor {
 public:
  /// Everything runs on one device, except device indices that are given a context of their own.
  explicit Executor(const GraphStore& graph, Planner planner = plan_in_order,
                    Backend<T> backend = {})
      : graph_(graph), planner_(planner) {
    use(0, add_context(std::move(backend)));
  }

  /// Adds a device; returns the number of its context. The constructor's is the first.
  std::size_t add_context(Backend<T> backend) {
    contexts_.push_back(std::make_unique<DeviceContext<T>>(std::move(backend)));
    return contexts_.size() - 1;
  }
  /// Nodes with this device index use that context from now on; there are none yet.
  void use(std::size_t device, std::size_t context) {
    by_device_.resize(std::max(by_device_.size(), device + 1), contexts_[0].get());
    by_device_[device] = contexts_[context].get();
  }

  /// Computes every node up to `last` that has no value yet. If a kernel throws, the nodes of its
  /// plan keep having none.
  void forward(NodeId last);
  /// Runs a plan for the nodes that come next; forward makes one and calls this.
  void run(const Plan& plan);
  void invalidate();
  /// Forgets all values, but not the random draws: the next forward makes the same again.
  void rewind();
  /// From d loss / d loss = 1. Nodes that need no gradient get none unless `full`.
  void backward(NodeId loss, bool full = false);
  void truncate(NodeId size);
  void clear();
  void release();

  NodeId evaluated() const { return evaluated_; }
  /// Batches that ran for the present values, counted like least_batches.
  std::size_t batches() const { return batches_; }
  std::size_t value_bytes() const;
  std::size_t gradient_bytes() const;
  /// Where the numbers are that `value` and `gradient` of a node point to.
  Backend<T>& backend(NodeId id) { return context(id).backend; }
  /// Valid for evaluated nodes. Computes again what a plan has not kept.
  T* value(NodeId id) {
    if (id < freed_.size() && freed_[id]) [[unlikely]]
      rematerialize(id);
    return value_[id];
  }
  /// Zeros for a node that the loss does not depend on. Throws ArgumentError before any backward
  /// pass that covers the node, and if the gradient was not kept and the parameters have changed
  /// since or the loss is gone.
  T* gradient(NodeId id);

  void set_check_validity(bool check) { check_ = check; }
  void set_planner(Planner planner) { planner_ = planner; }
  /// Plans that forget are for this: what backward would need is not kept then. Switched off after
  /// values were computed so, it forgets all values, as `rewind`.
  void set_inference(bool inference) {
    inference_ = inference;
    if (!inference && unrecorded_) rewind();
  }
  /// How devices multiply.
  void set_precision(Precision precision) {
    for (const auto& s : contexts_) s->backend.set_precision(precision);
  }
  /// They help where all of a graph is on the CPU.
  void set_workers(Workers* workers) { workers_ = workers; }
  /// Of the buffer for gradients of parameters; without it they go to the calling thread's.
  void set_gradient_buffer(std::optional<unsigned> number) { buffer_ = number; }
  ParameterAccess<T>& parameters() { return contexts_[0]->parameters; }

 private:
  /// What tells whether a parameter has changed: a number that grows with every change in the
  /// graph's first so many banks.
  struct ParameterState {
    std::size_t banks;
    std::uint64_t changes;
  };
  /// A batch that was run: its nodes, and where kernels find their memory, operand by operand.
  struct Ran {
    Step step;  // first counts in order_
    std::uint32_t arity;
    T** outs;      // by node of the batch
    T** auxs;      // by node
    T** ins;       // operand k of node i at k * count + i
    NodeId* args;  // at the same place
  };
  struct Run {  // one plan that was run: where its part of what follows begins
    NodeId begin;
    std::uint32_t steps, order, regions, marks;
    std::size_t batches;
    Arena::Mark pointers;
    ParameterState parameters;
  };
  /// The gradient of a node.
  struct Gradient {
    enum State : std::uint8_t { none, unwritten, written };
    T* memory;  // of its own, or the parameter's once that is known
    State state;
    bool in_buffer;            // a parameter's
    std::uint32_t last_use;    // the last of its uses that wait, see Use
    std::uint32_t batch;       // the last batch of products that wrote it
    std::uint32_t transposed;  // one more than its index there, or 0
    std::uint32_t readers;     // steps and uses that will read it
    std::uint32_t columns;     // of the uses that wait
  };
  /// A matrix that the products of many nodes share: transposed once, they all run over it in the
  /// faster direction.
  struct TransposedMatrix {
    NodeId matrix;
    std::size_t columns;  // that it is multiplied with
    T* memory;            // null until needed
  };
  /// The gradient of what the products of a batch share waits until the shared node is reached, and
  /// is then summed over all batches at once.
  struct Use {
    std::uint32_t step, operand, next;
  };
  static constexpr std::uint32_t kNoUse = ~std::uint32_t{0};
  struct InBuffer {  // a parameter node
    NodeId id;
    T* memory;
  };
  /// Steps [first, end) between which no thread waits for another: every node of them is owned by
  /// the thread that owns its operands.
  struct Region {
    std::uint32_t first, end;
    bool shared_out;  // forward; and backward if no two threads write one gradient
    bool backward;    // unless all nodes get gradients, also those that need none
    unsigned owners;
  };
  /// What kernels get besides what is recorded, made again for each call; one for each thread.
  struct Scratch {
    PodVector<T*> handed;
    PodVector<Write> writes;
    PodVector<const T*> transposed;
    PodVector<NodeId> live, args;
    std::uint32_t batch = 0;
  };
  static constexpr unsigned kEverybody = ~0u;
  static constexpr std::size_t kLate = 4;

  DeviceContext<T>& context(NodeId id) { return *by_device_[graph_.nodes[id].device_index()]; }
  const DeviceContext<T>& context(NodeId id) const {
    return *by_device_[graph_.nodes[id].device_index()];
  }
  typename Pool<T>::Pieces pieces_for(NodeId id) {
    return context(id).pool.of(graph_.nodes[id].dim.size());
  }
  bool all_on_cpu() const {
    return graph_.devices.size() == 1 && !by_device_[0]->backend.on_device();
  }
  bool any_on_device() const {
    return std::any_of(contexts_.begin(), contexts_.end(),
                       [](const auto& s) { return s->backend.on_device(); });
  }
  /// Who helps, or null.
  Workers* helpers() const {
    return workers_ && workers_->threads() > 1 && all_on_cpu() ? workers_ : nullptr;
  }
  void start_all();
  void forget_all();
  void lay_out(const Plan& plan);
  void rewind(const Run& run);
  ParameterState parameter_state() const;
  bool parameters_changed(const ParameterState& since) const;
  bool reads_parameter(NodeId id) const;
  Ran record(const Step& step, const NodeId* ids);
  void run_and_free(const Plan& plan);
  void rematerialize_operands(const Plan& plan);
  void rematerialize(NodeId id);
  void find_freed(NodeId id, PodVector<NodeId>& all);
  void recompute(NodeId id);
  void note_freed(const Plan& plan);
  void run_step(const Ran& ran, const NodeId* ids);
  void count_batch(const Ran& ran, const NodeId* ids);
  void run_share(const Ran& ran, unsigned owner);
  void find_regions(std::uint32_t first_step);
  void run_regions(std::size_t first_region);
  void run_transfer(const Ran& ran, const NodeId* ids);
  void run_lookup(NodeId id);
  // Copies that are made together. What an error has left of them is forgotten by the next.
  void forget_noted() {
    from_.clear();
    to_.clear();
    how_.clear();
  }
  void note_copy(const T* from, T* to, Write how) {
    from_.push_back(from);
    to_.push_back(to);
    how_.push_back(how);
  }
  void copy_noted(DeviceContext<T>& at, std::size_t size);
  void truncate_step(Ran& ran, NodeId size, std::uint32_t first);

  void prepare_gradients(NodeId size);
  void lay_out_gradients(NodeId size);
  void count_columns();
  const T* transposed(NodeId matrix);
  void backward_region(const Region& region);
  void backward_step(std::uint32_t step, unsigned owner);
  void receive_gradients(Backend<T>& from, const GradientBatch<T>& b, NodeId operand,
                         T* const* d_ins);
  void note_uses(std::uint32_t step);
  void done_with(NodeId id, typename Pool<T>::Pieces pieces);
  void done_with(std::uint32_t step);
  void backward_again();
  GradientBatch<T> live_batch(const Ran& ran, unsigned owner, Scratch& scratch);
  void backward_shared(NodeId shared);
  void backward_shared(NodeId shared, std::size_t operand, std::uint32_t first_use,
                       std::uint32_t end_use, std::size_t count);
  void scatter_rows(const Step& step);
  Slot<T> buffer_slot(NodeId id);
  Slot<T> gradient_slot(NodeId id, typename Pool<T>::Pieces pieces) {
    Gradient& g = gradient_[id];
    if (g.state == Gradient::written) return {g.memory, true};
    g.state = Gradient::written;
    if (g.in_buffer) [[unlikely]]
      return buffer_slot(id);
    if (!g.memory) g.memory = pieces.take();
    return {g.memory, false};
  }
  void check_forward(NodeId id);
  bool masked(NodeId id, const T* value);
  void check_backward(NodeId id, const T* gradient, NodeId operand);

  const GraphStore& graph_;
  Planner planner_;
  PlanCache plans_;
  std::vector<std::unique_ptr<DeviceContext<T>>> contexts_;
  PodVector<DeviceContext<T>*> by_device_;  // by device index
  Arena pointers_;
  PodVector<const T*> from_;  // of copies
  PodVector<T*> to_;
  PodVector<Write> how_;

  NodeId evaluated_ = 0;
  std::uint64_t run_number_ = 0;
  PodVector<Run> runs_;
  PodVector<Arena::Mark> marks_;  // of the values of each site, before each run
  PodVector<Ran> steps_;          // of all runs
  PodVector<NodeId> order_;
  PodVector<T*> value_, aux_;           // by node
  PodVector<std::uint32_t> first_arg_;  // by node, as in plans
  PodVector<bool> freed_;               // by node: other values lie where its value was
  std::size_t batches_ = 0;

  NodeId differentiated_ = 0;  // nodes below it were covered by the last backward pass
  bool full_ = false;
  bool retains_gradients_ = true;  // the gradients of all nodes
  bool lost_ = false;              // those of the last pass, with its loss
  bool again_ = false;             // only for those: what parameters get is known already
  ParameterState differentiated_at_{};
  bool check_ = false;
  bool inference_ = false;
  bool unrecorded_ = false;  // some values were computed in inference
  Workers* workers_ = nullptr;
  std::optional<unsigned> buffer_;
  PodVector<Gradient> gradient_;    // by node
  PodVector<InBuffer> in_buffers_;  // while a pass is repeated
  PodVector<Use> uses_;
  std::array<std::uint32_t, kLate> late_;  // the last steps on a device that are done
  std::size_t late_steps_ = 0;             // how many there were
  std::uint32_t computed_wait_ = 0;        // nodes that are no parameters and have uses that wait
  PodVector<TransposedMatrix> transposed_;
  std::vector<Scratch> scratch_ = std::vector<Scratch>(1);
  PodVector<T*> nothing_;  // nulls, but while a kernel has them: see backward_shared

  // Of several threads.
  PodVector<Region> regions_;           // of all runs
  PodVector<std::uint8_t> owner_;       // by index in order_
  PodVector<std::uint8_t> node_owner_;  // by node, in the region that is being made
  PodVector<std::uint32_t> mark_;       // by node: the last region that it took part in
  std::uint32_t region_ = 0;
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace dynet
