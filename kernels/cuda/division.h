#pragma once

// Division by run-time divisors, which is slow on a device.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dynet-like/base/device_code.h"

namespace dynet::cuda {

struct Quotient {
  std::size_t by, rest;
};
/// k / n and k % n. Avoids 64-bit division, which is slow on a device, for small operands.
inline DYNET_DEVICE Quotient divide(std::size_t k, std::size_t n) {
  if (k < n) return {0, k};
  if (n == 1) return {k, 0};
  if (k >> 32 == 0) {
    const auto a = static_cast<std::uint32_t>(k), b = static_cast<std::uint32_t>(n);
    return {a / b, a % b};
  }
  return {k / n, k % n};
}

/// Division of many k below 2^31 by one n, as a multiplication (Granlund and Montgomery 1994): the
/// error of the factor times k stays below 2^shift. A divisor of zero counts as one.
class Divisor {
 public:
  explicit Divisor(std::uint32_t n) : n_(std::max(n, 1u)), shift_(31) {
    while (shift_ < 62 && std::uint64_t{1} << (shift_ - 31) < n_) ++shift_;
    factor_ = (std::uint64_t{1} << shift_) / n_ + 1;
  }
  DYNET_DEVICE Quotient operator()(std::uint32_t k) const {
    const auto by = static_cast<std::uint32_t>(k * factor_ >> shift_);
    return {by, k - by * n_};
  }

 private:
  std::uint32_t n_, shift_;
  std::uint64_t factor_;
};

}  // namespace dynet::cuda
