#pragma once

#include <cstddef>
#include <cstdint>

#include "dynet-like/base/prepared_matrices.h"
#include "kernels/cpu/isa.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define DYNET_HAS_BF16  ///< defined if this version of the kernels has bf16
#endif

#ifdef DYNET_HAS_BF16

namespace dynet::cpu::DYNET_ISA {

/// How this CPU multiplies numbers of bf16.
enum class Bf16Unit : std::uint8_t {
  none,
  vectors,  ///< AVX512-BF16: pairs of products are added first
  tiles,    ///< AMX: of 32 products, the sums of the even and of the odd ones are added first
};

/// The fastest unit of this CPU that may be used, see has_amx.
Bf16Unit bf16_unit();

/// Products of kernels/cpu/product.h with factors rounded to bf16 and float accumulation, by a unit
/// of this CPU other than `none`. Subnormal numbers count as zero. The summation order of an
/// element is independent of m, n and other columns. A non-null `prepared` keeps the packed W,
/// whose values must be constant until its `clear`; results have the same bits without it.
void multiply_bf16(Bf16Unit unit, std::size_t m, std::size_t k, std::size_t n, const float* w,
                   const float* const* x, float* const* y, const bool* add, const float* start,
                   PreparedMatrices* prepared);
void multiply_transposed_bf16(Bf16Unit unit, std::size_t m, std::size_t k, std::size_t n,
                              const float* w, const float* const* y, float* const* x,
                              const bool* add, PreparedMatrices* prepared);
void multiply_outer_bf16(Bf16Unit unit, std::size_t m, std::size_t k, std::size_t n, bool add,
                         float* w, const float* const* y, const float* const* x);

}  // namespace dynet::cpu::DYNET_ISA

#endif
