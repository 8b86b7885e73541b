#pragma once

#include <cstdint>

namespace dynet {

/// Mixes 64 bits (the finalizer of splitmix64; Steele, Lea, Flood 2014).
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Random numbers as a pure function of a key and a position. Kernels may compute them in any order
/// and any precision, and recompute them in the backward pass, with identical draws.
class RandomStream {
 public:
  explicit constexpr RandomStream(std::uint64_t key) : key_(mix_bits(key)) {}

  /// 64 random bits at position i.
  constexpr std::uint64_t bits(std::uint64_t i) const {
    return mix_bits(key_ ^ mix_bits(i * 0xd1342543de82ef95u + 1));
  }
  /// Uniform in [0, 1), 24 bits so that float and double see the same value.
  constexpr double uniform(std::uint64_t i) const {
    return static_cast<double>(bits(i) >> 40) * 0x1p-24;
  }
  /// Standard normal (Box and Muller 1958).
  double normal(std::uint64_t i) const;

 private:
  std::uint64_t key_;
};

}  // namespace dynet
