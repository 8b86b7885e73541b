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

/// Device as an executor uses it: all pointers to numbers are addresses on the device. Calls are
/// carried out in order and may return before their work is done.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual const std::shared_ptr<DeviceAllocator>& memory() = 0;
  /// The kernels of a form. The arrays of the batch are needed no longer when it returns.
  virtual void forward(const OpForm& form, const Batch<float>& batch) = 0;
  /// The same. A gradient that a batch has read is not overwritten by the next few batches, so that
  /// the kernels of several may be one.
  virtual void backward(const OpForm& form, const GradientBatch<float>& batch) = 0;
  /// How matrices are multiplied from now on.
  virtual void set_precision(Precision precision) = 0;
  /// to[i] becomes from[i], or from[i] is added, for n tensors of `size` numbers. In order: a place
  /// may come twice.
  virtual void copy(std::size_t n, std::size_t size, const float* const* from, float* const* to,
                    const Write* writes) = 0;
  /// `value` becomes or is added to each of the n numbers.
  virtual void fill(float* to, std::size_t n, float value, bool add) = 0;
  /// All that an arena has handed out since the mark may be used again, by what is asked from now
  /// on.
  virtual void rewind(Arena& arena, Arena::Mark to) = 0;
  /// Starts all that was asked.
  virtual void start() = 0;
  /// Forgets what was asked and not started.
  virtual void forget() = 0;
  /// `writer` is what another machine of this device, or this one, has left where it writes; null:
  /// nobody has. All that is started from now on comes after all that it had started, and this one
  /// is the writer then. The machine may be gone.
  virtual void write_after(std::shared_ptr<const cuda::Mark>& writer) = 0;
  /// Copies n numbers to the host when they are there.
  virtual void read(float* to, const float* from, std::size_t n) = 0;
  /// The same of n tensors of `size` numbers, one behind the other.
  virtual void read(float* to, std::size_t n, std::size_t size, const float* const* from) = 0;
  /// As `copy`, from memory of the host, which is read before it returns.
  virtual void write(std::size_t n, std::size_t size, const float* const* from, float* const* to,
                     const Write* writes) = 0;
  /// As `copy`, from memory of `other`, when all that this was asked for is done, and before all
  /// that it is asked for later.
  virtual void receive(DeviceBackend& other, std::size_t n, std::size_t size,
                       const float* const* from, float* const* to, const Write* writes) = 0;
};

}  // namespace dynet
