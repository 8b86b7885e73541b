#include "kernels/cpu/product.h"

#include <algorithm>
#include <utility>

#include "dynet-like/base/caches.h"
#include "kernels/cpu/lanes.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Sums are kept in registers; what does not fit there is slow.
constexpr bool kMany = kRegisters >= 32;

// Rows of W that a tile covers: R whole vectors, the last one cut to `last` lanes if kCut.
template <class T, int R, bool kCut>
struct Rows {
  using L = Lanes<T>;
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

// Loops over a tile are unrolled whatever GCC thinks of it: a tile of sums that is indexed by a
// variable is kept in memory.

// C columns of y for one tile of rows: W's column p times x[p], p in order.
template <class T, int R, int C, bool kCut>
void multiply_tile(Rows<T, R, kCut> rows, std::size_t ld, std::size_t k, const T* w,
                   const T* const* x, std::size_t x_at, T* const* y, std::size_t y_at,
                   const bool* add, const T* start) {
  using V = typename Lanes<T>::V;
  V sum[C][R];
  const T* in[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) {
    in[c] = x[c] + x_at;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[c][r] = add[c] ? rows.load(y[c] + y_at, r) : start ? rows.load(start + y_at, r) : V{};
  }
  for (std::size_t p = 0; p < k; ++p, w += ld) {
    V b[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) b[c] = Lanes<T>::all(in[c][p]);
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

// Cuts the columns from `at` up to n into parts of at most C, as equal as can be; the size of a
// part is a constant for f.
template <int C, class F>
void for_columns(std::size_t n, std::size_t at, F&& f) {
  if constexpr (C > 1) {
    const std::size_t parts = (n - at + C - 1) / C, spare = parts * C - (n - at);
    for (std::size_t whole = parts > spare ? parts - spare : 0; whole > 0; --whole, at += C)
      f(std::integral_constant<int, C>(), at);
    if (at < n) for_columns<C - 1>(n, at, f);
  } else {
    for (; at < n; ++at) f(std::integral_constant<int, 1>(), at);
  }
}

// Cuts m rows into parts of at most R vectors, as equal as can be, and calls f with each and where
// it begins; the end of the last vector may lie beyond the last row.
template <class T, int R, class F>
void for_rows(std::size_t m, F&& f, std::size_t at = 0) {
  constexpr std::size_t kWidth = Lanes<T>::kWidth;
  using First = typename Lanes<T>::First;
  const std::size_t left = (m - at + kWidth - 1) / kWidth, parts = (left + R - 1) / R;
  const std::size_t spare = parts * R - left;
  for (std::size_t whole = parts > spare ? parts - spare : 0; whole > 0;
       --whole, at += R * kWidth) {
    if (m - at >= R * kWidth)
      f(Rows<T, R, false>{First(0)}, at);
    else
      return f(Rows<T, R, true>{First(m - at - (R - 1) * kWidth)}, at);
  }
  if constexpr (R > 1)
    if (at < m) for_rows<T, R - 1>(m, f, at);
}

// Where there are many registers, two ways to fill them with sums: 8 x 3 vectors read W in longer
// pieces, 4 x 6 read it less often. What tiles read of W, kDepth columns of so many rows, stays in
// the nearest cache until all columns of y have used it. For many columns it is copied first: W's
// own columns may lie on few cache sets and, if they are long, on many pages.
constexpr std::size_t kDepth = 128;
constexpr std::size_t kPackFrom = kMany ? 160 : 48, kPackHighFrom = 24;
constexpr std::size_t kHigh = 256, kLong = 2048;

template <int R, int C, bool kPacked, class T>
void multiply_blocks(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
                     T* const* y, const bool* add, const T* start) {
  alignas(64) T pack[kPacked ? kDepth * R * Lanes<T>::kWidth : 1];
  constexpr bool kAll[] = {true, true, true, true, true, true};
  static_assert(C <= 6);
  const std::size_t depth = n <= C ? k : kDepth;
  // What there is more of passes by only once: y, or x.
  const std::size_t together = k > m ? depth : k;
  for (std::size_t begin = 0; begin < k; begin += together)
    for_rows<T, R>(m, [&]<int Q, bool kCut>(Rows<T, Q, kCut> rows, std::size_t row) {
      constexpr std::size_t kRows = Q * Lanes<T>::kWidth;
      for (std::size_t p = begin; p < std::min(begin + together, k); p += depth) {
        const std::size_t here = std::min(depth, k - p);
        const T* from = w + p * m + row;
        if constexpr (kPacked)
          for (std::size_t q = 0; q < here; ++q)
            for (int r = 0; r < Q; ++r)
              Lanes<T>::store(pack + q * kRows + r * Lanes<T>::kWidth, rows.load(from + q * m, r));
        for_columns<C>(n, 0, [&]<int D>(std::integral_constant<int, D>, std::size_t j) {
          multiply_tile<T, Q, D>(rows, kPacked ? kRows : m, here, kPacked ? pack : from, x + j, p,
                                 y + j, row, p == 0 ? add + j : kAll, start);
        });
      }
    });
}

// K columns of W times N columns of y, over rows [0, m): dot products side by side.
template <class T, int K, int N>
void transposed_tile(std::size_t m, std::size_t ld, const T* w, const T* const* y, std::size_t y_at,
                     T* const* x, std::size_t x_at, const bool* add, bool add_all) {
  using L = Lanes<T>;
  typename L::V sum[N][K] = {};
  const T* in[N];
#pragma GCC unroll 8
  for (int j = 0; j < N; ++j) in[j] = y[j] + y_at;
  std::size_t i = 0;
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

// Rows that are summed before they are added to the result: the same for every n, so that a
// column's sum does not depend on it.
constexpr std::size_t kSumRows = 1024;
// Columns of y that stay in the nearest caches while W passes by.
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

// C columns of W for one tile of rows: y_j times row j of x, j in order. `rows_of(j)` is where the
// tile's rows of y_j are.
template <bool kAhead, class T, int R, int C, bool kCut, class RowsOf>
inline void outer_tile(Rows<T, R, kCut> rows, std::size_t ld, std::size_t n, bool add, T* w,
                       RowsOf rows_of, const T* const* x, std::size_t x_at) {
  using V = typename Lanes<T>::V;
  V sum[C][R];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[c][r] = add ? rows.load(w + c * ld, r) : V{};
  if constexpr (kAhead)  // what comes next lies on other pages, where no CPU looks ahead by itself
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) __builtin_prefetch(w + (C + c) * ld + r * Lanes<T>::kWidth, 1);
  for (std::size_t j = 0; j < n; ++j) {
    const T *const a = rows_of(j), *const b = x[j] + x_at;
    V v[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) v[r] = rows.load(a, r);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const V u = Lanes<T>::all(b[c]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[c][r] += v[r] * u;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) rows.store(w + c * ld, r, sum[c][r]);
}

// The same where the rows of all y_j lie side by side. A function of its own has all registers to
// itself.
template <bool kAhead, class T, int R, int C, bool kCut>
[[gnu::noinline]] void packed_tile(Rows<T, R, kCut> rows, std::size_t ld, std::size_t n, bool add,
                                   T* w, const T* pack, const T* const* x, std::size_t x_at) {
  outer_tile<kAhead, T, R, C>(
      rows, ld, n, add, w, [pack](std::size_t j) { return pack + j * (R * Lanes<T>::kWidth); }, x,
      x_at);
}

// The empty sum.
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

}  // namespace

template <class T>
void multiply(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
              T* const* y, const bool* add, const T* start) {
  if (k == 0) {
    zero(m, n, y, add, start);
  } else if (m == 1 && k > 1) {  // the row as a column
    multiply_transposed<T>(k, 1, n, w, x, y, add);
    for (std::size_t j = 0; start && j < n; ++j)
      if (!add[j]) *y[j] += *start;
  } else if (kMany && n <= 3) {
    multiply_blocks<8, 3, false>(m, k, n, w, x, y, add, start);
  } else if (n < (m < kHigh ? kPackFrom : kPackHighFrom)) {
    multiply_blocks<4, kMany ? 6 : 3, false>(m, k, n, w, x, y, add, start);
  } else {
    multiply_blocks<4, kMany ? 6 : 3, true>(m, k, n, w, x, y, add, start);
  }
}

template <class T>
void multiply_transposed(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* y,
                         T* const* x, const bool* add) {
  constexpr int kTogether = static_cast<int>(std::min<std::size_t>(Lanes<T>::kWidth, 8));
  constexpr int kByThree = kMany ? kTogether : std::min(kTogether, 4);
  if (m == 0)
    zero(k, n, x, add);
  else if (m == 1)
    scale(k, n, w, y, x, add);
  else if (n == 1)
    transposed_columns<T, kTogether, 1>(m, k, 0, n, w, y, x, add);
  else
    transposed_columns<T, kByThree, 3>(m, k, 0, n, w, y, x, add);
}

// Of few columns: rows of y are cut so that they stay in the nearest cache for all columns of W;
// columns are long runs of W then. Of a long matrix they are copied together first, for each column
// lies on pages of its own.
constexpr std::size_t kFew = 24, kNearest = 16 << 10;
constexpr int kOuterRows = kMany ? 4 : 3;  // vectors

template <bool kCopies, class T>
void outer_rows(std::size_t m, std::size_t k, std::size_t n, bool add, T* w, const T* const* y,
                const T* const* x) {
  constexpr int R = kOuterRows, C = 4;
  constexpr std::size_t kTile = R * Lanes<T>::kWidth, kFits = kNearest / sizeof(T);
  static_assert(kTile * kFew <= kFits);
  alignas(64) T copy[kCopies ? kFits : 1];
  const T* columns[kCopies ? kFew : 1];
  const std::size_t fitting = kFits / std::max<std::size_t>(n, 1);
  const std::size_t block = std::max<std::size_t>(fitting / kTile, 1) * kTile;
  for (std::size_t begin = 0; begin < m; begin += block) {
    const std::size_t end = std::min(begin + block, m);
    if constexpr (kCopies)
      for (std::size_t j = 0; j < n; ++j) {
        columns[j] = copy + j * (end - begin);
        std::copy(y[j] + begin, y[j] + end, copy + j * (end - begin));
      }
    for_columns<C>(k, 0, [&]<int D>(std::integral_constant<int, D>, std::size_t q) {
      for_rows<T, R>(
          end,
          [&]<int Q, bool kCut>(Rows<T, Q, kCut> rows, std::size_t row) {
            const T* const* const from = kCopies ? columns : y;
            const std::size_t at = kCopies ? row - begin : row;
            outer_tile<kCopies, T, Q, D>(
                rows, m, n, add, w + q * m + row,
                [from, at](std::size_t j) { return from[j] + at; }, x, q);
          },
          begin);
    });
  }
}

// Of many columns: rows of y are copied together, tile by tile, as many as stay in the nearest
// cache for all columns of W.
constexpr std::size_t kMostPacked = 32 << 10;

template <bool kLongMatrix, class T>
void outer_packed(std::size_t m, std::size_t k, std::size_t n, std::size_t tiles, bool add, T* w,
                  const T* const* y, const T* const* x) {
  constexpr std::size_t kWidth = Lanes<T>::kWidth;
  alignas(64) T pack[kMostPacked / sizeof(T)];
  const std::size_t block = tiles * kOuterRows * kWidth;
  for (std::size_t begin = 0; begin < m; begin += block) {
    const std::size_t end = std::min(begin + block, m);
    for_rows<T, kOuterRows>(
        end,
        [&]<int Q, bool kCut>(Rows<T, Q, kCut> rows, std::size_t row) {
          T* to = pack + (row - begin) * n;
          for (std::size_t j = 0; j < n; ++j)
            for (int r = 0; r < Q; ++r, to += kWidth) Lanes<T>::store(to, rows.load(y[j] + row, r));
        },
        begin);
    for_columns<kMany ? 6 : 4>(k, 0, [&]<int D>(std::integral_constant<int, D>, std::size_t q) {
      for_rows<T, kOuterRows>(
          end,
          [&]<int Q, bool kCut>(Rows<T, Q, kCut> rows, std::size_t row) {
            packed_tile<kLongMatrix, T, Q, D>(rows, m, n, add, w + q * m + row,
                                              pack + (row - begin) * n, x, q);
          },
          begin);
    });
  }
}

template <class T>
void multiply_outer(std::size_t m, std::size_t k, std::size_t n, bool add, T* w, const T* const* y,
                    const T* const* x) {
  if (n < kFew)
    return m < kLong ? outer_rows<false>(m, k, n, add, w, y, x)
                     : outer_rows<true>(m, k, n, add, w, y, x);
  constexpr std::size_t kColumn = kOuterRows * kLaneBytes;  // of a tile
  const std::size_t together = std::min(nearest_cache() * 2 / 3, kMostPacked) / kColumn;
  for (std::size_t first = 0; first < n; first += together) {
    const std::size_t here = std::min(together, n - first), tiles = together / here;
    const bool adds = add || first > 0;
    if (m < kLong)
      outer_packed<false>(m, k, here, tiles, adds, w, y + first, x + first);
    else
      outer_packed<true>(m, k, here, tiles, adds, w, y + first, x + first);
  }
}

template <class T>
void transpose(std::size_t m, std::size_t k, const T* w, T* to) {
  using L = Lanes<T>;
  using First = typename L::First;
  constexpr std::size_t kSide = L::kWidth;
  typename L::V v[kSide];
  for (std::size_t q = 0; q < k; q += kSide)
    for (std::size_t i = 0; i < m; i += kSide) {
      const std::size_t rows = std::min(kSide, m - i), columns = std::min(kSide, k - q);
      if (rows == kSide && columns == kSide) {
        for (std::size_t c = 0; c < kSide; ++c) v[c] = L::load(w + (q + c) * m + i);
        L::transpose(v);
        for (std::size_t r = 0; r < kSide; ++r) L::store(to + (i + r) * k + q, v[r]);
      } else {
        for (std::size_t c = 0; c < kSide; ++c)
          v[c] = c < columns ? L::load(w + (q + c) * m + i, First(rows)) : typename L::V{};
        L::transpose(v);
        for (std::size_t r = 0; r < rows; ++r) L::store(to + (i + r) * k + q, v[r], First(columns));
      }
    }
}

template void multiply(std::size_t, std::size_t, std::size_t, const Scalar*, const Scalar* const*,
                       Scalar* const*, const bool*, const Scalar*);
template void multiply_transposed(std::size_t, std::size_t, std::size_t, const Scalar*,
                                  const Scalar* const*, Scalar* const*, const bool*);
template void multiply_outer(std::size_t, std::size_t, std::size_t, bool, Scalar*,
                             const Scalar* const*, const Scalar* const*);
template void transpose(std::size_t, std::size_t, const Scalar*, Scalar*);

}  // namespace dynet::cpu::DYNET_ISA
