#include "dynet-like/base/random.h"

#include <cmath>

namespace dynet {

double RandomStream::normal(std::uint64_t i) const {
  const std::uint64_t b = bits(i);
  const double u = (static_cast<double>(b >> 32) + 0.5) * 0x1p-32;
  const double v = static_cast<double>(b & 0xffffffffu) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
}

}  // namespace dynet
