#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <vector>

namespace dynet {

/// The half-open interval [begin, end).
struct Interval {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A node of the tree over lanes along which gradients are summed: lanes from index 2^level on,
/// 2^level of them or fewer at the end.
struct LaneNode {
  unsigned level = 0, index = 0;

  LaneNode parent() const { return {level + 1, index / 2}; }
  LaneNode sibling() const { return {level, index ^ 1u}; }
  LaneNode left() const { return {level - 1, 2 * index}; }
  LaneNode right() const { return {level - 1, 2 * index + 1}; }
  friend auto operator<=>(const LaneNode&, const LaneNode&) = default;
};

/// The tree over `lanes` lanes; its shape depends only on that number. It is the balanced binary
/// tree over the next power of two, without the nodes that have no lane. A node with one child
/// equals its child.
class LaneTree {
 public:
  /// Throws ArgumentError unless `lanes` is in 1 ... 2^20.
  explicit LaneTree(unsigned lanes);

  unsigned lanes() const { return lanes_; }
  /// The level of the root: log2 of the number of lanes, rounded up.
  unsigned depth() const { return static_cast<unsigned>(std::bit_width(lanes_ - 1)); }
  LaneNode root() const { return {depth(), 0}; }
  /// Number of nodes of a level.
  unsigned width(unsigned level) const { return ((lanes_ - 1) >> level) + 1; }
  bool has(LaneNode n) const { return n.level <= depth() && n.index < width(n.level); }
  /// Returns whether a node has two children, whose values are added.
  bool adds(LaneNode n) const { return n.level > 0 && has(n.right()); }
  /// The lanes below a node.
  Interval lanes_of(LaneNode n) const;
  /// The fewest nodes that cover exactly these lanes, in order: at most 2 log2(lanes) nodes.
  std::vector<LaneNode> cover(Interval lanes) const;

 private:
  unsigned lanes_;
};

/// The consecutive lanes of one process; the numbers of lanes of two processes differ by at most
/// one. With more processes than lanes some are empty, but never that of rank 0.
Interval lanes_of_rank(unsigned lanes, unsigned rank, unsigned world);

/// The consecutive samples of a lane; the numbers of samples of two lanes differ by at most one.
/// Few samples are spread over all lanes, and so over all processes.
Interval samples_of_lane(std::size_t samples, unsigned lane, unsigned lanes);

/// An order of samples with given sizes, such as numbers of words, that balances the work of lanes
/// and of processes, for any number of processes: sample k of the minibatch is then `order[k]`. It
/// depends only on the sizes and the number of lanes.
std::vector<std::size_t> balanced_order(const std::vector<std::size_t>& sizes, unsigned lanes);

}  // namespace dynet
