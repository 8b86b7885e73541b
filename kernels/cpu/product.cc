#include "kernels/cpu/product.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "dynet-like/base/caches.h"
#include "kernels/cpu/column_parts.h"
#include "kernels/cpu/lanes.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Accumulators are in registers; spilling is slow.
constexpr bool kMany = kRegisters >= 32;

// Rows of W covered by a tile: R vectors, the last one with `last` lanes if kCut.
template <class L, int R, bool kCut>
struct Rows {
  using T = typename L::Number;
  using V = typename L::V;
  typename L::First last;

  V load(const T* p, int r) const {
    return L::pinned(kCut && r == R - 1 ? L::load(p + r * L::kWidth, last)
                                        : L::load(p + r * L::kWidth));
  }
  void store(T* p, int r, V v) const {
    if (kCut && r == R - 1)
      L::store(p + r * L::kWidth, v, last);
    else
      L::store(p + r * L::kWidth, v);
  }
};

// Prefetches output columns, since hardware prefetchers do not cross pages.
template <class T>
void fetch_to_write(const T* p, std::size_t size) {
  for (std::size_t i = 0; i < size; i += 64 / sizeof(T)) __builtin_prefetch(p + i, 1);
}

// Indices in a column x of the factors for the columns of W: consecutive, or from a table.
struct InOrder {
  template <class T>
  const T* start(const T* x, std::size_t at) const {
    return x + at;
  }
  InOrder from(std::size_t) const { return {}; }
  std::size_t operator()(std::size_t p) const { return p; }
};
struct ByTable {
  const std::uint32_t* places;
  template <class T>
  const T* start(const T* x, std::size_t) const {
    return x;
  }
  ByTable from(std::size_t at) const { return {places + at}; }
  std::size_t operator()(std::size_t p) const { return places[p]; }
};

// Loops over a tile have unroll pragmas, since GCC keeps an array of sums in memory if it is
// indexed by a variable. The loops around them have some, since a loop's counters take ports that
// multiply on Intel's CPUs: 8 % there.

