#include "kernels/cpu/int8_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "kernels/cpu/column_parts.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

// Attribute of functions that use AVX512-VNNI, since the library also runs on CPUs without it.
#if defined(__AVX512F__) && defined(__AVX512BW__)
#define DYNET_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]]
#endif

namespace dynet::cpu::DYNET_ISA {
namespace {

constexpr std::size_t kRows = Int8Matrix::kRows, kColumns = Int8Matrix::kColumns;
constexpr std::size_t kBlock = kRows * kColumns;
constexpr float kLeast = 1e-30f;

/// Columns rounded to integers, with room for whole blocks.
struct RoundedColumns {
  std::size_t apart;  // bytes between columns
  std::unique_ptr<std::int8_t[]> values;
  std::unique_ptr<float[]> scales;

  /// `flip`: bits of each integer that are inverted; 0x80 adds 128 to a signed byte.
  RoundedColumns(std::size_t k, std::size_t n, const float* const* x, std::int8_t flip)
      : apart((k + kColumns - 1) / kColumns * kColumns),
        values(std::make_unique_for_overwrite<std::int8_t[]>(apart * n)),
        scales(std::make_unique_for_overwrite<float[]>(n)) {
    for (std::size_t j = 0; j < n; ++j) scales[j] = round(k, x[j], values.get() + j * apart, flip);
  }

 private:
  // Largest absolute value; as an integer, since NaN is larger than infinity then.
  static float largest(std::size_t k, const float* x) {
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < k; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, x + i, sizeof bits);
      most = std::max(most, bits & 0x7fffffffu);
    }
    float result;
    std::memcpy(&result, &most, sizeof result);
    return result;
  }
  float round(std::size_t k, const float* x, std::int8_t* to, std::int8_t flip) const {
    const float most = largest(k, x);
    const bool is_finite = most <= std::numeric_limits<float>::max();
    std::fill(to + (k - k % kColumns), to + apart, flip);
    if (!is_finite || most < kLeast) {
      std::fill_n(to, k, flip);
      return is_finite ? 0 : std::numeric_limits<float>::quiet_NaN();
    }
    const float per = 127 / most;
    // Adding 1.5 * 2^23 rounds to the nearest integer, which is then in the lowest bits.
    for (std::size_t i = 0; i < k; ++i) {
      const float shifted = x[i] * per + 12582912.0f;
      std::int32_t bits;
      std::memcpy(&bits, &shifted, sizeof bits);
      to[i] = static_cast<std::int8_t>(static_cast<std::int8_t>(bits) ^ flip);
    }
    return most / 127;
  }
};

// y[row + i] = before + scale_i * scale * sum_i for the rows of a panel that exist.
inline void finish(const Int8Matrix& w, std::size_t row, const std::int32_t* sums, float scale,
                   float* y, bool add, const float* start) {
  const std::size_t rows = std::min(kRows, w.rows - row);
  const float* const before = add ? y : start;
  float products[kRows];
  for (std::size_t i = 0; i < kRows; ++i)
    products[i] = static_cast<float>(sums[i]) * (w.scales[row + i] * scale);
  if (before)
    for (std::size_t i = 0; i < rows; ++i) y[row + i] = before[row + i] + products[i];
  else
    std::copy_n(products, rows, y + row);
}

#ifdef __AVX2__

constexpr int kTogether = 3;  // columns

// Rounded columns with 16 bits for each number: products of pairs and their sums fit into 32 bits.
struct WideColumns {
  std::size_t apart;
  std::unique_ptr<std::int16_t[]> values;

  WideColumns(const RoundedColumns& x, std::size_t n)
      : apart(x.apart), values(std::make_unique_for_overwrite<std::int16_t[]>(apart * n)) {
    std::copy_n(x.values.get(), apart * n, values.get());
  }
};

// Sums of a panel times C columns.
template <int C>
[[gnu::noinline]] void panel_sums(std::size_t blocks, const std::int8_t* panel,
                                  const std::int16_t* x, std::size_t apart,
                                  std::int32_t (*sums)[kRows]) {
  constexpr int kQuarters = 4;  // of a block
  __m256i sum[C][kQuarters] = {};
  for (std::size_t b = 0; b < blocks; ++b, panel += kBlock, x += kColumns) {
    __m256i factor[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      long long four;
      std::memcpy(&four, x + static_cast<std::size_t>(c) * apart, sizeof four);
      factor[c] = _mm256_set1_epi64x(four);
    }
#pragma GCC unroll 8
    for (int q = 0; q < kQuarters; ++q) {
      const __m128i* const at = reinterpret_cast<const __m128i*>(panel) + q;
      const __m256i a = _mm256_cvtepi8_epi16(_mm_loadu_si128(at));
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c)
        sum[c][q] = _mm256_add_epi32(sum[c][q], _mm256_madd_epi16(a, factor[c]));
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)  // a row has two sums, side by side
#pragma GCC unroll 8
    for (int q = 0; q < kQuarters; q += 2)
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(sums[c] + 4 * q),
          _mm256_permute4x64_epi64(_mm256_hadd_epi32(sum[c][q], sum[c][q + 1]), 0b11011000));
}

