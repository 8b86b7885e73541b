#pragma once

#include <cstdint>

namespace dynet {

struct ScaleGradientAttr {
  double factor;  // factor of the gradient
};

struct ArgmaxAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
