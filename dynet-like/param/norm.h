#pragma once

#include <cstddef>

#include "dynet-like/base/each_isa.h"

namespace dynet {
namespace cpu {

DYNET_EACH_ISA(

    double squared_norm(const float* v, std::size_t n);

)

}  // namespace cpu

/// Sum of squares of n floats; accurate for any n, and for results beyond the range of float.
inline double squared_norm(const float* v, std::size_t n) {
  constexpr auto kVersions =
      DYNET_PER_ISA(double (*)(const float*, std::size_t), cpu::squared_norm);
  return kVersions(v, n);
}

}  // namespace dynet
