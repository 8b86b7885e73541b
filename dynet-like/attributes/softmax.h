#pragma once

#include <cstdint>

#include "dynet-like/graph/indices.h"

namespace dynet {

struct SoftmaxAttr {
  std::uint64_t dimension;
};

/// Payload: the classes given by value.
struct ClassAttr {
  Indices indices;
  std::int64_t extreme;
};

}  // namespace dynet
