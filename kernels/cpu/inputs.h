#pragma once

#include "dynet-like/attributes/inputs.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    template <class T> void input_forward(const Batch<T>& b);
    template <class T> void sparse_input_forward(const Batch<T>& b);
    template <class T> void constant_forward(const Batch<T>& b);
    template <class T> void one_hot_forward(const Batch<T>& b);

)

}  // namespace dynet::cpu
