#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dynet-like/distributed/gradient_adder.h"
#include "dynet-like/distributed/lanes.h"

namespace dynet {

/// Adds up the gradients of one process' lanes, each as soon as it is complete, along the tree of
/// all lanes. A lane's gradients are in the buffer with its number: of the CPU, of a device, or of
/// several, which are then added up on the CPU.
///
/// When a node's second child is complete the one is added to the other and its memory is free for
/// the next lane, so that lanes done in order by one thread, or by T threads, need memory for about
/// log2 of their number, plus 1, or plus T, gradients: it is the carry of a binary counter. Two
/// sums on one device are added there, and all others on the CPU; the bits are the same.
class LaneGradients {
 public:
  LaneGradients(GradientBuffers& buffers, GradientAdder& adder, const LaneTree& tree, Interval own);

  /// The gradients of this lane are complete. May be called by several threads at once.
  void done(unsigned lane);
  /// Places of the gradients of lanes.
  struct Places {
    bool cpu = false;                         ///< those of some, or a part of them
    std::shared_ptr<DeviceAllocator> device;  ///< the first one; null: none were on a device
  };
  /// Lanes that are not done count as done. Returns the nodes of `cover(own)` and their buffers,
  /// null: nothing; no other numbered buffer has gradients then.
  std::vector<std::pair<LaneNode, GradientBuffer*>> finish();
  /// Places of the lanes in the last `finish`.
  const Places& places() const { return finished_places_; }
  /// Drops all gradients, and forgets which lanes are done.
  void drop();
  bool is_done(unsigned lane) const { return done_[lane - own_.begin]; }
  /// The same gradients in the CPU's memory.
  GradientBuffer& on_host(GradientBuffer& buffer);

 private:
  GradientBuffer* take(unsigned lane);
  void note_places(const std::vector<GradientBuffer*>& parts);
  GradientBuffer* sum(GradientBuffer& to, GradientBuffer& more);

  GradientBuffers& buffers_;
  GradientAdder& adder_;
  const LaneTree& tree_;
  Interval own_;
  std::vector<LaneNode> cover_;
  std::mutex mutex_;
  std::map<LaneNode, GradientBuffer*> waiting_;  // nodes whose sibling is not complete
  std::vector<char> done_;
  Places places_, finished_places_;
};

}  // namespace dynet
