#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "dynet-like/distributed/lanes.h"
#include "dynet-like/param/gradients.h"

namespace dynet {

/// `to` += `from`, element by element. What only one of them has comes from that one: what is
/// missing counts as nothing, and not as a zero. Both on the CPU.
void add_gradients(GradientBuffer& to, GradientBuffer& from);

/// Adds up the gradients of one process' lanes, each as soon as it is complete, along the tree of
/// all lanes. A lane's gradients are in the buffer with its number.
///
/// When a node's second child is complete the one is added to the other and its memory is free for
/// the next lane, so that lanes done in order by one thread, or by T threads, need memory for about
/// log2 of their number, plus 1, or plus T, gradients: it is the carry of a binary counter.
class LaneGradients {
 public:
  LaneGradients(GradientBuffers& buffers, const LaneTree& tree, Interval own);

  /// The gradients of this lane are complete. May be called by several threads at once.
  void done(unsigned lane);
  /// What is not done counts as done. Returns the nodes of `cover(own)` and their buffers, null:
  /// nothing; no other numbered buffer has gradients then.
  std::vector<std::pair<LaneNode, GradientBuffer*>> finish();
  /// Drops all gradients, and forgets which lanes are done.
  void drop();
  bool is_done(unsigned lane) const { return done_[lane - own_.begin]; }

 private:
  GradientBuffer* take(unsigned lane);

  GradientBuffers& buffers_;
  const LaneTree& tree_;
  Interval own_;
  std::vector<LaneNode> cover_;
  std::mutex mutex_;
  std::map<LaneNode, GradientBuffer*> waiting_;  // nodes whose sibling is not complete
  std::vector<char> done_;
};

}  // namespace dynet
