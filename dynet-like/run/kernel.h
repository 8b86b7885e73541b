#pragma once

#include <type_traits>

#include "dynet-like/graph/op.h"

namespace dynet {

/// The kernel of the executor's precision, for this CPU.
template <class T, class Kernels>
auto kernel(const Kernels& k) {
  if constexpr (std::is_same_v<T, float>)
    return k.f.here();
  else
    return k.d;
}

}  // namespace dynet
