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

/// Consecutive misses, with memory at other addresses, after which a capture is recorded again.
inline constexpr unsigned kMostMisses = 8;

/// A pointer in a captured list that differs from run to run: to a row of a table.
template <class T>
struct MovingPointer {
  T** where;
  NodeId node;
};

/// Kernel call of a backward pass, with all its arguments.
template <class T>
struct CapturedCall {
  enum Kind : std::uint8_t {
    kernel,
    rows,  ///< adds the gradients of the lookups `ids` to their tables
  };
  Kind kind;
  std::uint32_t count, arity;
  const OpForm* form;
  const NodeId* ids;
  T* const* outs;
  T* const* ins;
  T* const* auxs;
  T* const* d_outs;
  T* const* d_seconds;
  T* const* d_ins;
  const Write* writes;
  std::size_t first, end;  ///< operands, see GradientBatch
  Terms terms;
  T* const* d_sums;
};

/// A captured backward pass: its calls in order, and the memory of its gradients.
template <class T>
struct CapturedGradients {
  struct Slot {  // of a parameter's gradient
    NodeId node;
    T* gradient;
    Write* write;  ///< of its first write: store or add may differ in a replay
  };
  bool complete = false;
  unsigned misses = kMostMisses;  ///< consecutive passes that could not replay it
  NodeId loss = 0;
  std::uint32_t result = 0;  ///< of the loss's node
  T* seed = nullptr;         ///< the gradient of the loss
  std::uint64_t generation = 0;
  Arena::Mark end;  ///< of the arena of gradients, in this generation
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

/// Record of the last run of a cached plan, to replay it. A run after equal plans, with memory at
/// equal addresses, makes the same kernel calls; only rows of tables have other addresses.
template <class T>
struct Capture {
  struct Given {  // a node before the plan, or a node without operands
    NodeId node;
    bool needs_gradient;
    T* value;  ///< null if any address will do
  };
  struct Redone {  // a lookup, or an alias of one
    NodeId node;
    T* aux;
  };
  std::uint64_t number = 0;  ///< of this capture
  std::uint64_t used = 0;    ///< when
  NodeId begin = 0;
  unsigned misses = 0;  ///< consecutive runs with other addresses
  T* values = nullptr;  ///< start of the plan's memory
  std::size_t batches = 0;
  PodVector<T*> value, aux;            ///< by node
  PodVector<BatchPointers<T>> memory;  ///< by step
  PodVector<Given> given;
  PodVector<NodeId> outside;  ///< see Plan::outside
  PodVector<Redone> redone;
  PodVector<MovingPointer<T>> moving;
  PodVector<bool> moves;  ///< by node; empty: no value moves
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

/// The captures of an executor, and the list of those that the present graph has run.
template <class T>
class Captures {
 public:
  static constexpr NodeId kMost = 32768;  ///< nodes of a graph; later plans are not captured

  /// Capture of `plan` for a run now, or null.
  Capture<T>* find(const Plan& plan);
  /// Whether `plan` runs for the second time after equal plans, and so is worth a capture.
  bool is_worth_it(const Plan& plan);
  /// Inserts the capture of `plan`, which replaces an older one.
  Capture<T>* add(const Plan& plan, std::unique_ptr<Capture<T>> capture);
  /// A plan has run, with this capture or none.
  void push(Capture<T>* capture);
  /// Capture of the last plan, or null.
  Capture<T>* last() const { return run_.empty() ? nullptr : run_[run_.size() - 1]; }
  /// Removes the last plan, whose run was undone.
  void pop() { run_.truncate(run_.size() - 1); }
  /// Evicts the capture of the last plan.
  void forget_last();
  /// Whether the address of a node's value differs from run to run.
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
  std::vector<std::unique_ptr<Capture<T>>> forgotten_;  // evicted, but used by the present graph
  PodVector<Capture<T>*> run_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t numbers_ = 0, time_ = 0;
  bool grown_ = false;  // since the bytes were last counted
};

}  // namespace dynet
