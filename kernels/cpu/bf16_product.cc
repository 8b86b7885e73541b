#include "kernels/cpu/bf16_product.h"

#ifdef DYNET_HAS_BF16

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cpu/amx.h"
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
constexpr std::size_t kFew = 16;                                  // columns

/// Pairs of n numbers. Tiles multiply whole rows: zeros are added.
std::size_t pairs_for(Bf16Unit unit, std::size_t n) {
  const std::size_t pairs = (n + 1) / 2, row = unit == Bf16Unit::tiles ? AmxTiles::kSide : 1;
  return (pairs + row - 1) / row * row;
}

/// Words from the start of a cache line on, which tiles load faster.
class Words {
 public:
  explicit Words(std::size_t n) : words_(static_cast<Word*>(::operator new(4 * n, kLine))) {}
  ~Words() { ::operator delete(words_, kLine); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  Word* get() const { return words_; }

 private:
  static constexpr std::align_val_t kLine{64};
  Word* words_;
};

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

/// Part of a matrix to pack: `rows` rows (or columns) from `row` on, and of each the numbers [from,
/// to) as `pairs` pairs, the last of which may lack a number or both.
struct Part {
  std::size_t row, rows, from, to, pairs;
};
/// Strides of packed words: of pairs, each a vector of 16 rows, and of the next 16 rows.
struct Strides {
  std::size_t pair, rows;
};

// Adds the pairs that the matrix lacks, as zeros.
void pad(const Part& part, Strides strides, Word* words) {
  const std::size_t packed = (part.to - part.from + 1) / 2;
  for (std::size_t at = 0; packed < part.pairs && at < part.rows; at += kWidth)
    for (std::size_t p = packed; p < part.pairs; ++p)
      std::fill_n(words + at / kWidth * strides.rows + p * strides.pair, kWidth, Word{0});
}
// Packs paired columns.
template <class Column>
DYNET_BF16 void pack_beside(Column column, const Part& part, Strides strides, Word* words) {
  const auto [row, rows, from, to, pairs] = part;
  Word* pair = words;
  for (std::size_t p = from; p < to; p += 2, pair += strides.pair)
    for (std::size_t at = 0; at < rows; at += kWidth) {
      const __m512 earlier = load(column(p) + row + at, rows - at);
      const __m512 later = p + 1 < to ? load(column(p + 1) + row + at, rows - at) : __m512{};
      _mm512_storeu_si512(pair + at / kWidth * strides.rows, interleaved(earlier, later));
    }
  pad(part, strides, words);
}
// Packs columns with stride `ld`, pairing neighbours within a column.
DYNET_BF16 void pack_across(const float* w, std::size_t ld, const Part& part, Strides strides,
                            Word* words) {
  const auto [row, rows, from, to, pairs] = part;
  w += row * ld;
  for (std::size_t at = 0; at < rows; at += kWidth)
    for (std::size_t p = from; p < to; p += 2 * kWidth) {
      L::V block[kWidth];
      const std::size_t n = std::min(2 * kWidth, to - p);
      for (std::size_t i = 0; i < kWidth; ++i)
        block[i] =
            at + i < rows ? reinterpret_cast<L::V>(pairs_of(w + (at + i) * ld + p, n)) : L::V{};
      L::transpose(block);
      Word* const first = words + at / kWidth * strides.rows + (p - from) / 2 * strides.pair;
      for (std::size_t i = 0; i < (n + 1) / 2; ++i)
        _mm512_storeu_si512(first + i * strides.pair, reinterpret_cast<__m512i>(block[i]));
    }
  pad(part, strides, words);
}
// Packs rows of n paired columns: row by row with stride `apart`, one word per pair.
DYNET_BF16 void pack_rows(std::size_t n, std::size_t rows, const float* const* columns,
                          std::size_t apart, Word* words) {
  for (std::size_t row = 0; row < rows; row += kWidth)
    for (std::size_t p = 0; p < n; p += 2 * kWidth) {
      L::V block[kWidth];
      for (std::size_t i = 0; i < kWidth; ++i) {
        const std::size_t at = p + 2 * i;
        const __m512 earlier = at < n ? load(columns[at] + row, rows - row) : __m512{};
        const __m512 later = at + 1 < n ? load(columns[at + 1] + row, rows - row) : __m512{};
        block[i] = reinterpret_cast<L::V>(interleaved(earlier, later));
      }
      L::transpose(block);
      for (std::size_t i = 0; i < std::min(kWidth, rows - row); ++i)
        _mm512_storeu_si512(words + (row + i) * apart + p / 2, reinterpret_cast<__m512i>(block[i]));
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

template <int R>
void multiply_panel(std::size_t pairs, const Word* panel, Factors x, std::size_t n, float* const* y,
                    std::size_t row, std::size_t rows, const bool* add, const float* start) {
  constexpr bool kAll[kColumns] = {true, true, true, true, true, true};
  for_columns<kColumns>(n, 0, [&]<int C>(std::integral_constant<int, C>, std::size_t j) {
    tile<R, C>(pairs, panel, {x.words + j * x.apart, x.apart, x.step}, y + j, row, rows,
               add ? add + j : kAll, start);
  });
}

// Multiplies n columns with one panel. A null `add` adds to all columns.
void multiply_panel(std::size_t pairs, const Word* panel, std::size_t apart, Factors x,
                    std::size_t n, float* const* y, std::size_t row, std::size_t rows,
                    const bool* add, const float* start) {
  constexpr decltype(&multiply_panel<1>) kByHeight[] = {multiply_panel<1>, multiply_panel<2>,
                                                        multiply_panel<3>, multiply_panel<4>};
  kByHeight[apart / kWidth - 1](pairs, panel, x, n, y, row, rows, add, start);
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

// y_j = or += the panels times x_j, for n columns of m numbers. Panels are in `words`, or packed by
// `pack` if `words` is null.
template <class Pack>
void multiply_by_vectors(std::size_t m, std::size_t pairs, std::size_t n, const Word* words,
                         Pack pack, Factors x, float* const* y, const bool* add,
                         const float* start) {
  alignas(64) Word panel[kSide * kPanelPairs];
  for_panels(m, [&](std::size_t row, std::size_t rows, std::size_t apart) {
    std::size_t p = 0;
    do {
      const std::size_t here = std::min(kPanelPairs, pairs - p);
      const Word* const in = words ? words + row * pairs + p * apart : panel;
      if (!words) pack(row, rows, p, here, Strides{apart, kWidth}, panel);
      multiply_panel(here, in, apart, {x.words + p * x.step, x.apart, x.step}, n, y, row, rows,
                     p == 0 ? add : nullptr, start);
      p += here;
    } while (p < pairs);
  });
}

// The same by tiles. The words of a tile are side by side.
constexpr std::size_t kHeight = 512;
template <class Pack>
void multiply_by_tiles(std::size_t m, std::size_t pairs, std::size_t n, const Word* words,
                       Pack pack, Factors x, float* const* y, const bool* add, const float* start) {
  constexpr std::size_t kTile = AmxTiles::kSide, kPairs = 256;
  // Rows at a time: those that keep their words in the second cache, or fit `panel`.
  const std::size_t fit = kSide * kPairs / std::min(kPairs, pairs) / kTile * kTile;
  const std::size_t height = words ? m : std::min<std::size_t>(fit, kHeight);
  const AmxTiles configured(n);
  alignas(64) Word panel[kSide * kPairs];
  for (std::size_t p = 0; p < pairs; p += kPairs) {
    const std::size_t here = std::min(kPairs, pairs - p);
    const std::size_t apart = kTile * (words ? pairs : here);  // of the next 16 rows
    for (std::size_t top = 0; top < m; top += height) {
      const std::size_t rows = std::min(height, m - top);
      if (!words) pack(top, rows, p, here, Strides{kTile, apart}, panel);
      const auto add_sums = [&](std::size_t row, std::size_t j, const float* sums) {
        const First some(std::min(rows - row, kTile));
        float* const to = y[j] + top + row;
        const float* const from = p > 0 || add[j] ? to : start ? start + top + row : nullptr;
        const L::V sum = L::load(sums);
        L::store(to, from ? L::load(from, some) + sum : sum, some);
      };
      AmxTiles::multiply<float>(rows, here, n, words ? words + p * kTile : panel, apart,
                                x.words + p, x.apart, kHeight, add_sums);
    }
  }
}

// Multiplies by the words of a matrix with m rows, if `prepared` holds them, or else panel by
// panel; `pack(row, rows, p, pairs, strides, to)` packs a panel, with `pairs` pairs from pair p on.
template <class Pack>
void multiply_panels(Bf16Unit unit, std::size_t m, std::size_t pairs, std::size_t n,
                     PreparedMatrices* prepared, const PreparedMatrices::Key& key, Pack pack,
                     Factors x, float* const* y, const bool* add, const float* start) {
  const std::size_t count = (m + kWidth - 1) / kWidth * kWidth * pairs;
  const auto pack_all = [&](Word* to) {
    for_panels(m, [&](std::size_t row, std::size_t rows, std::size_t apart) {
      const Strides strides =
          unit == Bf16Unit::tiles ? Strides{kWidth, kWidth * pairs} : Strides{apart, kWidth};
      pack(row, rows, 0, pairs, strides, to + row * pairs);
    });
  };
  // With few columns a copy costs hardly more than packing the panels of one product.
  const std::size_t enough = n < kFew ? 1 : 2;
  const Word* const words =
      prepared ? prepared->find<Word>(key, 1, enough, count, pack_all) : nullptr;
  if (unit == Bf16Unit::tiles)
    multiply_by_tiles(m, pairs, n, words, pack, x, y, add, start);
  else
    multiply_by_vectors(m, pairs, n, words, pack, x, y, add, start);
}

// Packed columns as factors. Tiles may read some columns behind the last one.
class PackedColumns {
 public:
  PackedColumns(Bf16Unit unit, std::size_t size, std::size_t n, const float* const* x)
      : pairs_(pairs_for(unit, size)), words_(pairs_ * (n + AmxTiles::kColumns - 1)) {
    for (std::size_t j = 0; j < n; ++j) pack_column(x[j], size, pairs_, words_.get() + j * pairs_);
  }
  std::size_t pairs() const { return pairs_; }
  Factors factors() const { return {words_.get(), pairs_, 1}; }

 private:
  std::size_t pairs_;
  Words words_;
};

}  // namespace

Bf16Unit bf16_unit() {
  if (!__builtin_cpu_supports("avx512bf16")) return Bf16Unit::none;
  return has_amx() ? Bf16Unit::tiles : Bf16Unit::vectors;
}

void multiply_bf16(Bf16Unit unit, std::size_t m, std::size_t k, std::size_t n, const float* w,
                   const float* const* x, float* const* y, const bool* add, const float* start,
                   PreparedMatrices* prepared) {
  const PackedColumns columns(unit, k, n, x);
  const auto pack = [=](std::size_t row, std::size_t rows, std::size_t p, std::size_t pairs,
                        Strides strides, Word* to) {
    const auto column = [=](std::size_t q) { return w + q * m; };
    pack_beside(column, {row, rows, 2 * p, std::min(2 * (p + pairs), k), pairs}, strides, to);
  };
  multiply_panels(unit, m, columns.pairs(), n, prepared,
                  {w, m, k, PreparedMatrices::Layout::packed}, pack, columns.factors(), y, add,
                  start);
}

void multiply_transposed_bf16(Bf16Unit unit, std::size_t m, std::size_t k, std::size_t n,
                              const float* w, const float* const* y, float* const* x,
                              const bool* add, PreparedMatrices* prepared) {
  const PackedColumns columns(unit, m, n, y);
  const auto pack = [=](std::size_t row, std::size_t rows, std::size_t p, std::size_t pairs,
                        Strides strides, Word* to) {
    pack_across(w, m, {row, rows, 2 * p, std::min(2 * (p + pairs), m), pairs}, strides, to);
  };
  multiply_panels(unit, k, columns.pairs(), n, prepared,
                  {w, m, k, PreparedMatrices::Layout::packed_across}, pack, columns.factors(), x,
                  add, nullptr);
}

void multiply_outer_bf16(Bf16Unit unit, std::size_t m, std::size_t k, std::size_t n, bool add,
                         float* w, const float* const* y, const float* const* x) {
  const std::size_t pairs = pairs_for(unit, n);
  // Avoids a power of two as stride.
  const std::size_t apart = (k + kWidth - 1) / kWidth * kWidth + kWidth;
  const bool by_tiles = unit == Bf16Unit::tiles;
  const Words words(pairs * (by_tiles ? k + AmxTiles::kColumns - 1 : apart));
  if (by_tiles)
    pack_rows(n, k, x, pairs, words.get());
  else
    pack_beside([=](std::size_t j) { return x[j]; }, {0, k, 0, n, pairs}, Strides{apart, kWidth},
                words.get());
  std::vector<float*> columns(k);
  for (std::size_t q = 0; q < k; ++q) columns[q] = w + q * m;
  const auto adds = std::make_unique<bool[]>(k);
  std::fill_n(adds.get(), k, add);
  const auto column = [=](std::size_t j) { return y[j]; };
  const auto pack = [=](std::size_t row, std::size_t rows, std::size_t p, std::size_t here,
                        Strides strides, Word* to) {
    pack_beside(column, {row, rows, 2 * p, std::min(2 * (p + here), n), here}, strides, to);
  };
  multiply_panels(unit, m, pairs, k, nullptr, {}, pack,
                  by_tiles ? Factors{words.get(), pairs, 1} : Factors{words.get(), 1, apart},
                  columns.data(), adds.get(), nullptr);
}

}  // namespace dynet::cpu::DYNET_ISA

#endif
