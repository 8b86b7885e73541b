#pragma once

#include <vector>

#include "dynet-like/param/updater.h"
#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// All of these sums, of numbers on the queue's device.
void add_up(Queue& q, const std::vector<DeviceSums>& sums);

}  // namespace dynet::cuda
