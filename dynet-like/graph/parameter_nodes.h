#pragma once

#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/param/storage.h"

namespace dynet {

/// Attributes of a parameter node, whose value is the parameter's own memory.
struct alignas(8) ParameterAttr {
  ParameterStorageBase* parameter;
};

/// Attributes of a lookup; the payload holds the indices if they are given by value.
struct LookupAttr {
  ParameterStorageBase* table;
  Indices indices;
  std::int64_t extreme;  // for the shape rule: the largest index, or a negative one
};

}  // namespace dynet
