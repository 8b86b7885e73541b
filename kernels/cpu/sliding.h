#pragma once

#include <algorithm>
#include <cstddef>

#include "dynet-like/shape/convolution_rules.h"

namespace dynet::cpu::DYNET_ISA {

/// Elements under tap `tap` of a sliding window along one dimension: one per position in [first,
/// end), at `in` for the first position and a stride apart; all other positions have padding there.
struct Reach {
  std::size_t first, end, in;

  Reach(const shape::Sliding& s, std::size_t tap) {
    const auto at_least = [&](std::size_t x) {  // first position i with i stride + tap >= x
      return std::min<std::size_t>(x > tap ? (x - tap + s.stride - 1) / s.stride : 0, s.out);
    };
    first = at_least(s.before);
    end = at_least(std::size_t{s.in} + s.before);
    in = first * s.stride + tap - s.before;  // meaningless without such a position
  }
};

}  // namespace dynet::cpu::DYNET_ISA
