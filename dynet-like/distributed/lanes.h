#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <vector>

namespace dynet {

/// Numbers from `begin` to, not including, `end`.
struct Interval {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A node of the tree over lanes in which gradients are added up: the sum of lanes from
/// index 2^level on, 2^level of them or as many as there are.
struct LaneNode {
  unsigned level = 0, index = 0;

  LaneNode parent() const { return {level + 1, index / 2}; }
  LaneNode sibling() const { return {level, index ^ 1u}; }
  LaneNode left() const { return {level - 1, 2 * index}; }
  LaneNode right() const { return {level - 1, 2 * index + 1}; }
  friend auto operator<=>(const LaneNode&, const LaneNode&) = default;
};

/// The tree over `lanes` lanes, whose shape depends on that number alone: the balanced binary tree
/// over the next power of two, without the nodes that have no lane. A node with one child is that
/// child.
class LaneTree {
 public:
  /// Throws ArgumentError unless there is a lane, and there are at most 2^20.
  explicit LaneTree(unsigned lanes);

  unsigned lanes() const { return lanes_; }
  /// The level of the root: log2 of the number of lanes, rounded up.
  unsigned depth() const { return static_cast<unsigned>(std::bit_width(lanes_ - 1)); }
  LaneNode root() const { return {depth(), 0}; }
  /// The number of nodes of a level.
  unsigned width(unsigned level) const { return ((lanes_ - 1) >> level) + 1; }
  bool has(LaneNode n) const { return n.level <= depth() && n.index < width(n.level); }
  /// Whether it has two children, whose values are added up there.
  bool adds(LaneNode n) const { return n.level > 0 && has(n.right()); }
  /// The lanes below a node.
  Interval lanes_of(LaneNode n) const;
  /// The fewest nodes whose lanes are exactly these, in order: at most 2 log2 of their number.
  std::vector<LaneNode> cover(Interval lanes) const;

 private:
  unsigned lanes_;
};

/// The lanes of one process of `world`, consecutive ones; the numbers of two processes differ by at
/// most one. None if there are more processes than lanes, for some; rank 0 has always one.
Interval lanes_of_rank(unsigned lanes, unsigned rank, unsigned world);

/// The samples, of `samples`, that a lane gets: consecutive ones, and the numbers of two lanes
/// differ by at most one. Few samples are spread over all lanes, and so over all processes.
Interval samples_of_lane(std::size_t samples, unsigned lane, unsigned lanes);

/// An order of samples of these sizes, words say, in which lanes have about as much to do each, and
/// processes too, however many there are: sample number k of the minibatch is then `order[k]`. A
/// function of the sizes and the number of lanes.
std::vector<std::size_t> balanced_order(const std::vector<std::size_t>& sizes, unsigned lanes);

}  // namespace dynet