#else

constexpr int kTogether = 1;
using WideColumns = RoundedColumns;

template <int C>
void panel_sums(std::size_t blocks, const std::int8_t* panel, const std::int8_t* x, std::size_t,
                std::int32_t (*sums)[kRows]) {
  std::fill_n(sums[0], kRows, 0);
  for (std::size_t b = 0; b < blocks; ++b, panel += kBlock, x += kColumns)
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t c = 0; c < kColumns; ++c)
        sums[0][i] += std::int32_t{panel[i * kColumns + c]} * std::int32_t{x[c]};
}

#endif

void multiply_anywhere(const Int8Matrix& w, std::size_t n, const RoundedColumns& x, float* const* y,
                       const bool* add, const float* start) {
#ifdef __AVX2__
  const WideColumns wide(x, n);
#else
  const WideColumns& wide = x;
#endif
  for (std::size_t p = 0; p < w.panels(); ++p)
    for_columns<kTogether>(n, 0, [&]<int C>(std::integral_constant<int, C>, std::size_t j) {
      std::int32_t sums[C][kRows];
      panel_sums<C>(w.blocks(), w.panel(p), wide.values.get() + j * wide.apart, wide.apart, sums);
      for (std::size_t c = 0; c < C; ++c)
        finish(w, p * kRows, sums[c], x.scales[j + c], y[j + c], add[j + c], start);
    });
}

#ifdef DYNET_VNNI

bool has_vnni() { return __builtin_cpu_supports("avx512vnni"); }

constexpr int kTileColumns = 6;

// R panels times C columns. The instruction multiplies unsigned by signed bytes, so 128 was added
// to the column's, and 128 times the sum of the row is taken from the result.
template <int R, int C>
DYNET_VNNI [[gnu::noinline]] void tile(const Int8Matrix& w, std::size_t panel,
                                       const RoundedColumns& x, std::size_t column, float* const* y,
                                       const bool* add, const float* start) {
  __m512i sum[C][R] = {};
  const std::int8_t* const rows = w.panel(panel);
  const std::size_t blocks = w.blocks();
  const std::int8_t* in = x.values.get() + column * x.apart;
  for (std::size_t b = 0; b < blocks; ++b, in += kColumns) {
    __m512i a[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      a[r] = _mm512_loadu_si512(rows + (static_cast<std::size_t>(r) * blocks + b) * kBlock);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      std::int32_t four;
      std::memcpy(&four, in + static_cast<std::size_t>(c) * x.apart, sizeof four);
      const __m512i factor = _mm512_set1_epi32(four);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)  // GCC 12 copies the sums for _mm512_dpbusd_epi32
        asm("vpdpbusd %2, %1, %0" : "+v"(sum[c][r]) : "v"(factor), "v"(a[r]));
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const std::size_t row = (panel + static_cast<std::size_t>(r)) * kRows;
    const auto there = static_cast<__mmask16>((1u << std::min(kRows, w.rows - row)) - 1);
    const __m512i too_much = _mm512_slli_epi32(_mm512_loadu_si512(w.sums.data() + row), 7);
    const __m512 scales = _mm512_loadu_ps(w.scales.data() + row);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const std::size_t j = column + static_cast<std::size_t>(c);
      const __m512 scale = _mm512_mul_ps(scales, _mm512_set1_ps(x.scales[j]));
      __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(sum[c][r], too_much)), scale);
      const float* const before = add[j] ? y[j] : start;
      if (before) v = _mm512_add_ps(_mm512_maskz_loadu_ps(there, before + row), v);
      _mm512_mask_storeu_ps(y[j] + row, there, v);
    }
  }
}

void multiply_by_vnni(const Int8Matrix& w, std::size_t n, const RoundedColumns& x, float* const* y,
                      const bool* add, const float* start) {
  const std::size_t panels = w.panels();
  for (std::size_t p = 0; p < panels; p += 4)
    for_columns<kTileColumns>(n, 0, [&]<int C>(std::integral_constant<int, C>, std::size_t j) {
      switch (std::min<std::size_t>(4, panels - p)) {
        case 1:
          return tile<1, C>(w, p, x, j, y, add, start);
        case 2:
          return tile<2, C>(w, p, x, j, y, add, start);
        case 3:
          return tile<3, C>(w, p, x, j, y, add, start);
        default:
          return tile<4, C>(w, p, x, j, y, add, start);
      }
    });
}

#endif

}  // namespace

void multiply_int8(const Int8Matrix& w, std::size_t n, const float* const* x, float* const* y,
                   const bool* add, const float* start) {
#ifdef DYNET_VNNI
  if (has_vnni())
    return multiply_by_vnni(w, n, RoundedColumns(w.columns, n, x, std::int8_t{-128}), y, add,
                            start);
#endif
  multiply_anywhere(w, n, RoundedColumns(w.columns, n, x, 0), y, add, start);
}

}  // namespace dynet::cpu::DYNET_ISA
