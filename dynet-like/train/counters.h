#pragma once

#include <cstdint>
#include <ostream>

namespace dynet {

/// Counters of a trainer, since it was made and since its last `status`.
struct UpdateCounters {
  std::uint64_t clips = 0;    ///< updates whose gradients were scaled down
  std::uint64_t updates = 0;  ///< that were made
  std::uint64_t skipped = 0;  ///< that were left out
  std::uint64_t clips_since_status = 0;
  std::uint64_t updates_since_status = 0;
  std::uint64_t skipped_since_status = 0;

 protected:
  void count_clip() { ++clips, ++clips_since_status; }
  void count_update() { ++updates, ++updates_since_status; }
  void count_skip() { ++skipped, ++skipped_since_status; }
  /// The last update that was counted was not made.
  void uncount_update() {
    --updates;
    if (updates_since_status > 0) --updates_since_status;
  }
  /// ` clips=0 updates=12`, and ` skipped=1` if there are any; counted from now on.
  void take_status(std::ostream& out) {
    out << " clips=" << clips_since_status << " updates=" << updates_since_status;
    if (skipped_since_status) out << " skipped=" << skipped_since_status;
    clips_since_status = updates_since_status = skipped_since_status = 0;
  }
};

}  // namespace dynet
