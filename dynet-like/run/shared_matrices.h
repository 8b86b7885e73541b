#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/recording.h"

namespace dynet {

/// Transposes of matrices that products of many nodes share, computed once in a backward pass:
/// products with a transposed matrix read it in the faster direction.
template <class T>
class Transposes {
 public:
  Transposes(const GraphStore& graph, Devices<T>& devices, const Recording<T>& recording)
      : graph_(graph), devices_(devices), r_(recording) {}

  /// Counts the columns that each matrix is multiplied with by the nodes below `size`.
  void find(NodeId size);
  /// The transpose of a matrix, or null if it has too few columns to multiply with.
  const T* of(NodeId matrix);
  /// Writes the transpose of a matrix to `to`.
  void make(NodeId matrix, T* to) const;

 private:
  struct Matrix {
    NodeId id;
    std::size_t columns;  // of all its products
    T* memory;            // null until first used
  };
  const GraphStore& graph_;
  Devices<T>& devices_;
  const Recording<T>& r_;
  PodVector<Matrix> matrices_;
  PodVector<std::uint32_t> index_;  // by node: 1 + its index in `matrices_`, or 0
};

}  // namespace dynet
