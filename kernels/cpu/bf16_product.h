#pragma once

#include <cstddef>

#include "dynet-like/base/packed_matrices.h"
#include "kernels/cpu/isa.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define DYNET_HAS_BF16  ///< in this version of the kernels
#endif

#ifdef DYNET_HAS_BF16

namespace dynet::cpu::DYNET_ISA {

/// The products of kernels/cpu/product.h with factors rounded to bf16 and sums in float, by the
/// instructions of AVX512-BF16: pairs of products are added up first, and numbers below the
/// normal ones are zero. Every element is summed in an order that m, n and the neighbours have
/// no part in. Call them only if `has_bf16`. Where `packed` is not null it keeps W packed, whose
/// numbers must not change until it is cleared; that changes no bit.

/// Whether the CPU has the instructions.
bool has_bf16();

void multiply_bf16(std::size_t m, std::size_t k, std::size_t n, const float* w,
                   const float* const* x, float* const* y, const bool* add, const float* start,
                   PackedMatrices* packed);
void multiply_transposed_bf16(std::size_t m, std::size_t k, std::size_t n, const float* w,
                              const float* const* y, float* const* x, const bool* add,
                              PackedMatrices* packed);
void multiply_outer_bf16(std::size_t m, std::size_t k, std::size_t n, bool add, float* w,
                         const float* const* y, const float* const* x);

}  // namespace dynet::cpu::DYNET_ISA

#endif
