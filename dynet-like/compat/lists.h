#pragma once

#include <utility>
#include <vector>

#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/selection.h"

// Operations on operands in any container, as in DyNet's templates.

namespace dynet {

#define DYNET_COMPAT_LIST(FUNCTION)                                                    \
  template <class List, class = decltype(std::declval<const List&>().begin()->pg)>     \
  Expression FUNCTION(const List& xs, SourceLocation at = SourceLocation::current()) { \
    return FUNCTION(std::vector<Expression>(xs.begin(), xs.end()), at);                \
  }

DYNET_COMPAT_LIST(affine_transform)
DYNET_COMPAT_LIST(sum)
DYNET_COMPAT_LIST(average)
DYNET_COMPAT_LIST(max)
DYNET_COMPAT_LIST(min)
DYNET_COMPAT_LIST(logsumexp)
DYNET_COMPAT_LIST(concatenate_cols)
DYNET_COMPAT_LIST(concatenate_to_batch)

#undef DYNET_COMPAT_LIST

template <class List, class = decltype(std::declval<const List&>().begin()->pg)>
Expression concatenate(const List& xs, unsigned d = 0,
                       SourceLocation at = SourceLocation::current()) {
  return concatenate(std::vector<Expression>(xs.begin(), xs.end()), d, at);
}

}  // namespace dynet
