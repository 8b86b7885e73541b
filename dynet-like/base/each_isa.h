#pragma once

// Macros for sources that are compiled once per instruction set (see isa.h), each time in the
// namespace DYNET_ISA, which the build defines. See docs/design/execution.md.
#include "dynet-like/base/isa.h"

namespace dynet::cpu {
namespace baseline {}
namespace avx2 {}
namespace avx512 {}
}  // namespace dynet::cpu

#ifdef DYNET_ALL_ISAS

/// Declares the contents of the brackets once per instruction set.
#define DYNET_EACH_ISA(...) \
  namespace baseline {      \
  __VA_ARGS__               \
  }                         \
  namespace avx2 {          \
  __VA_ARGS__               \
  }                         \
  namespace avx512 {        \
  __VA_ARGS__               \
  }
/// PerIsa of all versions of a function of the given type. The function is named as a member of
/// `cpu`, an alias of each instruction set's namespace in turn.
#define DYNET_PER_ISA(TYPE, ...)                                                        \
  ::dynet::PerIsa<TYPE> {                                                               \
    DYNET_VERSION(baseline, TYPE, __VA_ARGS__), DYNET_VERSION(avx2, TYPE, __VA_ARGS__), \
        DYNET_VERSION(avx512, TYPE, __VA_ARGS__)                                        \
  }

#else

#define DYNET_EACH_ISA(...) \
  namespace baseline {      \
  __VA_ARGS__               \
  }
#define DYNET_PER_ISA(TYPE, ...) \
  ::dynet::PerIsa<TYPE> { DYNET_VERSION(baseline, TYPE, __VA_ARGS__) }

#endif

/// Version for one instruction set.
#define DYNET_VERSION(ISA, TYPE, ...)      \
  [] {                                     \
    namespace cpu = ::dynet::cpu::ISA;     \
    return static_cast<TYPE>(__VA_ARGS__); \
  }()
