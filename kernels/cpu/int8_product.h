#pragma once

#include <cstddef>

#include "dynet-like/param/int8_matrix.h"
#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// y_j = W x_j, or y_j += W x_j if add[j], for j < n; with a column `start`, y_j = start + W
    /// x_j unless add[j]. Each column is rounded to integers times max |x| / 127 and multiplied in
    /// integers, then by the scales of the row and of the column:
    ///     y_ij = before + (scales_i scale_j) sum_k w_ik q_kj
    /// All instruction sets give the same bits. A column with a number that is not finite gives
    /// NaN; one whose numbers are all below 1e-30 counts as zero.
    void multiply_int8(const Int8Matrix& w, std::size_t n, const float* const* x, float* const* y,
                       const bool* add, const float* start);

)

}  // namespace dynet::cpu
