#pragma once

#include <span>

#include "dynet-like/graph/index_lists.h"
#include "dynet-like/graph/op.h"

namespace dynet {

struct SupportAttr {
  IndexLists indices;
};

/// Support of batch element e of node i, read at each call; indices into n scores. Throws
/// IndexError.
template <class T>
std::span<const unsigned> read_support(const Batch<T>& b, std::size_t i, std::size_t e,
                                       std::size_t n);

}  // namespace dynet
