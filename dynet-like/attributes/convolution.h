#pragma once

#include <cstdint>

namespace dynet {

struct ConvolutionAttr {
  std::uint32_t stride[2];
  std::uint64_t valid;
};

struct MaxPoolingAttr {
  std::uint32_t size[2], stride[2];
  std::uint64_t valid;
};

struct KmaxAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
