#include "dynet-like/param/norm.h"

#include <algorithm>
#include <cstring>

namespace dynet::cpu::DYNET_ISA {
namespace {

// Written as a vector because a loop over an array of sums does not become one.
typedef float Sums __attribute__((vector_size(64)));
constexpr std::size_t kSums = sizeof(Sums) / sizeof(float);

}  // namespace

double squared_norm(const float* v, std::size_t n) {
  // Blocks of floats in 64 sums, then double: fast, and exact enough for any size.
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
    double block = 0;
    for (; i < end; ++i) block += static_cast<double>(v[i]) * v[i];
    if (end - at >= 4 * kSums) {  // otherwise they are zero, and take most of the time
      const Sums sum = (s[0] + s[1]) + (s[2] + s[3]);
      for (std::size_t k = 0; k < kSums; ++k) block += sum[k];
    }
    if (!(block > 1e-25 && block < 1e38)) {  // squares outside the range of float
      block = 0;
      for (i = at; i < end; ++i) block += static_cast<double>(v[i]) * v[i];
    }
    total += block;
  }
  return total;
}

}  // namespace dynet::cpu::DYNET_ISA
