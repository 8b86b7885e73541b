#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// An image, a filter and perhaps a bias.
struct ConvolutionAttr {
  std::uint32_t stride[2];
  std::uint64_t valid;
};
template <class T>
void conv2d_forward(const Batch<T>& b);
template <class T>
void conv2d_backward(const GradientBatch<T>& b);

struct MaxPoolingAttr {
  std::uint32_t size[2], stride[2];
  std::uint64_t valid;
};
template <class T>
void maxpooling2d_forward(const Batch<T>& b);

/// The k largest along a dimension; k is the result's size.
struct KmaxAttr {
  std::uint64_t dimension;
};
template <class T>
void kmax_forward(const Batch<T>& b);

/// For both: every element of the result keeps in the node's scratch which element of its line or
/// image it is, and its gradient goes there.
template <class T>
void maxpooling2d_backward(const GradientBatch<T>& b);
template <class T>
void kmax_backward(const GradientBatch<T>& b);

}  // namespace dynet::cpu
