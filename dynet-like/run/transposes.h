#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/run/devices.h"
#include "dynet-like/run/recording.h"

namespace dynet {

/// Matrices that the products of many nodes share: each is transposed once in a backward pass, and
/// all products run over it in the faster direction.
template <class T>
class Transposes {
 public:
  Transposes(const GraphStore& graph, Devices<T>& devices, const Recording<T>& recording)
      : graph_(graph), devices_(devices), r_(recording) {}

  /// For a pass over the nodes below `size`: counts what each matrix is multiplied with.
  void find(NodeId size);
  /// The transpose of a matrix, or null if it is multiplied with too few columns to be worth it.
  const T* of(NodeId matrix);
  /// Writes the transpose of a matrix there.
  void make(NodeId matrix, T* to) const;

 private:
  struct Matrix {
    NodeId id;
    std::size_t columns;  // that it is multiplied with
    T* memory;            // null until needed
  };
  const GraphStore& graph_;
  Devices<T>& devices_;
  const Recording<T>& r_;
  PodVector<Matrix> matrices_;
  PodVector<std::uint32_t> index_;  // by node: one more than its index there, or 0
};

}  // namespace dynet
