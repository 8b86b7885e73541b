#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dynet-like/plan/gradient_layout.h"
#include "dynet-like/plan/verify.h"
#include "dynet-like/run/capture.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/recording.h"
#include "dynet-like/run/settings.h"

namespace dynet {

/// Computes gradients: runs the steps of a recording in reverse. docs/design/gradients.md has the
/// order of writes and reads.
template <class T>
class BackwardPass {
 public:
  BackwardPass(const GraphStore& graph, Devices<T>& devices, const PassSettings& settings,
               const Recording<T>& recording, Captures<T>& captures)
      : graph_(graph), devices_(devices), settings_(settings), r_(recording), captures_(captures) {}

  /// Starts from d loss / d loss = 1; the loss, a result of a node, has a value. Nodes that need no
  /// gradient get one only with `full`.
  void run(NodeId loss, bool full, std::uint32_t result = 0);
  /// Gradient of a result of a node; zeros if the loss does not depend on it. Throws GradientError
  /// if no pass has covered the node, and for a gradient that was not kept if the parameters have
  /// changed since or the loss was reverted.
  T* gradient(NodeId id, std::uint32_t result = 0);
  /// The nodes from `size` on are gone.
  void truncate(NodeId size);
  /// Forgets the last pass.
  void clear();
  void release();

 private:
  /// The gradient of a node. Every step reads those of its nodes and of their operands: they are
  /// small, so that more of them stay in the caches.
  struct Gradient {
    enum State : std::uint32_t { none, unwritten, written };
    T* memory;            // null until allocated; a parameter's once it was looked up
    std::uint32_t batch;  // number of the last batch of products that wrote it
    State state : 2;
    bool second_written : 1;     // whether the gradient of the second result is
    bool in_buffer : 1;          // of a parameter
    std::uint32_t readers : 28;  // steps and pending uses that will read it
  };
  static_assert(sizeof(Gradient) <= 16);
  /// Pending uses of a node.
  struct Pending {
    std::uint32_t last;     // the latest one, see Use
    std::uint32_t columns;  // of all, at most kEnoughColumns
  };

  /// A pending use of a shared operand of products. The gradient of the operand is computed once,
  /// over all its uses, when backward reaches the operand. The uses of a node are a linked list.
  struct Use {
    std::uint32_t step, operand, next;
    std::uint32_t node;  // index in the step, or kAllNodes
    bool all_live;       // of all nodes: whether the loss depends on each
  };
  /// A range [first, end) of such a list that one kernel call sums: the same operand of `count`
  /// nodes with equal form and shapes.
  struct UseRange {
    NodeId shared;
    std::uint32_t first, end;
    std::size_t operand, count;
  };
  struct PiecesFor {  // pool of gradients of a node's size
    Devices<T>& devices;
    NodeId id;
    std::optional<typename Pool<T>::Pieces> found = {};
    typename Pool<T>::Pieces& operator()() {
      if (!found) found = devices.pieces_for(id);
      return *found;
    }
    void of(NodeId other) {
      id = other;
      found.reset();
    }
  };
  struct InBuffer {  // a parameter node
    NodeId id;
    T* memory;
  };
  /// Arguments of kernels that are not recorded: listed for each call.
  struct Scratch {
    PodVector<T*> handed, sums, buffers;
    PodVector<Write> writes;
    PodVector<NodeId> live, args;
    std::uint32_t batch = 0;
  };
  static constexpr std::uint8_t kSecondWritten = 4;  // in CapturedGradients::states
  static constexpr std::uint32_t kNoUse = ~std::uint32_t{0};
  static constexpr unsigned kAllNodes = ~0u;
  static constexpr std::size_t kLate = 4;

  Backend<T>& backend(NodeId id) { return devices_.of(id).backend; }
  bool is_live(NodeId id) const {
    return id < gradient_.size() &&
           (gradient_[id].state == Gradient::written || gradient_[id].second_written);
  }
  void run_steps(NodeId loss);
  CapturedGradients<T>* captured() const;
  bool addresses_match(CapturedGradients<T>& captured, NodeId loss);
  void replay(CapturedGradients<T>& captured);
  void capture(NodeId loss, CapturedGradients<T>& to);
  void capture_call(const OpForm& form, const GradientBatch<T>& b, bool recorded,
                    const NodeId* args);
  void restore_states();
  void prepare(NodeId size);
  void lay_out(NodeId size);

