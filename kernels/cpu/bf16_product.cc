#include "kernels/cpu/bf16_product.h"

#ifdef DYNET_HAS_BF16

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/column_parts.h"
#include "kernels/cpu/lanes.h"

// Attribute of functions that use the instructions, since the library also runs on CPUs without
// them. Lambdas inside such functions do not inherit the target.
#define DYNET_BF16 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")]]

namespace dynet::cpu::DYNET_ISA {
namespace {

using L = Lanes<float>;
using First = L::First;
using Word = std::uint32_t;  // pair of bf16, the earlier one in the lower half

constexpr int kRows = 4, kColumns = 6;                            // of a tile
constexpr std::size_t kWidth = L::kWidth;                         // words per vector
constexpr std::size_t kSide = kRows * kWidth, kPanelPairs = 128;  // panel size in rows and pairs

/// Pairs of two columns, row by row.
DYNET_BF16 inline __m512i interleaved(__m512 earlier, __m512 later) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order,
                                  reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(later, earlier)));
}
inline __m512 load(const float* p, std::size_t n) {
  return reinterpret_cast<__m512>(n >= kWidth ? L::load(p) : L::load(p, First(n)));
}
/// Up to 32 numbers of one column, as pairs.
DYNET_BF16 inline __m512i pairs_of(const float* p, std::size_t n) {
  const __m512 earlier = load(p, n);
  const __m512 later = n > kWidth ? load(p + kWidth, n - kWidth) : __m512{};
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(later, earlier));
}
/// Packs a column of n numbers into `count` words.
DYNET_BF16 void pack_column(const float* p, std::size_t n, std::size_t count, Word* to) {
  for (std::size_t k = 0; k < count; k += kWidth) {
    const __m512i words = pairs_of(p + 2 * k, std::min(2 * kWidth, n - 2 * k));
    const std::size_t left = std::min(kWidth, count - k);
    _mm512_mask_storeu_epi32(to + k, static_cast<__mmask16>((1u << left) - 1), words);
  }
}

// Packs the numbers [from, to) of paired columns, whose last one may have no partner: vectors of
// rows, pair by pair, with stride `apart` in words.
template <class Column>
DYNET_BF16 void pack_beside(Column column, std::size_t from, std::size_t to, std::size_t row,
                            std::size_t rows, std::size_t apart, Word* words) {
  for (std::size_t p = from; p < to; p += 2, words += apart)
    for (std::size_t at = 0; at < rows; at += kWidth) {
      const __m512 earlier = load(column(p) + row + at, rows - at);
      const __m512 later = p + 1 < to ? load(column(p + 1) + row + at, rows - at) : __m512{};
      _mm512_storeu_si512(words + at, interleaved(earlier, later));
    }
}
// Packs the numbers [from, to) of `rows` columns with stride `ld`, pairing neighbours within a
// column: pair by pair, one word per column.
DYNET_BF16 void pack_across(const float* w, std::size_t ld, std::size_t rows, std::size_t from,
                            std::size_t to, std::size_t apart, Word* words) {
  for (std::size_t at = 0; at < rows; at += kWidth)
    for (std::size_t p = from; p < to; p += 2 * kWidth) {
      L::V block[kWidth];
      const std::size_t n = std::min(2 * kWidth, to - p);
      for (std::size_t i = 0; i < kWidth; ++i)
        block[i] =
            at + i < rows ? reinterpret_cast<L::V>(pairs_of(w + (at + i) * ld + p, n)) : L::V{};
      L::transpose(block);
      for (std::size_t i = 0; i < (n + 1) / 2; ++i)
        _mm512_storeu_si512(words + ((p - from) / 2 + i) * apart + at,
                            reinterpret_cast<__m512i>(block[i]));
    }
}

/// Words to multiply with panels: word p of column j is words[j * apart + p * step].
struct Factors {
  const Word* words;
  std::size_t apart, step;
};

