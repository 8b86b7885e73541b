#pragma once

#include "dynet-like/base/each_isa.h"

#ifdef DYNET_ISA
namespace dynet::cpu::DYNET_ISA {

/// Scalar type of the kernels instantiated in this file.
using Scalar = DYNET_SCALAR;

/// Value and slopes of the function named by a tag such as Tanh or Multiply.
template <class Tag>
struct Function;

}  // namespace dynet::cpu::DYNET_ISA
#endif
