#pragma once

// Division by numbers that are not known before: a device takes long for it.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dynet-like/base/device_code.h"

namespace dynet::cuda {

struct Quotient {
  std::size_t by, rest;
};
/// k / n and k % n. Most numbers are small, and a device takes long to divide large ones.
inline DYNET_DEVICE Quotient divide(std::size_t k, std::size_t n) {
  if (k < n) return {0, k};
  if (n == 1) return {k, 0};
  if (k >> 32 == 0) {
    const auto a = static_cast<std::uint32_t>(k), b = static_cast<std::uint32_t>(n);
    return {a / b, a % b};
  }
  return {k / n, k % n};
}

/// The same for many k below 2^31, by a multiplication (Granlund and Montgomery 1994): what the
/// factor is too large by, times k, stays below 2^shift. A divisor of zero is taken as one.
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
