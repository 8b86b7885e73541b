#include "dynet-like/ops/index_argument.h"

#include <string>

#include "dynet-like/shape/rules.h"

namespace dynet {

unsigned largest_index(const Indices& indices, std::int64_t extreme) {
  if (indices.source != Indices::in_node && !indices.pointer)
    throw RuleBroken{RuleBroken::Kind::argument, "the pointer to the indices is null"};
  if (extreme < 0)
    throw RuleBroken{RuleBroken::Kind::index,
                     "the index must not be negative, got " + std::to_string(extreme)};
  if (extreme > std::numeric_limits<unsigned>::max())
    throw RuleBroken{RuleBroken::Kind::index, "the index is too large for any dimension"};
  return static_cast<unsigned>(extreme);
}

}  // namespace dynet
