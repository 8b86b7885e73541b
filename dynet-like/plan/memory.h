#pragma once

#include <cstdint>

#include "dynet-like/graph/op.h"

namespace dynet {

// Elements are float or double; an alignment of 16 elements keeps cache lines and vector loads
// whole. Small values are packed closer.
constexpr std::uint64_t alignment(std::uint64_t size) { return size >= 16 ? 16 : 4; }
constexpr std::uint64_t aligned(std::uint64_t at, std::uint64_t alignment) {
  return (at + alignment - 1) & ~(alignment - 1);  // a power of two
}

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 58;

[[noreturn, gnu::cold]] void throw_too_large();

/// Whether the value of a node lies in memory of the plan's.
inline bool has_memory(const Node& n) {
  switch (n.form->kind) {
    case Kind::parameter:
    case Kind::alias:
      return false;
    case Kind::lookup:
      return n.dim.bd != 1;  // one row is used in place
    default:
      return true;
  }
}

/// Memory needs of a node: equal for all nodes of a batch key, except sizes that the form leaves
/// free.
struct Layout {
  std::uint64_t size;     ///< of the value, in elements
  AuxRule aux;            ///< null if there is no scratch
  std::uint32_t device;   ///< its index
  bool memory;            ///< whether the value has memory of the plan's
  bool ragged;            ///< whether sizes differ
  bool in_place = false;  ///< whether the value may lie where that of its operand lies
  bool donates = false;   ///< whether such a user may have its memory

  explicit Layout(const Node& n)
      : size(n.dim.size()),
        aux(n.form->aux == no_aux ? nullptr : n.form->aux.value),
        device(n.device_index()),
        memory(has_memory(n)),
        ragged(n.form->batch.value.ragged.in_value()) {}
};

inline std::uint64_t aux_size(const GraphStore& graph, const Node& n) {
  return n.form->aux == no_aux ? 0 : n.form->aux(graph, n);
}

}  // namespace dynet
