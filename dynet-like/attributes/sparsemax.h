#pragma once

#include <span>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/op.h"

namespace dynet {

struct alignas(8) SupportAttr {
  IndexLists indices;
};

/// Returns the support of batch element e of node i, read now: indices below n. Throws IndexError.
template <class T>
std::span<const unsigned> read_support(const Batch<T>& b, std::size_t i, std::size_t e,
                                       std::size_t n);

}  // namespace dynet