// C columns of y for one tile of rows: W's columns times numbers of x, accumulated in order of p.
// `ahead` prefetches the next C columns. Not inlined, so that all registers are free.
template <class L, int R, int C, bool kCut, class T, class Places>
[[gnu::noinline]] void multiply_tile(Rows<L, R, kCut> rows, std::size_t ld, std::size_t k,
                                     const T* w, const T* const* x, std::size_t x_at, Places places,
                                     T* const* y, std::size_t y_at, const bool* add, const T* start,
                                     bool ahead) {
  using V = typename L::V;
  V sum[C][R];
  const T* in[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) {
    in[c] = places.start(x[c], x_at);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[c][r] = add[c] ? rows.load(y[c] + y_at, r) : start ? rows.load(start + y_at, r) : V{};
  }
  if (ahead)
    for (int c = 0; c < C; ++c) fetch_to_write(y[C + c] + y_at, R * L::kWidth);
  places = places.from(x_at);
#pragma GCC unroll 4
  for (std::size_t p = 0; p < k; ++p, w += ld) {
    const std::size_t at = places(p);
    V b[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) b[c] = L::all(in[c][at]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V a = rows.load(w, r);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[c][r] += a * b[c];
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) rows.store(y[c] + y_at, r, sum[c][r]);
}

// Splits m rows into nearly equal parts of at most R vectors and calls f(part, first row); the last
// vector may extend beyond the last row.
template <class L, int R, class F>
void for_rows(std::size_t m, F&& f, std::size_t at = 0) {
  constexpr std::size_t kWidth = L::kWidth;
  using First = typename L::First;
  const std::size_t left = (m - at + kWidth - 1) / kWidth, parts = (left + R - 1) / R;
  const std::size_t spare = parts * R - left;
  for (std::size_t whole = parts > spare ? parts - spare : 0; whole > 0;
       --whole, at += R * kWidth) {
    if (m - at >= R * kWidth)
      f(Rows<L, R, false>{First(0)}, at);
    else
      return f(Rows<L, R, true>{First(m - at - (R - 1) * kWidth)}, at);
  }
  if constexpr (R > 1)
    if (at < m) for_rows<L, R - 1>(m, f, at);
}

// Two tile shapes fill many registers with sums: 8 x 3 vectors read W in longer runs, 4 x 6 read it
// less often. The block of W that tiles read, all rows of a tile and kDepth columns, remains in the
// L1 cache for all columns of y. For many columns of y the block is copied first, because W's own
// columns may conflict in cache sets and, if they are long, span many pages. With an L1 cache that
// is too small for the block, tiles read from the L2 cache, and a copy gains nothing.
constexpr std::size_t kDepth = 128, kFarDepth = 1024;
constexpr std::size_t kPackFrom = kMany ? 160 : 48, kPackHighFrom = kMany ? 32 : 24;
constexpr std::size_t kHigh = 256, kLong = 2048;

bool copies_fit() { return kDepth * 4 * kLaneBytes <= nearest_cache() * 2 / 3; }

// Rows [from, to) of W, with stride ld between columns.
template <class L, int R, int C, bool kPacked, class T, class Places>
void multiply_blocks(std::size_t from, std::size_t to, std::size_t ld, std::size_t k, std::size_t n,
                     const T* w, const T* const* x, Places places, T* const* y, const bool* add,
                     const T* start) {
  alignas(64) T pack[kPacked ? kDepth * R * L::kWidth : 1];
  constexpr bool kAll[] = {true, true, true, true, true, true, true, true};
  static_assert(C <= std::size(kAll));
  const std::size_t depth = n <= C ? k : copies_fit() ? kDepth : kFarDepth;
  // Passes only once over the larger one of y and x.
  const std::size_t together = k > ld ? depth : k;
  for (std::size_t begin = 0; begin < k; begin += together)
    for_rows<L, R>(
        to,
        [&]<int Q, bool kCut>(Rows<L, Q, kCut> rows, std::size_t row) {
          constexpr std::size_t kRows = Q * L::kWidth;
          for (std::size_t p = begin; p < std::min(begin + together, k); p += depth) {
            const std::size_t here = std::min(depth, k - p);
            const T* of = w + p * ld + row;
            if constexpr (kPacked)
              for (std::size_t q = 0; q < here; ++q)
                for (int r = 0; r < Q; ++r)
                  L::store(pack + q * kRows + r * L::kWidth, rows.load(of + q * ld, r));
            for_columns<C>(n, 0, [&]<int D>(std::integral_constant<int, D>, std::size_t j) {
              multiply_tile<L, Q, D>(rows, kPacked ? kRows : ld, here, kPacked ? pack : of, x + j,
                                     p, places, y + j, row, p == 0 ? add + j : kAll, start,
                                     j + 2 * D <= n);
            });
          }
        },
        from);
}

// Whole vectors, and half a vector for a remainder that fits: CPUs that process a vector in two
// steps process half of it in one.
#if defined(__AVX512VL__)
template <class T>
using Half = Lanes<T, kLaneBytes / 2>;
#else
template <class T>
using Half = Lanes<T>;
#endif
template <class T>
std::size_t in_half_a_vector(std::size_t m) {
  const std::size_t rest = m % Lanes<T>::kWidth;
  return Half<T>::kWidth < Lanes<T>::kWidth && rest <= Half<T>::kWidth ? rest : 0;
}

// K columns of W times N columns of y, over rows [0, m): independent dot products.
template <class T, int K, int N>
void transposed_tile(std::size_t m, std::size_t ld, const T* w, const T* const* y, std::size_t y_at,
                     T* const* x, std::size_t x_at, const bool* add, bool add_all) {
  using L = Lanes<T>;
  typename L::V sum[N][K] = {};
  const T* in[N];
#pragma GCC unroll 8
  for (int j = 0; j < N; ++j) in[j] = y[j] + y_at;
  std::size_t i = 0;
#pragma GCC unroll 2
  for (; i + L::kWidth <= m; i += L::kWidth) {
    typename L::V b[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) b[j] = L::load(in[j] + i);
#pragma GCC unroll 8
    for (int q = 0; q < K; ++q) {
      const typename L::V a = L::pinned(L::load(w + q * ld + i));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sum[j][q] += a * b[j];
    }
  }
  if (i < m) {
    const typename L::First rest(m - i);
    typename L::V b[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) b[j] = L::load(in[j] + i, rest);
#pragma GCC unroll 8
    for (int q = 0; q < K; ++q) {
      const typename L::V a = L::pinned(L::load(w + q * ld + i, rest));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sum[j][q] += a * b[j];
    }
  }
  const typename L::First out(K);
#pragma GCC unroll 8
  for (int j = 0; j < N; ++j) {
    typename L::V s = L::template sums<K>(sum[j]);
    T* to = x[j] + x_at;
    if (add_all || add[j]) s += L::load(to, out);
    L::store(to, s, out);
  }
}

// Number of rows accumulated before adding to the result: constant, so that a column's sum is
// independent of n.
constexpr std::size_t kSumRows = 1024;
// Number of columns of y that remain in the L1 and L2 caches during a pass over W.
constexpr std::size_t kKeepColumns = 48;

template <class T, int K, int N>
void transposed_columns(std::size_t m, std::size_t k, std::size_t from, std::size_t n, const T* w,
                        const T* const* y, T* const* x, const bool* add) {
  for (std::size_t i = 0; i < m; i += kSumRows)
    for (std::size_t first = 0; first < n; first += kKeepColumns) {
      const std::size_t columns = std::min(kKeepColumns, n - first);
      for (std::size_t q = from; q + K <= k; q += K)
        for_columns<N>(columns, 0, [&]<int D>(std::integral_constant<int, D>, std::size_t c) {
          const std::size_t j = first + c;
          transposed_tile<T, K, D>(std::min(kSumRows, m - i), m, w + q * m + i, y + j, i, x + j, q,
                                   add + j, i > 0);
        });
    }
  if constexpr (K > 1)
    if (const std::size_t done = from + (k - from) / K * K; done < k)
      transposed_columns<T, K / 2, N>(m, k, done, n, w, y, x, add);
}

// C columns of W for one tile of rows: the sum of y_j times row j of x, in order of j. `rows_of(j)`
// is the address of the tile's rows of y_j. kFar: W may be long, so the next C columns are
// prefetched.
template <bool kFar, class L, int R, int C, bool kCut, class T, class RowsOf>
inline void outer_tile(Rows<L, R, kCut> rows, std::size_t ld, std::size_t n, bool add, T* w,
                       RowsOf rows_of, const T* const* x, std::size_t x_at) {
  using V = typename L::V;
  V sum[C][R];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[c][r] = add ? rows.load(w + c * ld, r) : V{};
  if (kFar && ld >= kLong)
    for (int c = 0; c < C; ++c) fetch_to_write(w + (C + c) * ld, R * L::kWidth);
#pragma GCC unroll 2
  for (std::size_t j = 0; j < n; ++j) {
    const T *a = rows_of(j), *b = x[j] + x_at;
    asm("" : "+r"(a), "+r"(b));  // otherwise GCC reserves a register for each address
    V v[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) v[r] = rows.load(a, r);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const V u = L::all(b[c]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[c][r] += v[r] * u;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) rows.store(w + c * ld, r, sum[c][r]);
}

// `outer_tile`, not inlined, so that all registers are free.
template <bool kFar, class L, int R, int C, bool kCut, class T, class RowsOf>
[[gnu::noinline]] void outer_tile_apart(Rows<L, R, kCut> rows, std::size_t ld, std::size_t n,
                                        bool add, T* w, RowsOf rows_of, const T* const* x,
                                        std::size_t x_at) {
  outer_tile<kFar, L, R, C>(rows, ld, n, add, w, rows_of, x, x_at);
}

// Result of a product with no terms.
template <class T>
void zero(std::size_t size, std::size_t n, T* const* columns, const bool* add,
          const T* start = nullptr) {
  for (std::size_t j = 0; j < n; ++j)
    if (!add[j])
      for (std::size_t i = 0; i < size; ++i) columns[j][i] = start ? start[i] : T(0);
}

// x_j = w y_j or x_j += w y_j, for numbers y_j.
template <class T>
void scale(std::size_t k, std::size_t n, const T* w, const T* const* y, T* const* x,
           const bool* add) {
  for (std::size_t j = 0; j < n; ++j) {
    T* const to = x[j];
    const T by = *y[j];
    if (add[j])
      for (std::size_t q = 0; q < k; ++q) to[q] += w[q] * by;
    else
      for (std::size_t q = 0; q < k; ++q) to[q] = w[q] * by;
  }
}

template <class T, class Places>
void multiply_columns(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
                      Places places, T* const* y, const bool* add, const T* start) {
  constexpr int C = kMany ? 6 : 3;
  if (kMany && m <= Lanes<T>::kWidth) {  // one vector of rows: more columns fill the registers
    multiply_blocks<Lanes<T>, 1, 8, false>(0, m, m, k, n, w, x, places, y, add, start);
    return;
  }
  // With few columns, sums in half vectors would be latency-bound.
  const std::size_t half = in_half_a_vector<T>(m), rest = n < 6 && half < m ? 0 : half;
  if (copies_fit() && n >= (m < kHigh ? kPackFrom : kPackHighFrom))
    multiply_blocks<Lanes<T>, 4, C, true>(0, m - rest, m, k, n, w, x, places, y, add, start);
  else
    multiply_blocks<Lanes<T>, 4, C, false>(0, m - rest, m, k, n, w, x, places, y, add, start);
  if (rest)
    multiply_blocks<Half<T>, 1, 8, false>(m - rest, m, m, k, n, w, x, places, y, add, start);
}

}  // namespace

template <class T>
void multiply(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
              T* const* y, const bool* add, const T* start) {
  if (k == 0) {
    zero(m, n, y, add, start);
  } else if (m == 1 && k > 1) {  // a row is a transposed column
    multiply_transposed<T>(k, 1, n, w, x, y, add);
    for (std::size_t j = 0; start && j < n; ++j)
      if (!add[j]) *y[j] += *start;
  } else if (kMany && n <= 3) {
    multiply_blocks<Lanes<T>, 8, 3, false>(0, m, m, k, n, w, x, InOrder(), y, add, start);
  } else {
    multiply_columns(m, k, n, w, x, InOrder(), y, add, start);
  }
}

template <class T>
void multiply_at(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
                 const std::uint32_t* places, T* const* y, const bool* add, const T* start) {
  if (k == 0)
    zero(m, n, y, add, start);
  else
    multiply_columns(m, k, n, w, x, ByTable{places}, y, add, start);
}

template <class T>
void multiply_transposed(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* y,
                         T* const* x, const bool* add) {
  // Fewer simultaneous columns of a tall W: eight columns at a power-of-two stride would evict each
  // other from the L1 cache.
  constexpr int kShort = static_cast<int>(std::min<std::size_t>(Lanes<T>::kWidth, 8));
  constexpr int kTall = std::min(kShort, 4), kByThree = kMany ? kShort : kTall;
  const bool tall = m >= 2 * kHigh;
  if (m == 0)
    zero(k, n, x, add);
  else if (m == 1)
    scale(k, n, w, y, x, add);
  else if (n == 1 && tall)
    transposed_columns<T, kTall, 1>(m, k, 0, n, w, y, x, add);
  else if (n == 1)
    transposed_columns<T, kShort, 1>(m, k, 0, n, w, y, x, add);
  else if (tall)
    transposed_columns<T, kTall, kMany ? 6 : 3>(m, k, 0, n, w, y, x, add);
  else
    transposed_columns<T, kByThree, 3>(m, k, 0, n, w, y, x, add);
}

// Rows of y are split so that they remain in the L1 cache for all columns of W; columns are long
// runs of W then. For a long matrix, whose columns are on different pages, and for many columns
// that fit the L1 cache, rows are first copied tile by tile.
constexpr std::size_t kFew = 64, kNearest = 24 << 10, kMostPacked = 32 << 10;
constexpr std::size_t kMostColumns = 256;
constexpr int kOuterRows = kMany ? 4 : 3;  // in vectors

// kApart: calls outer_tile_apart. Tiles of few rows always do with many registers, since GCC would
// spill otherwise.
template <bool kPacked, bool kApart, class L, int R, int C, class T>
void outer_blocks(std::size_t from, std::size_t to, std::size_t ld, std::size_t k, std::size_t n,
                  bool add, T* w, const T* const* y, const T* const* x) {
  constexpr std::size_t kTile = R * L::kWidth, kFits = kNearest / sizeof(T);
  alignas(64) T pack[kPacked ? std::max(kFits, kMostColumns * kTile) : 1];
  const std::size_t most =
      R * std::max<std::size_t>(kFits / kTile / std::max<std::size_t>(n, 1), 1);
  const std::size_t vectors = (to - from + L::kWidth - 1) / L::kWidth;
  const std::size_t blocks = (vectors + most - 1) / most;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = from + vectors * i / blocks * L::kWidth;
    const std::size_t end = std::min(from + vectors * (i + 1) / blocks * L::kWidth, to);
    if constexpr (kPacked)
      for_rows<L, R>(
          end,
          [&]<int Q, bool kCut>(Rows<L, Q, kCut> rows, std::size_t row) {
            T* at = pack + (row - begin) * n;
            for (std::size_t j = 0; j < n; ++j)
              for (int r = 0; r < Q; ++r, at += L::kWidth) L::store(at, rows.load(y[j] + row, r));
          },
          begin);
    for_columns<C>(k, 0, [&]<int D>(std::integral_constant<int, D>, std::size_t q) {
      for_rows<L, R>(
          end,
          [&]<int Q, bool kCut>(Rows<L, Q, kCut> rows, std::size_t row) {
            const T* const packed = pack + (row - begin) * n;
            const auto rows_of = [=](std::size_t j) {
              return kPacked ? packed + j * (Q * L::kWidth) : y[j] + row;
            };
            T* const of = w + q * ld + row;
            if constexpr (kApart || (kMany && Q <= 2))
              outer_tile_apart<kPacked, L, Q, D>(rows, ld, n, add, of, rows_of, x, q);
            else
              outer_tile<kPacked, L, Q, D>(rows, ld, n, add, of, rows_of, x, q);
          },
          begin);
    });
  }
}

