#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/device.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/base/prepared_matrices.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/run/backend.h"
#include "dynet-like/run/parameter_access.h"

namespace dynet {

/// Memory in pieces of few sizes; the piece freed last is allocated first, while it is still in the
/// caches. All memory is in an arena, which must be reset together with the pool.
template <class T>
class Pool {
  struct Class {  // of sizes
    PodVector<T*> free;
    T* next = nullptr;  // in a block of unused pieces
    std::size_t left = 0, size = 0;
  };

 public:
  /// Pieces of one size.
  class Pieces {
   public:
    T* take() {
      if (!class_->free.empty()) {
        T* const p = class_->free.back();
        class_->free.truncate(class_->free.size() - 1);
        return p;
      }
      if (class_->left == 0) pool_->refill(*class_);
      T* const p = class_->next;
      class_->next += class_->size;
      --class_->left;
      return p;
    }
    void give_back(T* p) { class_->free.push_back(p); }

   private:
    friend class Pool;
    Pieces(Pool* pool, Class& c) : pool_(pool), class_(&c) {}
    Pool* pool_;
    Class* class_;
  };

  explicit Pool(Arena& arena) : arena_(arena) {}

  /// Pieces of at least n elements.
  Pieces of(std::size_t n) { return {this, classes_[class_of(n)]}; }
  void reset() {
    for (Class* const c : used_) {
      c->free.clear();
      c->left = 0;
    }
    used_.clear();
  }

 private:
  // Up to 16 elements in steps of 4, then four classes between powers of two.
  static constexpr std::size_t kClasses = 5 + 4 * 60;
  static std::size_t class_of(std::size_t n) {
    if (n <= 16) return (n + 3) / 4;
    const auto width = static_cast<std::size_t>(std::bit_width(n - 1));
    return 5 + (width - 5) * 4 + (((n - 1) >> (width - 3)) - 4);
  }
  static std::size_t size_of(std::size_t c) {
    if (c < 5) return c * 4;
    return ((c - 5) % 4 + 5) << ((c - 5) / 4 + 2);
  }

  void refill(Class& c) {
    constexpr std::size_t kTogether = 2048;  // elements
    if (c.size == 0) c.size = size_of(static_cast<std::size_t>(&c - classes_.data()));
    const std::size_t count =
        c.size >= kTogether ? 1 : kTogether / std::max<std::size_t>(c.size, 1);
    c.next = arena_.allocate_array<T>(c.size * count);
    c.left = count;
    used_.push_back(&c);
  }

  Arena& arena_;
  std::array<Class, kClasses> classes_;
  PodVector<Class*> used_;  // classes with pieces; may contain duplicates
};

/// State of an executor for one device.
template <class T>
struct DeviceContext {
  explicit DeviceContext(Backend<T> b, const DeviceDescription& d)
      : device(d),
        backend(std::move(b)),
        parameters(backend),
        values(backend.memory()),
        gradients(backend.memory()),
        rematerialized(backend.memory()) {}

  DeviceDescription device;
  Backend<T> backend;
  ParameterAccess<T> parameters;
  Arena values, gradients, rematerialized;
  Pool<T> pool{gradients}, kept{rematerialized};
  PreparedMatrices prepared;  ///< on the CPU
};

/// The devices of a graph: a context for each, and the context of each node.
template <class T>
class Devices {
 public:
  /// Nodes run on the first device, unless `use` assigns another one to their device index.
  Devices(const GraphStore& graph, Backend<T> first) : graph_(graph) {
    use(0, add(std::move(first)));
  }

  /// Adds a device; returns the index of its context. The first context is the constructor's.
  std::size_t add(Backend<T> backend, const DeviceDescription& device = kCpu) {
    contexts_.push_back(std::make_unique<DeviceContext<T>>(std::move(backend), device));
    return contexts_.size() - 1;
  }
  /// Assigns a context to a device index that no node has yet.
  void use(std::size_t device, std::size_t context) {
    by_index_.resize(std::max(by_index_.size(), device + 1), contexts_[0].get());
    by_index_[device] = contexts_[context].get();
  }

  /// Each device once.
  const std::vector<std::unique_ptr<DeviceContext<T>>>& contexts() const { return contexts_; }
  /// The context of each device index of the graph.
  const PodVector<DeviceContext<T>*>& by_index() {
    if (by_index_.size() < graph_.devices.size())
      by_index_.resize(graph_.devices.size(), contexts_[0].get());
    return by_index_;
  }
  DeviceContext<T>& of(NodeId id) { return *by_index_[graph_.nodes[id].device_index()]; }
  typename Pool<T>::Pieces pieces_for(NodeId id) {
    return of(id).pool.of(graph_.nodes[id].dim.size());
  }

  bool all_on_cpu() const {
    return graph_.devices.size() == 1 && !by_index_[0]->backend.on_device();
  }
  bool any_on_device() const {
    return std::any_of(contexts_.begin(), contexts_.end(),
                       [](const auto& c) { return c->backend.on_device(); });
  }

  /// Before a pass: values of parameters may be others now.
  void begin_pass() {
    for (DeviceContext<T>* c : by_index_) c->prepared.clear();
  }
  void start() {
    for (DeviceContext<T>* c : by_index_) c->backend.start();
  }
  /// Drops queued work after an error: its memory may be freed before the next graph runs.
  void forget() {
    for (const auto& c : contexts_) c->backend.forget();
  }
  /// The next graph has one device until it uses others.
  void clear() { by_index_.truncate(1); }
  /// Frees all memory, and all devices but the first.
  void release() {
    contexts_.resize(1);
    by_index_[0] = contexts_[0].get();
    for (Arena* a :
         {&contexts_[0]->values, &contexts_[0]->gradients, &contexts_[0]->rematerialized})
      a->release();
    contexts_[0]->prepared.release();
  }

 private:
  const GraphStore& graph_;
  std::vector<std::unique_ptr<DeviceContext<T>>> contexts_;
  PodVector<DeviceContext<T>*> by_index_;
};

/// Copies that are made in one call.
template <class T>
struct CopyList {
  PodVector<const T*> from;
  PodVector<T*> to;
  PodVector<Write> how;

  void clear() {
    from.clear();
    to.clear();
    how.clear();
  }
  void add(const T* source, T* target, Write write) {
    from.push_back(source);
    to.push_back(target);
    how.push_back(write);
  }
};

}  // namespace dynet
