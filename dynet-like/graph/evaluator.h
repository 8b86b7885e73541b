#pragma once

#include <memory>
#include <optional>

#include "dynet-like/base/device.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/graph/statistics.h"

namespace dynet {

class GraphObserver;
class Interrupt;

/// Interface of a graph to the executor above it. See docs/design/graph.md for all interfaces
/// through which calls point upward. `T` is the type of values and gradients.
template <class T>
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Computes every node up to `last` that has no value yet.
  virtual void forward(NodeId last) = 0;
  /// Drops all values: the next forward starts over, with new random draws.
  virtual void invalidate() = 0;
  /// From a result of a node, which is the loss.
  virtual void backward(NodeId loss, bool full, std::uint32_t result) = 0;
  /// Value of a result of a node in memory that the host can read.
  virtual T* host_value(NodeId node, std::uint32_t result) = 0;
  /// Gradient of a result of a node in memory that the host can read.
  virtual T* host_gradient(NodeId node, std::uint32_t result) = 0;
  /// Drops the nodes from `size` on.
  virtual void truncate(NodeId size) = 0;
  /// Drops all nodes. Constant time.
  virtual void clear() = 0;
  /// Frees the memory and the devices; device index 0 is the CPU afterwards.
  virtual void release() = 0;
  virtual void set_check_validity(bool check) = 0;
  /// Batches nodes of one kind (true), or runs each node alone in the order of creation.
  virtual void set_batching(bool batch) = 0;
  /// Number of the buffer for gradients of parameters; none: the buffer of the calling thread.
  virtual void set_gradient_buffer(std::optional<unsigned> number) = 0;
  /// Forward only: values are freed after their last use.
  virtual void set_inference(bool inference) = 0;
  /// Sets a check that may end a pass between two of its steps, or null. Computed values are kept,
  /// and so are, until `reset_gradient`, the gradients that backward has added to parameters.
  virtual void set_interrupt(Interrupt* interrupt) = 0;
  /// Sets an observer of the passes, or null.
  virtual void set_observer(GraphObserver* observer) = 0;
  /// Prepares a device for nodes with this device index, which has no nodes yet. Throws
  /// DeviceError.
  virtual void use(std::size_t index, Device* device) = 0;
  /// Sets the precision of products.
  virtual void set_precision(Precision precision) = 0;
  virtual GraphStatistics statistics() const = 0;
};

/// Defined by the executor.
std::unique_ptr<Evaluator<float>> make_evaluator(const GraphStore& graph);

}  // namespace dynet
