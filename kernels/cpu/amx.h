#pragma once

// Tiles of AMX, Intel's matrix unit, for products in bf16 and in 8 bits.
#include "kernels/cpu/isa.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dynet-like/base/isa.h"
#include "kernels/cpu/lanes.h"

namespace dynet::cpu::DYNET_ISA {

/// Whether the CPU has AMX for bf16 and 8 bits, the system lets this process use it (Linux
/// from 5.16 on saves tiles only for processes that ask), and DYNET_ISA is not set: then all CPUs
/// with AVX512-BF16 compute the same bits.
inline bool has_amx() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kAll = 1u << 22 | 1u << 24 | 1u << 25;  // bf16, tiles, 8 bits
    constexpr long kAsk = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return !isa_is_named() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kAll) == kAll &&
           syscall(SYS_arch_prctl, kAsk, kTileData) == 0;
  }();
  return has;
}

// The intrinsics' tile numbers must be literals.
#define DYNET_AMX [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,amx-tile,amx-bf16,amx-int8")]]
#define DYNET_AMX_MULTIPLY(C, A, B)       \
  if constexpr (std::is_same_v<S, float>) \
    _tile_dpbf16ps(C, A, B);              \
  else                                    \
    _tile_dpbssd(C, A, B)

/// Multiplies packed words by the tiles of AMX: up to 16 rows of 16 words. A word is a pair of bf16
/// or four integers of 8 bits. A sum of bf16 is the sum of its even products plus that of its odd
/// ones, for 32 numbers at a time; a sum of integers is exact.
class AmxTiles {
 public:
  static constexpr std::size_t kSide = 16;            ///< rows of a tile, and words of a row
  static constexpr std::size_t kColumns = 2 * kSide;  ///< that a call multiplies

  /// Configures the tiles of this thread for products with n columns. Only one may exist in a
  /// thread.
  DYNET_AMX explicit AmxTiles(std::size_t n) {
    Configuration c;
    const std::size_t first = std::min(n, kSide),
                      second = n > kSide ? std::min(n - kSide, kSide) : 1;
    for (const int tile : {0, 1, 4}) c.rows[tile] = static_cast<std::uint8_t>(first);
    for (const int tile : {2, 3, 5}) c.rows[tile] = static_cast<std::uint8_t>(second);
    for (const int tile : {6, 7}) c.rows[tile] = kSide;
    if (n <= kSide) c.rows[2] = c.rows[3] = c.rows[0];
    for (int tile = 0; tile < 8; ++tile) c.bytes[tile] = kBytes;
    write_all(&c);
    _tile_loadconfig(&c);
  }
  DYNET_AMX ~AmxTiles() { _tile_release(); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  /// Sums, of type float or int32, of 17 to 32 columns x and `count` times 16 rows of a panel, at
  /// most 32: those of column c and row r to sums[c / 16 * 2 + r / 16][c % 16][r % 16]. `size` is a
  /// multiple of 16; word p of column c is x[c * x_apart + p], of row r panel[r / 16 * apart + 16 *
  /// p + r % 16].
  template <class S>
  DYNET_AMX static void multiply_wide(std::size_t size, const std::uint32_t* panel,
                                      std::size_t apart, std::size_t count, const std::uint32_t* x,
                                      std::size_t x_apart, S (*sums)[kSide][kSide]) {
    write_all(panel);
    const std::size_t x_bytes = 4 * x_apart;
    const std::uint32_t* const x_2 = x + kSide * x_apart;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::size_t p = 0; p < size; p += kSide, panel += kSide * kSide) {
      _tile_loadd(4, x + p, x_bytes);
      _tile_loadd(6, panel, kBytes);
      DYNET_AMX_MULTIPLY(0, 4, 6);
      _tile_loadd(5, x_2 + p, x_bytes);
      DYNET_AMX_MULTIPLY(2, 5, 6);
      if (count == 1) continue;
      _tile_loadd(7, panel + apart, kBytes);
      DYNET_AMX_MULTIPLY(1, 4, 7);
      DYNET_AMX_MULTIPLY(3, 5, 7);
    }
    _tile_stored(0, sums[0], kBytes);
    _tile_stored(2, sums[2], kBytes);
    if (count == 1) return;
    _tile_stored(1, sums[1], kBytes);
    _tile_stored(3, sums[3], kBytes);
  }

  /// The same of up to 16 columns and at most 64 rows, to sums[r / 16][c][r % 16].
  template <class S>
  DYNET_AMX static void multiply_narrow(std::size_t size, const std::uint32_t* panel,
                                        std::size_t apart, std::size_t count,
                                        const std::uint32_t* x, std::size_t x_apart,
                                        S (*sums)[kSide][kSide]) {
    write_all(panel);
    const std::size_t x_bytes = 4 * x_apart;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::size_t p = 0; p < size; p += kSide, panel += kSide * kSide) {
      _tile_loadd(4, x + p, x_bytes);
      _tile_loadd(6, panel, kBytes);
      DYNET_AMX_MULTIPLY(0, 4, 6);
      if (count == 1) continue;
      _tile_loadd(7, panel + apart, kBytes);
      DYNET_AMX_MULTIPLY(1, 4, 7);
      if (count == 2) continue;
      _tile_loadd(6, panel + 2 * apart, kBytes);
      DYNET_AMX_MULTIPLY(2, 4, 6);
      if (count == 3) continue;
      _tile_loadd(7, panel + 3 * apart, kBytes);
      DYNET_AMX_MULTIPLY(3, 4, 7);
    }
    _tile_stored(0, sums[0], kBytes);
    if (count > 1) _tile_stored(1, sums[1], kBytes);
    if (count > 2) _tile_stored(2, sums[2], kBytes);
    if (count > 3) _tile_stored(3, sums[3], kBytes);
  }

  /// Sums of m rows of a matrix, panels of 16 rows `apart` words from each other, and n columns:
  /// calls finish(row, column, sums) for 16 rows of a column. `together`: rows whose words stay in
  /// a cache for all columns, a multiple of 64.
  template <class S, class Finish>
  static void multiply(std::size_t m, std::size_t size, std::size_t n, const std::uint32_t* panels,
                       std::size_t apart, const std::uint32_t* x, std::size_t x_apart,
                       std::size_t together, Finish finish) {
    alignas(64) S sums[4][kSide][kSide];
    for (std::size_t top = 0; top < m; top += together) {
      const std::size_t bottom = std::min(m, top + together);
      for (std::size_t j = 0, columns = 0; j < n; j += columns) {
        const std::size_t wide = n - j > kSide ? 2 : 1, tiles = 4 / wide;
        columns = std::min(n - j, wide * kSide);
        const auto run = wide == 2 ? multiply_wide<S> : multiply_narrow<S>;
        for (std::size_t row = top; row < bottom; row += tiles * kSide) {
          const std::size_t count = std::min((bottom - row + kSide - 1) / kSide, tiles);
          run(size, panels + row / kSide * apart, apart, count, x + j * x_apart, x_apart, sums);
          for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t i = 0; i < count; ++i)
              finish(row + i * kSide, j + c, sums[c / kSide * 2 + i][c % kSide]);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kBytes = 4 * kSide;  // of a row
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
  };

  // GCC's intrinsics do not tell the compiler which memory they read.
  static void write_all(const void* p) { asm volatile("" : : "r"(p) : "memory"); }
};

}  // namespace dynet::cpu::DYNET_ISA

#endif
