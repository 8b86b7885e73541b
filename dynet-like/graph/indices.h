#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dynet {

/// Indices as an attribute. Indices given by value are in the payload of the node; indices behind a
/// pointer are read again at every forward.
struct Indices {
  enum Source : std::uint32_t { in_node, at_pointer, at_vector };
  const void* pointer;  // const unsigned* or const std::vector<unsigned>*
  Source source;
  std::uint32_t count;
};

/// The current indices. Throws IndexError if a vector has changed its length since the node was
/// made.
const unsigned* read_indices(const Indices& indices, const unsigned* in_node, const char* op);

/// Indices passed to an operation: a view that becomes an attribute.
struct IndexList {
  const unsigned* values = nullptr;  // source of the copy in the node, or the user's memory
  Indices indices{};

  static IndexList copy(const unsigned* v, std::size_t n) {
    return {v, {nullptr, Indices::in_node, static_cast<std::uint32_t>(n)}};
  }
  static IndexList copy(const std::vector<unsigned>& v) { return copy(v.data(), v.size()); }
  static IndexList at(const unsigned* p) { return {p, {p, Indices::at_pointer, 1}}; }
  static IndexList at(const std::vector<unsigned>* v) {
    return {v->data(), {v, Indices::at_vector, static_cast<std::uint32_t>(v->size())}};
  }
  std::size_t payload_size() const {
    return indices.source == Indices::in_node ? indices.count * sizeof(unsigned) : 0;
  }
  unsigned largest() const {
    unsigned m = 0;
    for (std::uint32_t i = 0; i < indices.count; ++i) m = values[i] > m ? values[i] : m;
    return m;
  }
};

}  // namespace dynet
