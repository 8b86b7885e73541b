#pragma once

#include <type_traits>

#include "dynet-like/graph/op.h"

namespace dynet {

/// The kernel of the executor's precision.
template <class T>
auto kernel(const Forward& k) {
  if constexpr (std::is_same_v<T, float>)
    return k.f;
  else
    return k.d;
}
template <class T>
auto kernel(const Backward& k) {
  if constexpr (std::is_same_v<T, float>)
    return k.f;
  else
    return k.d;
}

}  // namespace dynet
