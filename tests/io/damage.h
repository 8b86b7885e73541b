#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "dynet-like/base/random.h"

namespace dynet {

inline constexpr std::uint64_t kDamages = 8;

/// `good` with damage number k: kinds take turns, places are drawn.
inline std::string damaged(const std::string& good, std::uint64_t k) {
  const RandomStream random(k);
  const auto draw = [&](std::uint64_t i, std::size_t n) {
    return random.bits(i) % std::max<std::size_t>(n, 1);
  };
  std::string s = good;
  const std::size_t n = s.size(), at = draw(0, n),
                    length = 1 + draw(1, std::min<std::size_t>(n, 200));
  const std::size_t end = std::min(n, at + length);
  switch (k % kDamages) {
    case 0:  // one bit
      s[at] = static_cast<char>(s[at] ^ (1 << draw(2, 8)));
      break;
    case 1:  // one byte
      s[at] = static_cast<char>(draw(2, 256));
      break;
    case 2:  // four bytes
      for (std::size_t i = at; i < std::min(n, at + 4); ++i)
        s[i] = static_cast<char>(draw(2 + i, 256));
      break;
    case 3: {  // two blocks swapped
      const std::size_t other = draw(2, n - (end - at) + 1);
      if (other + (end - at) <= at || other >= end)
        std::swap_ranges(s.begin() + static_cast<long>(at), s.begin() + static_cast<long>(end),
                         s.begin() + static_cast<long>(other));
      break;
    }
    case 4:  // a block repeated
      s.insert(at, s.substr(at, end - at));
      break;
    case 5:  // zeros
      std::fill(s.begin() + static_cast<long>(at), s.begin() + static_cast<long>(end), '\0');
      break;
    case 6:  // cut
      s.resize(at);
      break;
    default:  // a tail
      for (std::size_t i = 0; i < length; ++i) s += static_cast<char>(draw(2 + i, 256));
  }
  return s;
}

}  // namespace dynet
