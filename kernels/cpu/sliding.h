#pragma once

#include <algorithm>
#include <cstddef>

#include "dynet-like/shape/convolution_rules.h"

namespace dynet::cpu::DYNET_ISA {

/// Elements that element `tap` of a sliding window meets along one dimension: one at each of the
/// positions [first, end), the first at `in`, the next a stride apart; the rest is padding.
struct Reach {
  std::size_t first, end, in;

  Reach(const shape::Sliding& s, std::size_t tap) {
    const auto at_least = [&](std::size_t x) {  // the first position i with i stride + tap >= x
      return std::min<std::size_t>(x > tap ? (x - tap + s.stride - 1) / s.stride : 0, s.out);
    };
    first = at_least(s.before);
    end = at_least(std::size_t{s.in} + s.before);
    in = first * s.stride + tap - s.before;  // of no meaning if there is no such position
  }
};

}  // namespace dynet::cpu::DYNET_ISA
