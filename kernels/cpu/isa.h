#pragma once

#include "dynet-like/base/each_isa.h"

#ifdef DYNET_ISA
namespace dynet::cpu::DYNET_ISA {

/// The type that kernels are instantiated for here.
using Scalar = DYNET_SCALAR;

/// Function that a tag, such as Tanh or Multiply, stands for: its value and its slopes.
template <class Tag>
struct Function;

}  // namespace dynet::cpu::DYNET_ISA
#endif