  void run_step(const Step& step, const BatchPointers<T>& m, const NodeId* ids);
  GradientBatch<T> live_batch(const BatchPointers<T>& m, const NodeId* ids);
  bool find_targets(const GradientBatch<T>& b, const Step& step, const NodeId* args);
  void reuse_gradients(const GradientBatch<T>& b, const NodeId* args);
  void number_batch(const GradientBatch<T>& b, std::size_t operand, const NodeId* args);
  void receive_gradients(Backend<T>& from, const GradientBatch<T>& b, NodeId operand,
                         T* const* d_ins);
  T* const* sums_of(const Step& step, const GradientBatch<T>& b);
  std::uint32_t record_uses(std::uint32_t step);
  void record_use(NodeId shared, const Use& use, std::size_t columns);
  void flush_full(std::uint32_t step);
  void flush_shared(std::span<const NodeId> shared);
  void sum_range(std::span<UseRange> uses);
  UseRange range_of(NodeId shared, std::uint32_t first) const;
  bool same_shape_use(const Use& x, const Use& y) const;
  template <class F>
  void for_each_live(const UseRange& uses, F f) const;
  std::size_t gather_live(std::span<UseRange> uses);
  void scatter_step(const Step& step, const BatchPointers<T>& m);
  void scatter_rows(std::size_t count, const NodeId* ids, T* const* gradients, T* const* rows);
  void release_gradients(std::span<const NodeId> ids);
  void count_readers(std::uint32_t step, std::uint32_t uses);
  void repeat();
  Slot<T> buffer_slot(NodeId id);
  Slot<T> slot(NodeId id, PiecesFor& pieces) {
    Gradient& g = gradient_[id];
    if (g.state == Gradient::written) return {g.memory, true};
    g.state = Gradient::written;
    if (g.in_buffer) [[unlikely]]
      return buffer_slot(id);
    if (!g.memory) g.memory = pieces().take();
    return {g.memory, false};
  }
  Slot<T> second_slot(NodeId id, PiecesFor& pieces) {
    Gradient& g = gradient_[id];
    T*& memory = seconds_[id];
    if (g.second_written) return {memory, true};
    g.second_written = true;
    if (!memory) memory = pieces().take();
    return {memory, false};
  }

  const GraphStore& graph_;
  Devices<T>& devices_;
  const PassSettings& settings_;
  const Recording<T>& r_;
  Captures<T>& captures_;

  NodeId covered_ = 0;           // nodes below it were covered by the last pass
  std::uint32_t result_ = 0;     // of the node that is the loss
  bool full_ = false;            // all nodes get gradients
  bool keeps_all_ = true;        // the gradients of all nodes
  bool lost_ = false;            // gradients of the last pass were dropped when its loss was
  bool repeating_ = false;       // repeats a pass for gradients that it did not keep
  bool incomplete_ = false;      // the last repeated pass failed
  ParameterState parameters_{};  // at the last pass
  CapturedGradients<T>* captures_to_ = nullptr;  // filled in by this pass, or null
  const CapturedGradients<T>* replayed_ =
      nullptr;                    // the last pass was its replay; states are not restored yet
  PodVector<Gradient> gradient_;  // by node
  PodVector<T*> seconds_;         // by node: gradient of its second result, null until allocated;
                                  // empty if no node has one
  PodVector<Pending> pending_;    // by node, up to the last one that had a use
  PodVector<T*> sums_;            // by node: gradient of its sum of products (OpForm::sums)
  GradientLayout layout_;
  std::unique_ptr<PlanVerifier> verifier_ = PlanVerifier::if_asked_for();
  PodVector<bool> wanted_;          // by node: has memory in the layout
  PodVector<T*> blocks_;            // of the layout, by device
  PodVector<InBuffer> in_buffers_;  // parameters, while a pass is repeated
  PodVector<Use> uses_;
  PodVector<UseRange> ranges_;  // while uses are summed
  std::array<std::uint32_t, kLate>
      late_;                         // finished steps on a device whose memory is not released yet
  std::size_t late_steps_ = 0;       // finished steps on a device
  std::uint32_t computed_wait_ = 0;  // computed nodes with pending uses
  Scratch scratch_;
  PodVector<T*> nothing_;  // nulls, except during a kernel call of sum_range
  CopyList<T> copies_;
};

}  // namespace dynet
