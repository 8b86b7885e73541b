#pragma once

#include <cmath>
#include <cstdint>

#include "dynet-like/base/random.h"
#include "dynet-like/graph/op.h"

namespace dynet {

// Element i of a node draws at position i of a stream by the node's key and the run: the same
// number in both precisions, forward and backward.

/// The stream of node i, whose attributes are of type A.
template <class A, class T>
RandomStream stream_of(const Batch<T>& b, std::size_t i) {
  return RandomStream(mix_bits(b.template attr<A>(i).key ^ b.run));
}

/// `uniform(i) < p` as a comparison of integers.
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

/// One draw for all elements along a dimension, or for all elements of a batch element.
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

/// Parameters of the distribution.
struct RandomAttr {
  double first, second;
  std::uint64_t key;
  Dim dim;
  std::uint32_t unused;
};

}  // namespace dynet