// Multiplies C columns with one panel, accumulating words p in order.
template <int R, int C>
DYNET_BF16 [[gnu::noinline]] void tile(std::size_t pairs, const Word* panel, Factors x,
                                       float* const* y, std::size_t row, std::size_t rows,
                                       const bool* add, const float* start) {
  const bool cut = rows < R * kWidth;
  const First last(cut ? rows - (R - 1) * kWidth : 0);
  __m512 sum[C][R];
  const Word* in[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) {
    in[c] = x.words + static_cast<std::size_t>(c) * x.apart;
    const float* const from = add[c] ? y[c] : start;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const std::size_t at = row + static_cast<std::size_t>(r) * kWidth;
      const bool whole = !cut || r < R - 1;
      sum[c][r] = !from   ? __m512{}
                  : whole ? reinterpret_cast<__m512>(L::load(from + at))
                          : reinterpret_cast<__m512>(L::load(from + at, last));
    }
  }
  for (std::size_t p = 0, at = 0; p < pairs; ++p, at += x.step, panel += R * kWidth) {
    __m512bh b[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c)
      b[c] = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(in[c][at])));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const auto a = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + r * kWidth));
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[c][r] = _mm512_dpbf16_ps(sum[c][r], a, b[c]);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float* const p = y[c] + row + static_cast<std::size_t>(r) * kWidth;
      const auto v = reinterpret_cast<L::V>(sum[c][r]);
      if (cut && r == R - 1)
        L::store(p, v, last);
      else
        L::store(p, v);
    }
}

// A null `add` adds to all columns.
template <int R>
void tiles(std::size_t pairs, const Word* panel, Factors x, std::size_t n, float* const* y,
           std::size_t row, std::size_t rows, const bool* add, const float* start) {
  constexpr bool kAll[kColumns] = {true, true, true, true, true, true};
  for_columns<kColumns>(n, 0, [&]<int C>(std::integral_constant<int, C>, std::size_t j) {
    tile<R, C>(pairs, panel, {x.words + j * x.apart, x.apart, x.step}, y + j, row, rows,
               add ? add + j : kAll, start);
  });
}

// Splits the rows of a matrix into panels of nearly equal height.
template <class F>
void for_panels(std::size_t m, F f) {
  const std::size_t vectors = (m + kWidth - 1) / kWidth, parts = (vectors + kRows - 1) / kRows;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t row = vectors * i / parts * kWidth, end = vectors * (i + 1) / parts * kWidth;
    f(row, std::min(end, m) - row, end - row);
  }
}

// Packed words of a matrix with m rows, or null if it is packed panel by panel; `pack(row, rows, p,
// pairs, apart, to)` packs a panel.
template <class Pack>
const Word* find_packed(PackedMatrices* packed, const PackedMatrices::Key& key, std::size_t m,
                        std::size_t pairs, Pack pack) {
  if (!packed) return nullptr;
  const std::size_t count = (m + kWidth - 1) / kWidth * kWidth * pairs;
  return packed->find(key, count, [&](Word* words) {
    for_panels(m, [&](std::size_t row, std::size_t rows, std::size_t apart) {
      pack(row, rows, 0, pairs, apart, words + row * pairs);
    });
  });
}

// y_j = or += the panels times x_j, for n columns of m numbers. Panels are in `words`, or packed by
// `pack` if `words` is null.
template <class Pack>
void multiply_panels(std::size_t m, std::size_t pairs, std::size_t n, const Word* words, Pack pack,
                     Factors x, float* const* y, const bool* add, const float* start) {
  alignas(64) Word panel[kSide * kPanelPairs];
  for_panels(m, [&](std::size_t row, std::size_t rows, std::size_t apart) {
    std::size_t p = 0;
    do {
      const std::size_t here = std::min(kPanelPairs, pairs - p);
      const Word* const in = words ? words + row * pairs + p * apart : panel;
      if (!words) pack(row, rows, p, here, apart, panel);
      const Factors columns = {x.words + p * x.step, x.apart, x.step};
      const bool* const adds = p == 0 ? add : nullptr;
      switch (apart / kWidth) {
        case 1:
          tiles<1>(here, in, columns, n, y, row, rows, adds, start);
          break;
        case 2:
          tiles<2>(here, in, columns, n, y, row, rows, adds, start);
          break;
        case 3:
          tiles<3>(here, in, columns, n, y, row, rows, adds, start);
          break;
        default:
          tiles<4>(here, in, columns, n, y, row, rows, adds, start);
      }
      p += here;
    } while (p < pairs);
  });
}

