#include "dynet-like/distributed/lanes.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

// Distributes samples, the largest first, to the two children of a node, each sample to the child
// with the smaller mean size so far; recursively.
class Dealer {
 public:
  Dealer(const std::vector<std::size_t>& sizes, unsigned lanes) : sizes_(sizes), tree_(lanes) {
    std::vector<std::size_t> all(sizes.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::stable_sort(all.begin(), all.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    deal(tree_.root(), std::move(all));
  }

  std::vector<std::size_t> order;

 private:
  std::size_t room(LaneNode n) const {
    const Interval lanes = tree_.lanes_of(n);
    const auto first = [&](std::size_t lane) {
      return lane == tree_.lanes()
                 ? sizes_.size()
                 : samples_of_lane(sizes_.size(), static_cast<unsigned>(lane), tree_.lanes()).begin;
    };
    return first(lanes.end) - first(lanes.begin);
  }

  void deal(LaneNode n, std::vector<std::size_t> samples) {
    if (samples.empty()) return;
    while (n.level > 0 && !tree_.adds(n)) n = n.left();
    if (n.level == 0) {
      order.insert(order.end(), samples.begin(), samples.end());
      return;
    }
    const std::size_t room_left = room(n.left()), room_right = samples.size() - room_left;
    std::vector<std::size_t> left, right;
    std::size_t size_left = 0, size_right = 0;
    for (const std::size_t s : samples) {
      // Compares means over the full rooms; missing samples count as size zero.
      const bool is_left =
          left.size() < room_left &&
          (right.size() == room_right || size_left * room_right <= size_right * room_left);
      (is_left ? left : right).push_back(s);
      (is_left ? size_left : size_right) += sizes_[s];
    }
    deal(n.left(), std::move(left));
    deal(n.right(), std::move(right));
  }

  const std::vector<std::size_t>& sizes_;
  LaneTree tree_;
};

}  // namespace

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
  const auto first = [&](std::uint64_t r) {
    return static_cast<std::size_t>((r * lanes + world - 1) / world);
  };
  return {first(rank), first(rank + std::uint64_t{1})};
}

Interval samples_of_lane(std::size_t samples, unsigned lane, unsigned lanes) {
  // samples * lane / lanes, without overflow of the product.
  const std::size_t each = samples / lanes, rest = samples % lanes;
  const auto first = [&](std::size_t k) { return each * k + rest * k / lanes; };
  return {first(lane), first(lane + std::size_t{1})};
}

std::vector<std::size_t> balanced_order(const std::vector<std::size_t>& sizes, unsigned lanes) {
  return Dealer(sizes, lanes).order;
}

}  // namespace dynet
