#pragma once

// Tiles of AMX, Intel's matrix unit, for products in bf16.
#include "kernels/cpu/bf16_product.h"

#ifdef DYNET_HAS_BF16

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/lanes.h"

namespace dynet::cpu::DYNET_ISA {

/// Whether the CPU has AMX for bf16 and the system lets this process use it (Linux 5.16, which
/// saves tiles only for processes that ask).
inline bool asks_for_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16 = 1u << 22, kTiles = 1u << 24;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kBf16) == 0 || (d & kTiles) == 0)
    return false;
  constexpr long kAsk = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kAsk, kTileData) == 0;
}

// The intrinsics' tile numbers must be literals.
#define DYNET_AMX [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,amx-tile,amx-bf16")]]

/// Multiplies packed words by the tiles of AMX: 16 pairs of bf16 in each of up to 16 rows. A result
/// is the sum of its even products plus that of its odd ones, for 32 numbers at a time.
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

  /// Sums of 17 to 32 columns x and `count` times 16 rows of a panel, at most 32: those of column c
  /// and row r to sums[c / 16 * 2 + r / 16][c % 16][r % 16]. `pairs` is a multiple of 16; word p of
  /// column c is x[c * x_apart + p], of row r panel[r / 16 * apart + 16 * p + r % 16].
  DYNET_AMX static void multiply_wide(std::size_t pairs, const std::uint32_t* panel,
                                      std::size_t apart, std::size_t count, const std::uint32_t* x,
                                      std::size_t x_apart, float (*sums)[kSide][kSide]) {
    write_all(panel);
    const std::size_t x_bytes = 4 * x_apart;
    const std::uint32_t* const x_2 = x + kSide * x_apart;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::size_t p = 0; p < pairs; p += kSide, panel += kSide * kSide) {
      _tile_loadd(4, x + p, x_bytes);
      _tile_loadd(6, panel, kBytes);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(5, x_2 + p, x_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if (count == 1) continue;
      _tile_loadd(7, panel + apart, kBytes);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums[0], kBytes);
    _tile_stored(2, sums[2], kBytes);
    if (count == 1) return;
    _tile_stored(1, sums[1], kBytes);
    _tile_stored(3, sums[3], kBytes);
  }

  /// The same of up to 16 columns and at most 64 rows, to sums[r / 16][c][r % 16].
  DYNET_AMX static void multiply_narrow(std::size_t pairs, const std::uint32_t* panel,
                                        std::size_t apart, std::size_t count,
                                        const std::uint32_t* x, std::size_t x_apart,
                                        float (*sums)[kSide][kSide]) {
    write_all(panel);
    const std::size_t x_bytes = 4 * x_apart;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::size_t p = 0; p < pairs; p += kSide, panel += kSide * kSide) {
      _tile_loadd(4, x + p, x_bytes);
      _tile_loadd(6, panel, kBytes);
      _tile_dpbf16ps(0, 4, 6);
      if (count > 1) {
        _tile_loadd(7, panel + apart, kBytes);
        _tile_dpbf16ps(1, 4, 7);
      }
      if (count > 2) {
        _tile_loadd(6, panel + 2 * apart, kBytes);
        _tile_dpbf16ps(2, 4, 6);
      }
      if (count > 3) {
        _tile_loadd(7, panel + 3 * apart, kBytes);
        _tile_dpbf16ps(3, 4, 7);
      }
    }
    _tile_stored(0, sums[0], kBytes);
    if (count > 1) _tile_stored(1, sums[1], kBytes);
    if (count > 2) _tile_stored(2, sums[2], kBytes);
    if (count > 3) _tile_stored(3, sums[3], kBytes);
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
