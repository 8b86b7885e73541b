#pragma once

#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/op.h"

namespace dynet::cpu {

// What must agree in a batch comes first in every struct.

/// Indices given by value are the payload.
struct PickAttr {
  std::uint64_t dimension;
  Indices indices;
  std::int64_t extreme;
};
template <class T>
void pick_forward(const Batch<T>& b);
template <class T>
void pick_backward(const GradientBatch<T>& b);
template <class T>
void pick_batch_forward(const Batch<T>& b);
template <class T>
void pick_batch_backward(const GradientBatch<T>& b);
/// The indices used.
std::size_t pick_aux(const GraphStore& graph, const Node& n);
/// The slices of all indices, the same for every batch element.
template <class T>
void select_forward(const Batch<T>& b);
template <class T>
void select_backward(const GradientBatch<T>& b);

/// Entries by dimension, the one behind the last dimension for the batch; what is missing is 1, 0
/// and the whole size. Lists longer than possible have their lengths only.
struct StridedAttr {
  static constexpr unsigned kMost = kMaxTensorDim + 1;
  struct List {
    std::uint32_t count;
    std::int32_t v[kMost];
  };
  List strides, from, to;
  std::uint32_t unused;
};
template <class T>
void strided_select_forward(const Batch<T>& b);
template <class T>
void strided_select_backward(const GradientBatch<T>& b);

struct RangeAttr {
  std::uint64_t dimension;
  std::uint32_t start, end;
};
template <class T>
void pick_range_forward(const Batch<T>& b);
template <class T>
void pick_range_backward(const GradientBatch<T>& b);

/// The gradient of a node that is its operand under another shape.
template <class T>
void alias_backward(const GradientBatch<T>& b);

struct TransposeAttr {
  std::uint32_t rank;
  std::uint32_t order[kMaxTensorDim];
};
template <class T>
void transpose_forward(const Batch<T>& b);
template <class T>
void transpose_backward(const GradientBatch<T>& b);

struct ConcatenateAttr {
  std::uint64_t dimension;
};
template <class T>
void concatenate_forward(const Batch<T>& b);
template <class T>
void concatenate_backward(const GradientBatch<T>& b);
template <class T>
void concatenate_batch_forward(const Batch<T>& b);
template <class T>
void concatenate_batch_backward(const GradientBatch<T>& b);

}  // namespace dynet::cpu
