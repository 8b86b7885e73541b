#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Products of one m x k matrix W, stored column by column, with n columns that may lie
    /// anywhere, apart from each other where they are written.
    ///
    /// Made for what a dynamic graph has: n is small and the columns are values of different nodes.
    /// Every element is summed in an order that m, n and the neighbours have no part in, so a
    /// node's value and gradient are the same bits alone and in a batch.

    /// y_j = W x_j, or y_j += W x_j where add[j], for j < n. With a column `start`, y_j = start + W
    /// x_j where not add[j].
    template <class T>
    void multiply(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
                  T* const* y, const bool* add, const T* start = nullptr);

    /// The same for columns x_j whose numbers lie at these places of theirs instead of in a row.
    template <class T> void multiply_at(std::size_t m, std::size_t k, std::size_t n, const T* w,
                                        const T* const* x, const std::uint32_t* places, T* const* y,
                                        const bool* add, const T* start = nullptr);

    /// x_j = W' y_j, or x_j += W' y_j where add[j].
    template <class T>
    void multiply_transposed(std::size_t m, std::size_t k, std::size_t n, const T* w,
                             const T* const* y, T* const* x, const bool* add);

    /// W = sum over j of y_j x_j', or W += that.
    template <class T> void multiply_outer(std::size_t m, std::size_t k, std::size_t n, bool add,
                                           T* w, const T* const* y, const T* const* x);

    /// to = W', k x m.
    template <class T> void transpose(std::size_t m, std::size_t k, const T* w, T* to);

    /// The same, or to += W', where the columns of `to` begin so far apart.
    template <class T>
    void transpose_to(std::size_t m, std::size_t k, const T* w, T* to, std::size_t apart, bool add);

)

}  // namespace dynet::cpu
