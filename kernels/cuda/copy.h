#pragma once

#include <cstddef>

#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// As in DeviceBackend.
void copy_tensors(Queue& q, std::size_t n, std::size_t size, const float* const* from,
                  float* const* to, const Write* writes);
void fill_numbers(Queue& q, float* to, std::size_t n, float value, bool add);

}  // namespace dynet::cuda
