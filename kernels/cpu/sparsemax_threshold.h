#pragma once

#include <cstddef>

#include "dynet-like/base/device_code.h"

namespace dynet::cpu {

/// Threshold to subtract from scores, in addition to `shift`, so that the n results sum to one
/// after negative ones are set to zero. `sorted`: the scores in descending order. For the CPU and
/// devices. Martins and Astudillo 2016, algorithm 1.
template <class T>
DYNET_DEVICE double sparsemax_threshold(const T* sorted, std::size_t n, T shift) {
  double sum = 0, t = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double z = static_cast<double>(sorted[k]) - static_cast<double>(shift);
    const double above = static_cast<double>(k + 1);
    if (!(1 + above * z > sum + z)) break;
    sum += z;
    t = (sum - 1) / above;
  }
  return t;
}

}  // namespace dynet::cpu
