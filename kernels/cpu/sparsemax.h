#pragma once

#include <span>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// The probabilities that are closest to the scores of each column, many of them zero. A column
/// without any score above minus infinity gets zeros.
template <class T>
void sparsemax_forward(const Batch<T>& b);
template <class T>
void sparsemax_backward(const GradientBatch<T>& b);
/// A column in order.
std::size_t sparsemax_aux(const GraphStore& graph, const Node& n);

struct SupportAttr {
  IndexLists indices;
};
/// Of batch element e of node i, as it is now; indices of n scores. Throws IndexError.
template <class T>
std::span<const unsigned> read_support(const Batch<T>& b, std::size_t i, std::size_t e,
                                       std::size_t n);
template <class T>
void sparsemax_loss_forward(const Batch<T>& b);
template <class T>
void sparsemax_loss_backward(const GradientBatch<T>& b);
/// The gradient, and a column in order.
std::size_t sparsemax_loss_aux(const GraphStore& graph, const Node& n);

/// Softmax of the first operand, no probability above what the second one says.
template <class T>
void constrained_softmax_forward(const Batch<T>& b);
template <class T>
void constrained_softmax_backward(const GradientBatch<T>& b);
/// Which elements are at their bound.
std::size_t constrained_softmax_aux(const GraphStore& graph, const Node& n);

}  // namespace dynet::cpu
