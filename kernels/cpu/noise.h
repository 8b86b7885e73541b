#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

// Element i of a node draws at position i of the stream of its key and the epoch: the same number
// in both precisions, forward and backward.

struct DropoutAttr {
  double p;
  std::uint64_t key;
};
template <class T>
void dropout_forward(const Batch<T>& b);
template <class T>
void dropout_backward(const GradientBatch<T>& b);

/// Elements that share one draw: those along a dimension, or all of a batch element.
struct SharedDropoutAttr {
  static constexpr std::uint64_t kAllDimensions = ~std::uint64_t{0};
  double p;
  std::uint64_t dimension;
  std::uint64_t key;
};
template <class T>
void shared_dropout_forward(const Batch<T>& b);
template <class T>
void shared_dropout_backward(const GradientBatch<T>& b);

struct NoiseAttr {
  double stddev;
  std::uint64_t key;
};
template <class T>
void noise_forward(const Batch<T>& b);
template <class T>
void noise_backward(const GradientBatch<T>& b);

/// Two numbers that say what is drawn.
struct RandomAttr {
  double first, second;
  std::uint64_t key;
  Dim dim;
  std::uint32_t unused;
};
/// Gaussian with mean `first` and standard deviation `second`.
template <class T>
void random_normal_forward(const Batch<T>& b);
/// `second` with probability `first`, else zero.
template <class T>
void random_bernoulli_forward(const Batch<T>& b);
/// In [first, second).
template <class T>
void random_uniform_forward(const Batch<T>& b);
/// first - second log(-log u) for u uniform in (0, 1).
template <class T>
void random_gumbel_forward(const Batch<T>& b);

}  // namespace dynet::cpu
