#pragma once

#include <cstddef>
#include <vector>

#include "dynet-like/distributed/lanes.h"

namespace dynet {

/// A message: a range of the sum at a node of the lane tree.
struct Transfer {
  unsigned from, to;
  LaneNode node;      ///< node of the sum
  Interval elements;  ///< range of the N numbers of a gradient
};

/// An addition by one process: a range of both children of a node.
struct Addition {
  unsigned rank;
  LaneNode node;
  Interval elements;
};

/// One round: its messages are concurrent; its additions come after them.
struct Round {
  std::vector<Transfer> transfers;
  std::vector<Addition> additions;
};

/// A plan of messages that sums N numbers over all lanes, by exactly the additions of the lane
/// tree, and gives all processes the sum.
///
/// At the start a process has the sums of the nodes in `cover(its lanes)`. The first phase is a
/// reduce-scatter with a round for each level of the tree, bottom-up. The processes of a node's
/// left child hold disjoint ranges of the child's numbers, and so do those of the right child. Two
/// processes with the same range exchange parts of it: each keeps a part, sends the rest, and adds
/// the received part to the kept one. For powers of two this is recursive halving (Thakur,
/// Rabenseifner and Gropp 2005). The second phase is an allgather: the same messages in reverse,
/// with the sums, without numbers that the receiver has. Finally, each process without lanes gets
/// all numbers from the next lower rank with lanes.
///
/// With P processes and L lanes, both powers of two and P <= L, each process sends and receives
/// 2N (P - 1) / P numbers, rounded, in 2 log2 P messages. In all other cases each number is sent at
/// most once for each node whose lanes belong to several processes, of which there are at most
/// (P - 1) (1 + ceil(log2 L) - floor(log2 P)); the allgather sends N (P - 1) numbers in all.
struct MessagePlan {
  std::vector<Round> reduce_scatter;  ///< round k computes the nodes of level k + 1
  std::vector<Round> allgather;       ///< top-down; transfers of the root's numbers
};

/// A pure function of its arguments. Throws ArgumentError for a world of zero, and as LaneTree.
MessagePlan plan_messages(unsigned lanes, unsigned world, std::size_t numbers);

/// The maximum number of nodes whose numbers are sent, see MessagePlan.
std::size_t most_travelling_nodes(unsigned lanes, unsigned world);

}  // namespace dynet
