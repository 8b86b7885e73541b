#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// Products of one m x k matrix W, column-major, with n columns at arbitrary addresses; output
    /// columns do not overlap.
    ///
    /// Optimized for dynamic graphs: n is small and the columns are values of different nodes. The
    /// summation order of an element is independent of m, n and other columns, so that a node's
    /// value and gradient have the same bits alone and in a batch.

    /// y_j = W x_j, or y_j += W x_j if add[j], for j < n. With a column `start`, y_j = start + W
    /// x_j unless add[j].
    template <class T>
    void multiply(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
                  T* const* y, const bool* add, const T* start = nullptr);

    /// `multiply` for columns x_j with elements at the offsets `places` instead of contiguous ones.
    template <class T> void multiply_at(std::size_t m, std::size_t k, std::size_t n, const T* w,
                                        const T* const* x, const std::uint32_t* places, T* const* y,
                                        const bool* add, const T* start = nullptr);

    /// x_j = W' y_j, or x_j += W' y_j if add[j].
    template <class T>
    void multiply_transposed(std::size_t m, std::size_t k, std::size_t n, const T* w,
                             const T* const* y, T* const* x, const bool* add);

    /// W = sum over j of y_j x_j', or W += that sum.
    template <class T> void multiply_outer(std::size_t m, std::size_t k, std::size_t n, bool add,
                                           T* w, const T* const* y, const T* const* x);

    /// to = W', k x m.
    template <class T> void transpose(std::size_t m, std::size_t k, const T* w, T* to);

    /// to = or += W', with `apart` elements between the starts of columns of `to`.
    template <class T>
    void transpose_to(std::size_t m, std::size_t k, const T* w, T* to, std::size_t apart, bool add);

)

}  // namespace dynet::cpu
