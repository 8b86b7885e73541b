#include "kernels/cpu/int8_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "kernels/cpu/amx.h"
#include "kernels/cpu/column_parts.h"
#include "kernels/cpu/lanes.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
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

// No sum overflows, of bytes without sign times any bytes.
static_assert(Int8Matrix::kMostColumns * 255 * 128 < std::numeric_limits<std::int32_t>::max());

/// Columns rounded to integers, with zeros up to a multiple of `whole` bytes.
struct RoundedColumns {
  std::size_t apart;  // bytes between columns
  std::unique_ptr<std::int8_t[]> values;
  std::unique_ptr<float[]> scales;

  /// `flip`: bits of each integer that are inverted; 0x80 adds 128 to a signed byte. `more`:
  /// columns without values behind them.
  RoundedColumns(std::size_t k, std::size_t n, const float* const* x, std::int8_t flip,
                 std::size_t whole = kColumns, std::size_t more = 0)
      : apart((k + whole - 1) / whole * whole),
        values(std::make_unique_for_overwrite<std::int8_t[]>(apart * (n + more))),
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
    std::fill(to + k, to + apart, flip);
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

// Vectors of pairs of 16-bit integers, and of their 32-bit sums.
constexpr std::size_t kWidth = kLaneBytes;
using Pairs [[gnu::vector_size(kWidth)]] = std::int16_t;
using Sums [[gnu::vector_size(kWidth)]] = std::int32_t;

// The sums of the products of pairs, which fit into 32 bits.
inline Sums dot(Pairs a, Pairs b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Sums>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Sums>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Sums>(
      _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#elif defined(__wasm_simd128__)
  return reinterpret_cast<Sums>(
      wasm_i32x4_dot_i16x8(reinterpret_cast<v128_t>(a), reinterpret_cast<v128_t>(b)));
#else
  const auto x = reinterpret_cast<Sums>(a), y = reinterpret_cast<Sums>(b);
  return (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
#endif
}

// Columns with 16 bits for each number. Of four, the even ones come first: [x0 x2 x1 x3].
struct WideColumns {
  std::size_t apart;
  std::unique_ptr<std::int16_t[]> values;

  WideColumns(const RoundedColumns& x, std::size_t n)
      : apart(x.apart), values(std::make_unique_for_overwrite<std::int16_t[]>(apart * n)) {
    for (std::size_t i = 0; i < apart * n; i += kColumns) {
      std::array<std::int16_t, kColumns> four;
      std::copy_n(x.values.get() + i, kColumns, four.begin());
      std::int16_t* const to = values.get() + i;
      to[0] = four[0], to[1] = four[2], to[2] = four[1], to[3] = four[3];
    }
  }
  /// The even (half 0) or odd numbers of four, in each pair of a vector.
  static Pairs all(const std::int16_t* four, std::size_t half) {
    std::int32_t pair;
    std::memcpy(&pair, four + 2 * half, sizeof pair);
    return reinterpret_cast<Pairs>(pair - Sums{});
  }
};

constexpr int kTogether = kWidth > 16 ? 3 : 2;  // columns whose sums stay in registers

// Sums of a panel times C columns. The four bytes of a row are two pairs: shifts make 16-bit
// integers of the even bytes and of the odd ones.
template <int C>
[[gnu::noinline]] void panel_sums(std::size_t blocks, const std::int8_t* panel,
                                  const std::int16_t* x, std::size_t apart,
                                  std::int32_t (*sums)[kRows]) {
  constexpr int kParts = kBlock / kWidth;
  Sums sum[C][kParts] = {};
  for (std::size_t b = 0; b < blocks; ++b, panel += kBlock, x += kColumns) {
    Pairs even[C], odd[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      even[c] = WideColumns::all(x + static_cast<std::size_t>(c) * apart, 0);
      odd[c] = WideColumns::all(x + static_cast<std::size_t>(c) * apart, 1);
    }
#pragma GCC unroll 8
    for (int q = 0; q < kParts; ++q) {
      Pairs bytes;
      std::memcpy(&bytes, panel + static_cast<std::size_t>(q) * kWidth, sizeof bytes);
      const Pairs a = bytes << 8 >> 8, z = bytes >> 8;
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[c][q] += dot(a, even[c]) + dot(z, odd[c]);
    }
  }
  std::memcpy(sums, sum, sizeof sum);
}

void multiply_anywhere(const Int8Matrix& w, std::size_t n, const RoundedColumns& x, float* const* y,
                       const bool* add, const float* start) {
  const WideColumns wide(x, n);
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

inline void finish(const Int8Matrix& w, std::size_t row, __m512i sums, float scale, float* y,
                   bool add, const float* start) {
  const auto there = static_cast<__mmask16>((1u << std::min(kRows, w.rows - row)) - 1);
  const __m512 scales = _mm512_loadu_ps(w.scales.data() + row);
  __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_mul_ps(scales, _mm512_set1_ps(scale)));
  const float* const before = add ? y : start;
  if (before) v = _mm512_add_ps(_mm512_maskz_loadu_ps(there, before + row), v);
  _mm512_mask_storeu_ps(y + row, there, v);
}

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
    const __m512i too_much = _mm512_slli_epi32(_mm512_loadu_si512(w.sums.data() + row), 7);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const std::size_t j = column + static_cast<std::size_t>(c);
      finish(w, row, _mm512_sub_epi32(sum[c][r], too_much), x.scales[j], y[j], add[j], start);
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

// Tiles that end behind a panel multiply its neighbour by zeros.
void multiply_by_tiles(const Int8Matrix& w, std::size_t n, const float* const* x, float* const* y,
                       const bool* add, const float* start) {
  constexpr std::size_t kWord = 4, kTile = AmxTiles::kSide, kHeight = 512;
  static_assert(kRows == kTile && kColumns == kWord);
  const RoundedColumns columns(w.columns, n, x, 0, kTile * kWord, AmxTiles::kColumns - 1);
  const AmxTiles configured(n);
  const auto words = [](const std::int8_t* p) { return reinterpret_cast<const std::uint32_t*>(p); };
  AmxTiles::multiply<std::int32_t>(
      w.rows, columns.apart / kWord, n, words(w.panel(0)), w.blocks() * kTile,
      words(columns.values.get()), columns.apart / kWord, kHeight,
      [&](std::size_t row, std::size_t j, const std::int32_t* sums) {
        finish(w, row, _mm512_load_si512(sums), columns.scales[j], y[j], add[j], start);
      });
}

#endif

}  // namespace

void multiply_int8(const Int8Matrix& w, std::size_t n, const float* const* x, float* const* y,
                   const bool* add, const float* start) {
#ifdef DYNET_VNNI
  constexpr std::size_t kFew = 8;  // columns, below which vectors are as fast
  if (n >= kFew && has_amx()) return multiply_by_tiles(w, n, x, y, add, start);
  if (has_vnni())
    return multiply_by_vnni(w, n, RoundedColumns(w.columns, n, x, std::int8_t{-128}), y, add,
                            start);
#endif
  multiply_anywhere(w, n, RoundedColumns(w.columns, n, x, 0), y, add, start);
}

}  // namespace dynet::cpu::DYNET_ISA
