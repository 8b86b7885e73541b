#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dynet-like/base/random.h"

namespace nlp {

/// A seed for one purpose within a run, so that no purpose depends on how far another has come.
inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return dynet::mix_bits(dynet::mix_bits(dynet::mix_bits(seed) ^ a) ^ b);
}

/// Purposes of random numbers in a run: each has a sequence of its own.
enum : std::uint64_t { kWeights = 1, kOrder = 2, kDraws = 3, kDropout = 4 };

/// Random numbers that are the same everywhere, which std::shuffle and the distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return dynet::mix_bits(state_++); }
  /// From 0 up to, but without, 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// From 0 up to, but without, `limit`.
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
