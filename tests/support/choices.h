#pragma once

#include <cstdint>
#include <span>

#include "dynet-like/base/random.h"

/// Choices of a generated test: random numbers from a seed, or a fuzzer's bytes. A copy repeats the
/// choices.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  /// A number below n <= 256. Zero when the bytes are used up.
  unsigned below(unsigned n) {
    return (from_bytes_ ? next_byte() : static_cast<unsigned>(random_.bits(draws_++) & 0xffffff)) %
           n;
  }
  /// A number between -1 and 1.
  float number() {
    return from_bytes_ ? (static_cast<float>(next_byte()) - 127.5f) / 127.5f
                       : static_cast<float>(random_.uniform(draws_++)) * 2 - 1;
  }
  /// Whether the bytes are used up.
  bool ended() const { return from_bytes_ && draws_ >= bytes_.size(); }

 private:
  std::uint8_t next_byte() { return draws_ < bytes_.size() ? bytes_[draws_++] : std::uint8_t{0}; }

  dynet::RandomStream random_{0};
  std::span<const std::uint8_t> bytes_;
  bool from_bytes_ = false;
  std::uint64_t draws_ = 0;
};
