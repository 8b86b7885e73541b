#pragma once

#include <cstdint>

#include "dynet-like/attributes/recurrent.h"
#include "dynet-like/graph/op.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Activates {4H} sums into gates: i, f, o by the logistic function (f after adding the forget
    /// bias), g by tanh.
    DYNET_DECLARE_PAIR(lstm_activate);
    /// x logistic(s). Scratch: logistic(s).
    DYNET_DECLARE_PAIR(gated);
    /// z tanh(u) + (1 - z) c for z = logistic(s); operands: s, u, c. Scratch: z and tanh(u).
    DYNET_DECLARE_PAIR(coupled_update);
    /// All of an LSTM step: h as the first result, c as the second; operands: the K cells, and the
    /// sums of the gates as one operand or as 3 + K. Scratch: c, tanh(c) and the gates.
    DYNET_DECLARE_PAIR(lstm_cell);

)

}  // namespace dynet::cpu
