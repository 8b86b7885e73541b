#pragma once

#include "dynet-like/attributes/elementwise.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

// Tags of y = f(x) and dy/dx; defined in elementwise.cc.
#define DYNET_DECLARE(F) struct F;
DYNET_ELEMENTWISE_FUNCTIONS(DYNET_DECLARE)
#undef DYNET_DECLARE

template <class F>
inline constexpr bool kTakesNumber = false;
#define DYNET_DECLARE(F) \
  template <>            \
  inline constexpr bool kTakesNumber<F> = true;
DYNET_ELEMENTWISE_WITH_NUMBER(DYNET_DECLARE)
#undef DYNET_DECLARE

DYNET_EACH_ISA(

    template <class F> DYNET_DECLARE_STRUCT(Elementwise);

)

}  // namespace dynet::cpu
