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

  RoundedColumns(std::size_t k, std::size_t n, const float* const* x)
      : apart((k + kColumns - 1) / kColumns * kColumns),
        values(std::make_unique_for_overwrite<std::int8_t[]>(apart * n)),
        scales(std::make_unique_for_overwrite<float[]>(n)) {
    for (std::size_t j = 0; j < n; ++j) scales[j] = round(k, x[j], values.get() + j * apart);
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
  float round(std::size_t k, const float* x, std::int8_t* to) const {
    const float most = largest(k, x);
    const bool is_finite = most <= std::numeric_limits<float>::max();
    std::fill(to + (k - k % kColumns), to + apart, std::int8_t{0});
    if (!is_finite || most < kLeast) {
      std::fill_n(to, k, std::int8_t{0});
      return is_finite ? 0 : std::numeric_limits<float>::quiet_NaN();
    }
    const float per = 127 / most;
    // Adding 1.5 * 2^23 rounds to the nearest integer, which is then in the lowest bits.
    for (std::size_t i = 0; i < k; ++i) {
      const float shifted = x[i] * per + 12582912.0f;
      std::int32_t bits;
      std::memcpy(&bits, &shifted, sizeof bits);
      to[i] = static_cast<std::int8_t>(bits);
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

// Sums of a panel times a column, by any CPU.
inline void panel_sums(std::size_t blocks, const std::int8_t* panel, const std::int8_t* x,
                       std::int32_t* sums) {
#ifdef __AVX2__
  // Pairs of 16 bits: their products and the sum of two of them fit into 32 bits.
  __m256i sum[4] = {};
  for (std::size_t b = 0; b < blocks; ++b, panel += kBlock, x += kColumns) {
    std::int32_t four;
    std::memcpy(&four, x, sizeof four);
    const __m256i factor = _mm256_broadcastq_epi64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
    for (int r = 0; r < 4; ++r) {
      const __m128i* const at = reinterpret_cast<const __m128i*>(panel) + r;
      sum[r] = _mm256_add_epi32(
          sum[r], _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(at)), factor));
    }
  }
  for (int r = 0; r < 4; ++r) {  // two sums for each row, side by side
    alignas(32) std::int32_t pairs[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(pairs), sum[r]);
    for (int i = 0; i < 4; ++i) sums[4 * r + i] = pairs[2 * i] + pairs[2 * i + 1];
  }
#else
  std::fill_n(sums, kRows, 0);
  for (std::size_t b = 0; b < blocks; ++b, panel += kBlock, x += kColumns)
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t c = 0; c < kColumns; ++c)
        sums[i] += std::int32_t{panel[i * kColumns + c]} * std::int32_t{x[c]};
#endif
}

void multiply_anywhere(const Int8Matrix& w, std::size_t n, const RoundedColumns& x, float* const* y,
                       const bool* add, const float* start) {
  for (std::size_t p = 0; p < w.panels(); ++p)
    for (std::size_t j = 0; j < n; ++j) {
      std::int32_t sums[kRows];
      panel_sums(w.blocks(), w.panel(p), x.values.get() + j * x.apart, sums);
      finish(w, p * kRows, sums, x.scales[j], y[j], add[j], start);
    }
}

#ifdef DYNET_VNNI

bool has_vnni() { return __builtin_cpu_supports("avx512vnni"); }

constexpr int kTileColumns = 6;

// R panels times C columns. The instruction multiplies unsigned by signed bytes, so 128 is added to
// the column's, and 128 times the sum of the row is taken from the result.
template <int R, int C>
DYNET_VNNI [[gnu::noinline]] void tile(const Int8Matrix& w, std::size_t panel,
                                       const RoundedColumns& x, std::size_t column, float* const* y,
                                       const bool* add, const float* start) {
  __m512i sum[C][R] = {};
  const std::int8_t* rows[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) rows[r] = w.panel(panel + static_cast<std::size_t>(r));
  const std::int8_t* in[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
    in[c] = x.values.get() + (column + static_cast<std::size_t>(c)) * x.apart;
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  for (std::size_t b = 0, blocks = w.blocks(); b < blocks; ++b) {
    __m512i a[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) a[r] = _mm512_loadu_si512(rows[r] + b * kBlock);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      std::int32_t four;
      std::memcpy(&four, in[c] + b * kColumns, sizeof four);
      const __m512i factor = _mm512_xor_si512(_mm512_set1_epi32(four), offset);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[c][r] = _mm512_dpbusd_epi32(sum[c][r], factor, a[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const std::size_t row = (panel + static_cast<std::size_t>(r)) * kRows;
    const __m512i too_much = _mm512_slli_epi32(_mm512_loadu_si512(w.sums.data() + row), 7);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      alignas(64) std::int32_t sums[kRows];
      _mm512_store_si512(sums, _mm512_sub_epi32(sum[c][r], too_much));
      const std::size_t j = column + static_cast<std::size_t>(c);
      finish(w, row, sums, x.scales[j], y[j], add[j], start);
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
  const RoundedColumns rounded(w.columns, n, x);
#ifdef DYNET_VNNI
  if (has_vnni()) return multiply_by_vnni(w, n, rounded, y, add, start);
#endif
  multiply_anywhere(w, n, rounded, y, add, start);
}

}  // namespace dynet::cpu::DYNET_ISA
