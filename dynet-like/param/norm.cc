#include "dynet-like/param/norm.h"

#include <algorithm>
#include <cstring>

namespace dynet::cpu::DYNET_ISA {
namespace {

// Vector type, since compilers do not vectorize a loop over an array of sums.
typedef float Sums __attribute__((vector_size(64)));
constexpr std::size_t kSums = sizeof(Sums) / sizeof(float);
typedef double Doubles __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(32)));
constexpr std::size_t kDoubles = sizeof(Doubles) / sizeof(double);

// The sum of squares, accumulated in double.
double exact_squared_norm(const float* v, std::size_t n) {
  double total = 0;
  std::size_t i = 0;
  if (n >= kDoubles) {
    Doubles sums = {};
    for (; i + kDoubles <= n; i += kDoubles) {
      Floats x;
      std::memcpy(&x, v + i, sizeof x);
      const Doubles d = __builtin_convertvector(x, Doubles);
      sums += d * d;
    }
    for (std::size_t k = 0; k < kDoubles; ++k) total += sums[k];
  }
  for (; i < n; ++i) total += static_cast<double>(v[i]) * v[i];
  return total;
}

}  // namespace

double squared_norm(const float* v, std::size_t n) {
  // Blocks are accumulated in 64 float sums, the blocks in double: fast, and accurate for any size.
  constexpr std::size_t kBlock = 4096;
  double total = 0;
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t end = std::min(n, at + kBlock);
    Sums s[4] = {};
    std::size_t i = at;
    for (; i + 4 * kSums <= end; i += 4 * kSums) {
      Sums x[4];
      std::memcpy(x, v + i, sizeof x);
      s[0] += x[0] * x[0];
      s[1] += x[1] * x[1];
      s[2] += x[2] * x[2];
      s[3] += x[3] * x[3];
    }
    double block = exact_squared_norm(v + i, end - i);
    if (end - at >= 4 * kSums) {  // shorter blocks have zero in all vector sums
      const Sums sum = (s[0] + s[1]) + (s[2] + s[3]);
      for (std::size_t k = 0; k < kSums; ++k) block += sum[k];
      if (!(block > 1e-25 && block < 1e38))  // beyond the range of float sums
        block = exact_squared_norm(v + at, end - at);
    }
    total += block;
  }
  return total;
}

}  // namespace dynet::cpu::DYNET_ISA
