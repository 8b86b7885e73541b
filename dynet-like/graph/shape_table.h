#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

/// Whether two shapes have equal representations, which is stricter than equality: {n} == {n,1},
/// but they are written differently. Compares number by number: a wide load stalls on a shape that
/// was just stored in narrow parts.
inline bool written_alike(const Dim& a, const Dim& b) {
  if (a.d[0] != b.d[0] || a.d[1] != b.d[1] || a.nd != b.nd || a.bd != b.bd) return false;
  for (unsigned i = 2; i < a.nd; ++i)
    if (a.d[i] != b.d[i]) return false;
  return true;
}

/// Stores each shape once, so that nodes refer to shapes by pointer.
class ShapeTable {
 public:
  /// The stored shape written like `dim`, at a fixed address until `forget`. `guess`, a stored
  /// shape or null, is compared first.
  const Dim* find(const Dim& dim, const Dim* guess) {
    if (guess && written_alike(*guess, dim)) return guess;
    if (table_.empty()) grow();
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = hash(dim) & mask;
    for (; table_[slot]; slot = (slot + 1) & mask)
      if (written_alike(*table_[slot], dim)) return table_[slot];
    return add(dim, slot);
  }
  /// GraphState::clear drops all shapes if there are more.
  static constexpr std::size_t kMost = 4096;
  std::size_t size() const { return count_; }
  /// Drops all shapes; no node may refer to them.
  void forget();
  /// Frees all memory.
  void release();

 private:
  static std::size_t hash(const Dim& dim) {
    const auto pair = [](std::uint64_t low, std::uint64_t high) { return low | high << 32; };
    std::uint64_t h =
        pair(dim.d[0], dim.d[1]) * 0x9e3779b97f4a7c15u + pair(dim.nd, dim.bd) * 0xd6e8feb86659fd93u;
    for (unsigned i = 2; i < dim.nd; ++i) h = (h ^ dim.d[i]) * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::size_t>(h ^ h >> 32);
  }
  const Dim* add(const Dim& dim, std::size_t slot);
  void grow();

  PodVector<const Dim*> table_;  // open addressing
  std::size_t count_ = 0;
  Arena all_{alignof(Dim), 1 << 10};
};

}  // namespace dynet
