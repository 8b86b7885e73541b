#pragma once

#include "dynet-like/base/each_isa.h"

/// Declares a kernel in both precisions; in double there is one for all instruction sets.
#define DYNET_DECLARE_FORWARD(NAME) \
  void NAME(const Batch<float>& b); \
  void NAME(const Batch<double>& b)
#define DYNET_DECLARE_BACKWARD(NAME)        \
  void NAME(const GradientBatch<float>& b); \
  void NAME(const GradientBatch<double>& b)
/// Kernels of a form: two functions of one name, or members of a struct.
#define DYNET_DECLARE_PAIR(NAME)         \
  DYNET_DECLARE_FORWARD(NAME##_forward); \
  DYNET_DECLARE_BACKWARD(NAME##_backward)
#define DYNET_DECLARE_STRUCT(NAME)                        \
  struct NAME {                                           \
    static void forward(const Batch<float>& b);           \
    static void forward(const Batch<double>& b);          \
    static void backward(const GradientBatch<float>& b);  \
    static void backward(const GradientBatch<double>& b); \
  }

#ifdef DYNET_ISA
namespace dynet::cpu::DYNET_ISA {

/// Scalar type that the kernels are compiled for.
using T = DYNET_SCALAR;

/// Value and slopes of the function named by a tag such as Tanh or Multiply.
template <class Tag>
struct Function;

}  // namespace dynet::cpu::DYNET_ISA
#endif
