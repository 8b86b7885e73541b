// Multiply-add throughput of a core, in registers only: floats, and pairs of bf16 if the CPU has
// instructions for them. Shows whether bf16 products are worth separate kernels.
#include <cstdio>

#include "benchmarks/measure.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

namespace {

constexpr int kSums = 16, kTimes = 10'000'000;  // enough sums to hide the latency

// Each adds a b to kSums vectors, kTimes times. The barrier prevents loop-invariant hoisting.
[[gnu::target("avx512f")]] float add_floats() {
  __m512 sums[kSums], a = _mm512_set1_ps(1), b = a;
#pragma GCC unroll 16
  for (int j = 0; j < kSums; ++j) sums[j] = _mm512_set1_ps(static_cast<float>(j));
  for (int i = 0; i < kTimes; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kSums; ++j) sums[j] = _mm512_fmadd_ps(a, b, sums[j]);
    asm volatile("" : "+v"(a), "+v"(b));
  }
#pragma GCC unroll 16
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_cvtss_f32(sums[0]);
}

[[gnu::target("avx512f,avx512bf16")]] float add_pairs() {
  __m512 sums[kSums];
  __m512i a = _mm512_set1_epi32(0x3f803f80), b = a;  // ones
#pragma GCC unroll 16
  for (int j = 0; j < kSums; ++j) sums[j] = _mm512_set1_ps(static_cast<float>(j));
  for (int i = 0; i < kTimes; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kSums; ++j)
      sums[j] =
          _mm512_dpbf16_ps(sums[j], reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
    asm volatile("" : "+v"(a), "+v"(b));
  }
#pragma GCC unroll 16
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_cvtss_f32(sums[0]);
}

void print(const char* name, int products, float (*f)()) {
  const double seconds = bench::fastest(5, [&] { bench::keep(f()); });
  std::printf("%-24s %6.1f GFLOP/s\n", name, 2e-9 * products * kSums * kTimes / seconds);
}

}  // namespace

int main() {
  if (__builtin_cpu_supports("avx512f"))
    print("floats, vfmadd", 16, add_floats);
  else
    std::printf("this CPU has no AVX-512\n");
  if (__builtin_cpu_supports("avx512bf16"))
    print("bf16, vdpbf16ps", 32, add_pairs);
  else
    std::printf("this CPU has no instructions for bf16\n");
}

#else
int main() { std::printf("only for x86-64\n"); }
#endif
