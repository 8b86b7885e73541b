#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace dynet {

/// While it lives, results of this thread below the smallest normal number (1.2e-38 in float) are
/// zero. CPUs are up to 30 times slower on them. No effect on other CPUs than x86-64 and 64-bit
/// Arm.
class FlushSubnormals {
 public:
  // Inlined, since kernels of several instruction sets use it.
  [[gnu::always_inline]] FlushSubnormals() : before_(control()) { set_control(before_ | kFlush); }
  [[gnu::always_inline]] ~FlushSubnormals() { set_control(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

  /// Whether the CPU can.
#if defined(__x86_64__) || defined(__aarch64__)
  static constexpr bool kSupported = true;
#else
  static constexpr bool kSupported = false;
#endif

 private:
#if defined(__x86_64__)
  static constexpr std::uint64_t kFlush = 0x8000;
  [[gnu::always_inline]] static std::uint64_t control() { return _mm_getcsr(); }
  [[gnu::always_inline]] static void set_control(std::uint64_t c) {
    _mm_setcsr(static_cast<unsigned>(c));
  }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;
  static std::uint64_t control() {
    std::uint64_t c;
    asm volatile("mrs %0, fpcr" : "=r"(c));
    return c;
  }
  static void set_control(std::uint64_t c) { asm volatile("msr fpcr, %0" : : "r"(c) : "memory"); }
#else
  static constexpr std::uint64_t kFlush = 0;
  static std::uint64_t control() { return 0; }
  static void set_control(std::uint64_t) {}
#endif

  const std::uint64_t before_;
};

}  // namespace dynet
