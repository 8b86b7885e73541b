#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dynet-like/base/random.h"

namespace nlp {

/// Derives a seed for one purpose, so that the random numbers of different purposes are
/// independent.
inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return dynet::mix_bits(dynet::mix_bits(dynet::mix_bits(seed) ^ a) ^ b);
}

/// Purposes of random numbers in a run; each has its own sequence.
enum : std::uint64_t { kWeights = 1, kOrder = 2, kDraws = 3, kDropout = 4 };

/// Portable random numbers, unlike std::shuffle and the distributions of std.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return dynet::mix_bits(state_++); }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform in [0, limit).
  std::size_t below(std::size_t limit) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(limit));
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace nlp
