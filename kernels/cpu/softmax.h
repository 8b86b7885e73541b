#pragma once

#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet::cpu {

struct SoftmaxAttr {
  std::uint64_t dimension;
};
template <class T>
void softmax_forward(const Batch<T>& b);
template <class T>
void softmax_backward(const GradientBatch<T>& b);
std::size_t softmax_aux(const GraphStore& graph, const Node& n);

template <class T>
void log_softmax_forward(const Batch<T>& b);
template <class T>
void log_softmax_backward(const GradientBatch<T>& b);

/// The log of the sum of exponentials along a dimension, which SoftmaxAttr names.
template <class T>
void logsumexp_along_forward(const Batch<T>& b);
template <class T>
void logsumexp_along_backward(const GradientBatch<T>& b);
std::size_t logsumexp_along_aux(const GraphStore& graph, const Node& n);

/// Classes given by value are the payload.
struct ClassAttr {
  Indices indices;
  std::int64_t extreme;
};
template <class T>
void class_loss_forward(const Batch<T>& b);
template <class T>
void class_loss_backward(const GradientBatch<T>& b);
/// The log of the sum of exponentials of each batch element, then the classes used.
std::size_t class_loss_aux(const GraphStore& graph, const Node& n);

}  // namespace dynet::cpu