template <class T>
void multiply_outer(std::size_t m, std::size_t k, std::size_t n, bool add, T* w, const T* const* y,
                    const T* const* x) {
  constexpr int R = kOuterRows;
  const std::size_t rest = in_half_a_vector<T>(m), rows = m - rest;
  const bool packs = n >= kFew && copies_fit();
  const std::size_t together =
      packs ? std::min(kMostPacked / (R * kLaneBytes), kMostColumns) : kMostColumns;
  std::size_t first = 0;
  do {
    const std::size_t here = std::min(n - first, together);
    const T *const *const ys = y + first, *const *const xs = x + first;
    if (packs)
      outer_blocks<true, true, Lanes<T>, R, kMany ? 6 : 4>(0, rows, m, k, here, add, w, ys, xs);
    else if (m < kLong)
      outer_blocks<false, false, Lanes<T>, R, 4>(0, rows, m, k, here, add, w, ys, xs);
    else
      outer_blocks<true, false, Lanes<T>, R, 4>(0, rows, m, k, here, add, w, ys, xs);
    if (rest) outer_blocks<true, true, Half<T>, 1, 8>(rows, m, m, k, here, add, w, ys, xs);
    add = true;
    first += here;
  } while (first < n);
}

template <class T>
void transpose_to(std::size_t m, std::size_t k, const T* w, T* to, std::size_t apart, bool add) {
  using L = Lanes<T>;
  using First = typename L::First;
  constexpr std::size_t kSide = L::kWidth;
  typename L::V v[kSide];
  const auto put = [add](T* p, typename L::V row, auto part) {
    L::store(p, add ? L::load(p, part) + row : row, part);
  };
  for (std::size_t q = 0; q < k; q += kSide)
    for (std::size_t i = 0; i < m; i += kSide) {
      const std::size_t rows = std::min(kSide, m - i), columns = std::min(kSide, k - q);
      if (rows == kSide && columns == kSide) {
        for (std::size_t c = 0; c < kSide; ++c) v[c] = L::load(w + (q + c) * m + i);
        L::transpose(v);
        for (std::size_t r = 0; r < kSide; ++r)
          put(to + (i + r) * apart + q, v[r], typename L::All());
      } else {
        for (std::size_t c = 0; c < kSide; ++c)
          v[c] = c < columns ? L::load(w + (q + c) * m + i, First(rows)) : typename L::V{};
        L::transpose(v);
        for (std::size_t r = 0; r < rows; ++r) put(to + (i + r) * apart + q, v[r], First(columns));
      }
    }
}

template <class T>
void transpose(std::size_t m, std::size_t k, const T* w, T* to) {
  transpose_to(m, k, w, to, k, false);
}

template void multiply(std::size_t, std::size_t, std::size_t, const T*, const T* const*, T* const*,
                       const bool*, const T*);
template void multiply_at(std::size_t, std::size_t, std::size_t, const T*, const T* const*,
                          const std::uint32_t*, T* const*, const bool*, const T*);
template void multiply_transposed(std::size_t, std::size_t, std::size_t, const T*, const T* const*,
                                  T* const*, const bool*);
template void multiply_outer(std::size_t, std::size_t, std::size_t, bool, T*, const T* const*,
                             const T* const*);
template void transpose(std::size_t, std::size_t, const T*, T*);
template void transpose_to(std::size_t, std::size_t, const T*, T*, std::size_t, bool);

}  // namespace dynet::cpu::DYNET_ISA
