#pragma once

#include <cstddef>
#include <vector>

#include "dynet-like/distributed/lanes.h"

namespace dynet {

/// One message: some numbers of the sum at a node of the tree of lanes.
struct Transfer {
  unsigned from, to;
  LaneNode node;      ///< whose numbers
  Interval elements;  ///< which of the N numbers of a gradient
};

/// Addition by one process: some numbers of both children of a node.
struct Addition {
  unsigned rank;
  LaneNode node;
  Interval elements;
};

/// One round: all its messages may be on their way at once; then come its additions.
struct Round {
  std::vector<Transfer> transfers;
  std::vector<Addition> additions;
};

/// Messages by which N numbers are summed over all lanes, by exactly the additions of the tree, and
/// all processes have the sum.
///
/// Before it a process has the sum of each node of `cover(its lanes)`. First a reduce-scatter: a
/// round for each level of the tree, from below. The processes of a node's left child hold its
/// numbers, each some of them, and so do those of the right; of what a process holds it keeps a
/// part, sends the rest to the one that holds the same numbers of the other child, and adds what
/// that one sends for the part it keeps. With powers of two this is recursive halving (Thakur,
/// Rabenseifner and Gropp 2005). Then an allgather, the same messages in reverse with the sums in
/// them, but for numbers that the receiver has. At last, processes without lanes get all of it from
/// the next process below that has lanes.
///
/// With P processes and L lanes, powers of two and P <= L, each process sends and receives
/// 2N (P - 1) / P numbers, rounded, in 2 log2 P messages. For others, at each node whose lanes
/// belong to several processes each number travels at most once, and that is at most
/// (P - 1) (1 + ceil(log2 L) - floor(log2 P)) nodes; the allgather sends N (P - 1) numbers in all.
struct MessagePlan {
  std::vector<Round> reduce_scatter;  ///< round k makes the nodes of level k + 1
  std::vector<Round> allgather;       ///< from above; transfers of the root's numbers
};

/// A function of these three alone. Throws ArgumentError for a world of zero, and as LaneTree.
MessagePlan plan_messages(unsigned lanes, unsigned world, std::size_t numbers);

/// The largest number of nodes whose numbers travel, see MessagePlan.
std::size_t most_travelling_nodes(unsigned lanes, unsigned world);

}  // namespace dynet
