#pragma once

#include <cstdint>

#include "dynet-like/graph/op.h"

namespace dynet {

// Elements are float or double; an alignment of 16 elements keeps cache lines and vector loads
// whole. Small values are packed closer.
constexpr std::uint64_t alignment(std::uint64_t size) { return size >= 16 ? 16 : 4; }
constexpr std::uint64_t aligned(std::uint64_t at, std::uint64_t alignment) {
  return (at + alignment - 1) & ~(alignment - 1);  // `alignment` is a power of two
}

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 58;

[[noreturn, gnu::cold]] void throw_too_large();

/// Whether the plan allocates memory for the value of a node.
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

/// Memory needs of a node: equal for all nodes of a batch key, except ragged sizes.
struct Layout {
  std::uint64_t size;     ///< of the value, in elements
  AuxRule aux;            ///< null if there is no scratch
  std::uint32_t device;   ///< its index
  bool memory;            ///< whether the plan allocates the value
  bool ragged;            ///< whether sizes differ within a batch
  bool in_place = false;  ///< whether the value may overwrite its operand
  bool donates = false;   ///< whether an in-place user may overwrite the value
  /// Elements to leave before the value, for the scratch of its user (OpForm); null: none.
  std::size_t (*room)(const Dim& value) = nullptr;

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
