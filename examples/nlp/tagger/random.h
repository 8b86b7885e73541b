#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tagger {

/// One step of splitmix64: a well-mixed value for every input, the same on every machine.
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// A seed for one purpose within a run, so that no purpose depends on how far another has come.
inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return mixed(mixed(mixed(seed) ^ a) ^ b);
}

/// Random numbers that are the same everywhere, which std::shuffle and the distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mixed(state_++); }
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

}  // namespace tagger
