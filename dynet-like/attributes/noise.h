#pragma once

#include <cmath>
#include <cstdint>

#include "dynet-like/base/random.h"
#include "dynet-like/graph/op.h"

namespace dynet {

// Element i of a node reads position i of the random stream of (key, run): the same number in float
// and double, in forward and in backward.

/// Random stream of node i; A is its attribute type.
template <class A, class T>
RandomStream stream_of(const Batch<T>& b, std::size_t i) {
  return RandomStream(mix_bits(b.template attr<A>(i).key ^ b.run));
}

/// Compares `uniform(i) < p` in integers.
class Coin {
 public:
  Coin(const RandomStream& stream, double p)
      : stream_(stream), below_(static_cast<std::uint64_t>(std::ceil(p * 0x1p24))) {}
  constexpr bool operator()(std::size_t i) const { return (stream_.bits(i) >> 40) < below_; }

 private:
  RandomStream stream_;
  std::uint64_t below_;
};

/// Uniform in (0, 1).
constexpr double open_uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 32) + 0.5) * 0x1p-32;
}

struct DropoutAttr {
  double p;
  std::uint64_t key;
};

/// Dropout in which elements along a dimension, or all of a batch element, share one draw.
struct SharedDropoutAttr {
  static constexpr std::uint64_t kAllDimensions = ~std::uint64_t{0};
  double p;
  std::uint64_t dimension;
  std::uint64_t key;
};

struct NoiseAttr {
  double stddev;
  std::uint64_t key;
};

/// Two parameters of the distribution.
struct RandomAttr {
  double first, second;
  std::uint64_t key;
  Dim dim;
  std::uint32_t unused;
};

}  // namespace dynet
