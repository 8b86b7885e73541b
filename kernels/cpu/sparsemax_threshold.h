#pragma once

#include <cstddef>

#include "dynet-like/base/device_code.h"

namespace dynet::cpu {

/// Threshold subtracted from scores, beside `shift`, before negative scores become zero, so that
/// the sum of the n results is one. `sorted`: the scores, the largest first; for the CPU and for
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
