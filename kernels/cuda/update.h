#pragma once

#include <memory>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/device_allocator.h"
#include "dynet-like/param/updater.h"

// Update rules of trainers as kernels, analogous to the operations in kernels.h.

namespace dynet::cuda {

class Queue;
struct UpdateWork;

/// The kernel of a rule: adds its commands to a queue.
struct UpdateRule {
  void (*step)(Queue&, const UpdateWork&);
  bool whole = false;  ///< a row, or a parameter, must be updated as a whole
};

DYNET_CUDA_PART const UpdateRule kUpdateSGD, kUpdateMomentum, kUpdateAdagrad, kUpdateAdadelta,
    kUpdateRMSProp, kUpdateAdam, kUpdateAmsgrad, kUpdateExponentiated;

/// Creates an updater for the device of this memory. Throws DeviceError.
std::unique_ptr<Updater> make_updater(const std::shared_ptr<DeviceAllocator>& memory);

}  // namespace dynet::cuda
