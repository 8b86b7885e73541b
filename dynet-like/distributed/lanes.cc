#include "dynet-like/distributed/lanes.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "dynet-like/base/errors.h"

namespace dynet {

LaneTree::LaneTree(unsigned lanes) : lanes_(lanes) {
  constexpr unsigned kMost = 1u << 20;
  if (lanes == 0 || lanes > kMost)
    throw ArgumentError("LaneTree: a run has 1 to " + std::to_string(kMost) + " lanes, not " +
                        std::to_string(lanes));
}

Interval LaneTree::lanes_of(LaneNode n) const {
  const std::size_t one = 1;
  return {n.index * (one << n.level), std::min<std::size_t>((n.index + one) << n.level, lanes_)};
}

std::vector<LaneNode> LaneTree::cover(Interval lanes) const {
  std::vector<LaneNode> nodes;
  while (!lanes.empty()) {
    LaneNode n{0, static_cast<unsigned>(lanes.begin)};
    while (n.level < depth() && n.index % 2 == 0 && lanes_of(n.parent()).end <= lanes.end)
      n = n.parent();
    nodes.push_back(n);
    lanes.begin = lanes_of(n).end;
  }
  return nodes;
}

Interval lanes_of_rank(unsigned lanes, unsigned rank, unsigned world) {
  const auto first = [&](std::uint64_t r) { return (r * lanes + world - 1) / world; };
  return {first(rank), first(rank + std::uint64_t{1})};
}

Interval samples_of_lane(std::size_t samples, unsigned lane, unsigned lanes) {
  // samples * lane / lanes, without a product that may be too large.
  const std::size_t each = samples / lanes, rest = samples % lanes;
  const auto first = [&](std::size_t k) { return each * k + rest * k / lanes; };
  return {first(lane), first(lane + std::size_t{1})};
}

}  // namespace dynet
