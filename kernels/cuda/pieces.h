#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// Values per block; small, so that small models fill many blocks.
constexpr std::size_t kPiece = 4096;

/// Parts of different sizes, cut into pieces with one block each.
template <class Part>
struct Pieces {
  const Part* parts;
  const std::uint32_t* part_of;
  unsigned count;
};

/// Cuts n staged parts; pieces_of(part) is the number of pieces of each. Sets `first_piece`.
template <class Part, class F>
Pieces<Part> cut(Queue& q, Part* parts, std::size_t n, F pieces_of) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    parts[i].first_piece = static_cast<unsigned>(count);
    count += pieces_of(parts[i]);
  }
  auto* const part_of = q.stage<std::uint32_t>(count);
  for (std::size_t i = 0; i < n; ++i)
    std::fill(part_of + parts[i].first_piece,
              part_of + (i + 1 < n ? parts[i + 1].first_piece : count),
              static_cast<std::uint32_t>(i));
  return {q.on_device(parts), q.on_device(part_of), static_cast<unsigned>(count)};
}

}  // namespace dynet::cuda
