#pragma once

#include <memory>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/device_allocator.h"
#include "dynet-like/param/updater.h"

// The rules of trainers as kernels, like those of operations in kernels.h.

namespace dynet::cuda {

class Queue;
struct UpdateWork;

/// The kernel of a rule: puts its steps into a queue.
struct UpdateRule {
  void (*step)(Queue&, const UpdateWork&);
  bool whole = false;  ///< the values of a parameter, or of a row, depend on each other
};

DYNET_CUDA_PART const UpdateRule kUpdateSGD, kUpdateMomentum, kUpdateAdagrad, kUpdateAdadelta,
    kUpdateRMSProp, kUpdateAdam, kUpdateAmsgrad, kUpdateExponentiated;

/// For the device with this memory. Throws DeviceError.
std::unique_ptr<Updater> make_updater(const std::shared_ptr<DeviceAllocator>& memory);

}  // namespace dynet::cuda