// Packed columns as factors.
class PackedColumns {
 public:
  PackedColumns(std::size_t size, std::size_t n, const float* const* x)
      : pairs_((size + 1) / 2), words_(std::make_unique_for_overwrite<Word[]>(pairs_ * n)) {
    for (std::size_t j = 0; j < n; ++j) pack_column(x[j], size, pairs_, words_.get() + j * pairs_);
  }
  std::size_t pairs() const { return pairs_; }
  Factors factors() const { return {words_.get(), pairs_, 1}; }

 private:
  std::size_t pairs_;
  std::unique_ptr<Word[]> words_;
};

}  // namespace

bool has_bf16() { return __builtin_cpu_supports("avx512bf16"); }

void multiply_bf16(std::size_t m, std::size_t k, std::size_t n, const float* w,
                   const float* const* x, float* const* y, const bool* add, const float* start,
                   PackedMatrices* packed) {
  const PackedColumns columns(k, n, x);
  const auto pack = [=](std::size_t row, std::size_t rows, std::size_t p, std::size_t pairs,
                        std::size_t apart, Word* to) {
    const auto column = [=](std::size_t q) { return w + q * m; };
    pack_beside(column, 2 * p, std::min(2 * (p + pairs), k), row, rows, apart, to);
  };
  const Word* const words = find_packed(packed, {w, m, k, false}, m, columns.pairs(), pack);
  multiply_panels(m, columns.pairs(), n, words, pack, columns.factors(), y, add, start);
}

void multiply_transposed_bf16(std::size_t m, std::size_t k, std::size_t n, const float* w,
                              const float* const* y, float* const* x, const bool* add,
                              PackedMatrices* packed) {
  const PackedColumns columns(m, n, y);
  const auto pack = [=](std::size_t row, std::size_t rows, std::size_t p, std::size_t pairs,
                        std::size_t apart, Word* to) {
    pack_across(w + row * m, m, rows, 2 * p, std::min(2 * (p + pairs), m), apart, to);
  };
  const Word* const words = find_packed(packed, {w, m, k, true}, k, columns.pairs(), pack);
  multiply_panels(k, columns.pairs(), n, words, pack, columns.factors(), x, add, nullptr);
}

void multiply_outer_bf16(std::size_t m, std::size_t k, std::size_t n, bool add, float* w,
                         const float* const* y, const float* const* x) {
  const std::size_t pairs = (n + 1) / 2;
  // Avoids a power of two as stride.
  const std::size_t apart = (k + kWidth - 1) / kWidth * kWidth + kWidth;
  const auto words = std::make_unique_for_overwrite<Word[]>(pairs * apart);
  pack_beside([=](std::size_t j) { return x[j]; }, 0, n, 0, k, apart, words.get());
  std::vector<float*> columns(k);
  for (std::size_t q = 0; q < k; ++q) columns[q] = w + q * m;
  const auto adds = std::make_unique<bool[]>(k);
  std::fill_n(adds.get(), k, add);
  const auto column = [=](std::size_t j) { return y[j]; };
  multiply_panels(
      m, pairs, k, nullptr,
      [=](std::size_t row, std::size_t rows, std::size_t p, std::size_t here, std::size_t of,
          Word* to) { pack_beside(column, 2 * p, std::min(2 * (p + here), n), row, rows, of, to); },
      {words.get(), 1, apart}, columns.data(), adds.get(), nullptr);
}

}  // namespace dynet::cpu::DYNET_ISA

#endif
