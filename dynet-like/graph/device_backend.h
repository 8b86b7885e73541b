#pragma once

#include <cstddef>
#include <memory>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/device.h"
#include "dynet-like/base/device_allocator.h"
#include "dynet-like/graph/op.h"

namespace dynet {

namespace cuda {
class Mark;  // kernels/cuda/driver.h
}

/// A device as the executor sees it. Pointers to numbers are device addresses. Calls are queued:
/// they run in order, and may return before their work is done.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual const std::shared_ptr<DeviceAllocator>& memory() = 0;
  /// Queues the forward kernel of a form. The arrays of the batch may be freed when it returns.
  virtual void forward(const OpForm& form, const Batch<float>& batch) = 0;
  /// Queues the backward kernel of a form. The caller must not overwrite a gradient that this batch
  /// reads during the next few batches, so that kernels of several batches may be fused.
  virtual void backward(const OpForm& form, const GradientBatch<float>& batch) = 0;
  /// Sets the precision of products in later calls.
  virtual void set_precision(Precision precision) = 0;
  /// Stores from[i] in to[i], or adds it (see `writes`), for n tensors of `size` numbers, in order:
  /// `to` may contain duplicates.
  virtual void copy(std::size_t n, std::size_t size, const float* const* from, float* const* to,
                    const Write* writes) = 0;
  /// Stores `value` in each of the n numbers, or adds it to each.
  virtual void fill(float* to, std::size_t n, float value, bool add) = 0;
  /// Frees all memory that an arena has allocated since the mark, for use by later calls.
  virtual void rewind(Arena& arena, Arena::Mark to) = 0;
  /// Starts all queued calls.
  virtual void start() = 0;
  /// Drops queued calls that were not started.
  virtual void forget() = 0;
  /// Orders later starts after all work that `writer` has started, then sets `writer` to this
  /// backend's mark. `writer` is the mark of the backend of this device that last wrote to some
  /// shared memory; null: none. That backend may be destroyed.
  virtual void write_after(std::shared_ptr<const cuda::Mark>& writer) = 0;
  /// Copies n numbers to the host, and waits for them.
  virtual void read(float* to, const float* from, std::size_t n) = 0;
  /// Copies n tensors of `size` numbers to the host, one after another, and waits for them.
  virtual void read(float* to, std::size_t n, std::size_t size, const float* const* from) = 0;
  /// Like `copy`, from host memory, which is read before the call returns.
  virtual void write(std::size_t n, std::size_t size, const float* const* from, float* const* to,
                     const Write* writes) = 0;
  /// Like `copy`, from memory of `other`: after all calls queued there so far, before all calls
  /// queued there later.
  virtual void receive(DeviceBackend& other, std::size_t n, std::size_t size,
                       const float* const* from, float* const* to, const Write* writes) = 0;
};

}  // namespace dynet
