#pragma once

#include <cstdint>

namespace dynet {

/// An image, a filter and perhaps a bias.
struct ConvolutionAttr {
  std::uint32_t stride[2];
  std::uint64_t valid;
};

struct MaxPoolingAttr {
  std::uint32_t size[2], stride[2];
  std::uint64_t valid;
};

/// The k largest along a dimension; k is the result's size.
struct KmaxAttr {
  std::uint64_t dimension;
};

}  // namespace dynet
