#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/device.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/run/backend.h"
#include "dynet-like/run/parameter_access.h"
#include "dynet-like/run/pool.h"

namespace dynet {

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

  void begin_pass() {
    for (DeviceContext<T>* c : by_index_) c->backend.begin_pass();
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
