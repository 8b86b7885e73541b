#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/run/recording.h"

namespace dynet {

/// Misses in a row, with memory at other addresses, after which a capture is made again.
inline constexpr unsigned kMostMisses = 8;

/// A pointer in a captured list that differs in every run: to the value of a node that is a row of
/// a table.
template <class T>
struct MovingPointer {
  T** where;
  NodeId node;
};

/// Call of a backward pass, with all arguments of the kernel.
template <class T>
struct CapturedCall {
  enum Kind : std::uint8_t {
    kernel,
    transpose,  ///< of the matrix ids[0] to d_outs[0]
    rows,       ///< gradients of the lookups `ids` to their tables
  };
  Kind kind;
  std::uint32_t count, arity;
  const OpForm* form;
  const NodeId* ids;
  T* const* outs;
  T* const* ins;
  T* const* auxs;
  T* const* d_outs;
  T* const* d_ins;
  const Write* writes;
  const T* const* transposed;
  std::size_t first, end;  ///< operands, see GradientBatch
};

/// A backward pass: its calls, in their order, in the memory that it took for gradients.
template <class T>
struct CapturedGradients {
  struct Slot {  // of a parameter's gradient
    NodeId node;
    T* gradient;
    Write* write;  ///< how it was written first: whether it adds may be different the next time
  };
  bool complete = false;
  unsigned misses = kMostMisses;  ///< times in a row that it could not be replayed
  NodeId loss = 0;
  T* seed = nullptr;  ///< the gradient of the loss
  std::uint64_t generation = 0;
  Arena::Mark end;  ///< of the memory for gradients, of this generation
  PodVector<Slot> slots;
  PodVector<CapturedCall<T>> calls;
  PodVector<MovingPointer<T>> moving;
  PodVector<std::uint8_t> states;  ///< at the end, by node
  Arena lists{alignof(void*), 1 << 10};

  template <class U>
  U* copy(const U* from, std::size_t n) {
    U* const to = lists.allocate_array<U>(n);
    std::copy_n(from, n, to);
    return to;
  }
  void add_rows(std::size_t count, const NodeId* ids, T* const* gradients, T* const* rows);
  void clear();
  std::size_t bytes() const;
};

/// Record of the last run of a remembered plan. A run behind equal plans repeats it, over memory at
/// equal addresses: only rows of tables have other addresses.
template <class T>
struct Capture {
  struct Given {  // a node before the plan, or one without operands
    NodeId node;
    bool needs_gradient;
    T* value;  ///< null if that may lie anywhere
  };
  struct Redone {  // a lookup, or another name of one
    NodeId node;
    T* aux;
  };
  std::uint64_t number = 0;  ///< its own
  std::uint64_t used = 0;    ///< when
  NodeId begin = 0;
  unsigned misses = 0;  ///< times in a row that something lay elsewhere
  T* values = nullptr;  ///< where the plan's memory began
  std::size_t batches = 0;
  PodVector<T*> value;                 ///< by node
  PodVector<BatchPointers<T>> memory;  ///< by step
  PodVector<Given> given;
  PodVector<NodeId> outside;  ///< see Plan::outside
  PodVector<Redone> redone;
  PodVector<MovingPointer<T>> moving;
  PodVector<bool> moves;  ///< by node; empty: none does
  Arena lists{alignof(void*), 1 << 10};
  CapturedGradients<T> gradients;

  bool moves_at(NodeId node) const { return !moves.empty() && moves[node - begin]; }
  template <class U>
  U* copy(const U* from, std::size_t n) {
    U* const to = lists.template allocate_array<U>(n);
    std::copy_n(from, n, to);
    return to;
  }
  std::size_t bytes() const;
};

/// The captures of an executor, and which of them the present graph has run.
template <class T>
class Captures {
 public:
  static constexpr NodeId kMost = 32768;  ///< nodes of a graph: behind them nothing is captured

  /// Capture of `plan` for a run now, or null.
  Capture<T>* find(const Plan& plan);
  /// Whether a capture is worth it: `plan` would run a second time behind equal plans.
  bool is_worth_it(const Plan& plan);
  /// Inserts the capture of `plan`, which replaces an older one.
  Capture<T>* add(const Plan& plan, std::unique_ptr<Capture<T>> capture);
  /// A plan has run: by this capture, or null.
  void push(Capture<T>* capture);
  /// Capture of the last plan, or null.
  Capture<T>* last() const { return run_.empty() ? nullptr : run_[run_.size() - 1]; }
  /// Removes the last plan, whose run is undone.
  void pop() { run_.truncate(run_.size() - 1); }
  /// Evicts the capture of the last plan: `find` does not return it any more.
  void forget_last();
  /// Whether the value of a node is different memory in every run.
  bool moves(NodeId node) const;
  /// The graph was cleared.
  void clear();
  void release();

  std::size_t bytes() const;
  std::size_t forward_replays = 0, backward_replays = 0;  ///< passes so far

 private:
  static constexpr std::size_t kBytes = std::size_t{8} << 20, kSeen = 1024;

  std::uint64_t key(const Plan& plan) const;

  std::unordered_map<std::uint64_t, std::unique_ptr<Capture<T>>> all_;
  std::vector<std::unique_ptr<Capture<T>>> forgotten_;  // that the present graph uses
  PodVector<Capture<T>*> run_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t numbers_ = 0, time_ = 0;
  bool grown_ = false;  // since the last look at how many bytes there are
};

}  // namespace dynet
