#pragma once

#include <cstddef>

#include "dynet-like/shape/dim.h"

namespace dynet {

/// A tensor as seen along one of its dimensions: each batch element is `outer` blocks of `size`
/// slices of `inner` elements.
struct Along {
  std::size_t inner = 1, size, outer = 1;

  Along(const Dim& dim, std::size_t d) : size(dim[static_cast<unsigned>(d)]) {
    for (unsigned k = 0; k < dim.nd; ++k) {
      if (k < d) inner *= dim.d[k];
      if (k > d) outer *= dim.d[k];
    }
  }
  /// Number of lines along the dimension in a batch of `batch` elements.
  constexpr std::size_t lines(std::size_t batch) const { return outer * batch * inner; }
  /// Index of the first element of a line; the elements of a line are `inner` apart.
  constexpr std::size_t first(std::size_t line) const {
    return line / inner * size * inner + line % inner;
  }
};

}  // namespace dynet
