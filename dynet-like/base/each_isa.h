#pragma once

// Some sources are compiled once for each instruction set (see isa.h), each time in a namespace of
// its own, whose name the build gives as DYNET_ISA. What they share with the others goes through
// these macros. See docs/design/execution.md.
#include "dynet-like/base/isa.h"

namespace dynet::cpu {
namespace baseline {}
namespace avx2 {}
namespace avx512 {}
}  // namespace dynet::cpu

#ifdef DYNET_ALL_ISAS

/// Declares what is in the brackets for every instruction set.
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
/// All versions of a function of the given type, as a PerIsa. It is named as a member of `cpu`,
/// which stands for one namespace after the other.
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

/// The version for one instruction set.
#define DYNET_VERSION(ISA, TYPE, ...)      \
  [] {                                     \
    namespace cpu = ::dynet::cpu::ISA;     \
    return static_cast<TYPE>(__VA_ARGS__); \
  }()
