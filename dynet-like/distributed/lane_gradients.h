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

/// Sums the gradients of one process's lanes along the tree of all lanes, each lane as soon as it
/// is complete. The gradients of a lane are in the buffers with its number: of the CPU, of one
/// device, or of several, which are then summed on the CPU.
///
/// When the second child of a node is complete it is added to the first, and its buffer is free for
/// the next lane. So N lanes that are completed in order by T threads need memory for about log2 N
/// + T gradients, like the carry of a binary counter. Two sums on one device are added there, all
/// others on the CPU, with the same bits.
class LaneGradients {
 public:
  LaneGradients(GradientBuffers& buffers, GradientAdder& adder, const LaneTree& tree, Interval own);

  /// Marks the gradients of a lane as complete. Thread-safe.
  void done(unsigned lane);
  /// Memories of the gradients of lanes.
  struct Places {
    bool cpu = false;                         ///< some gradients are on the CPU
    std::shared_ptr<DeviceAllocator> device;  ///< the first device; null: none
  };
  /// Treats all remaining lanes as done. Returns the nodes of `cover(own)` and their buffers (null:
  /// no gradients); no other numbered buffer has gradients then.
  std::vector<std::pair<LaneNode, GradientBuffer*>> finish();
  /// Memories of the lanes in the last `finish`.
  const Places& places() const { return finished_places_; }
  /// Drops all gradients and resets all lanes.
  void drop();
  bool is_done(unsigned lane) const { return done_[lane - own_.begin]; }
  /// Moves the gradients of a buffer to the CPU's memory.
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
