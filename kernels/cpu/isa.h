#pragma once

#include "dynet-like/base/each_isa.h"

/// Kernels of a form: members of a struct, or two functions of one name.
#define DYNET_DECLARE_STRUCT(NAME)                   \
  struct NAME {                                      \
    template <class T>                               \
    static void forward(const Batch<T>& b);          \
    template <class T>                               \
    static void backward(const GradientBatch<T>& b); \
  }
#define DYNET_DECLARE_PAIR(NAME)          \
  template <class T>                      \
  void NAME##_forward(const Batch<T>& b); \
  template <class T>                      \
  void NAME##_backward(const GradientBatch<T>& b)

/// The same for the scalar of this compilation, behind their definitions.
#define DYNET_INSTANTIATE_STRUCT(...)                               \
  template void __VA_ARGS__::forward<Scalar>(const Batch<Scalar>&); \
  template void __VA_ARGS__::backward<Scalar>(const GradientBatch<Scalar>&);
#define DYNET_INSTANTIATE_PAIR(NAME)                          \
  template void NAME##_forward<Scalar>(const Batch<Scalar>&); \
  template void NAME##_backward<Scalar>(const GradientBatch<Scalar>&);

#ifdef DYNET_ISA
namespace dynet::cpu::DYNET_ISA {

/// Scalar type of the kernels instantiated in this file.
using Scalar = DYNET_SCALAR;

/// Value and slopes of the function named by a tag such as Tanh or Multiply.
template <class Tag>
struct Function;

}  // namespace dynet::cpu::DYNET_ISA
#endif
