#pragma once

#include <cstdint>
#include <ostream>

namespace dynet {

/// Counters of a trainer since its construction, and since the last `status`.
struct UpdateCounters {
  std::uint64_t clips = 0;    ///< updates whose gradients were scaled down
  std::uint64_t updates = 0;  ///< updates made
  std::uint64_t skipped = 0;  ///< updates skipped because of non-finite gradients
  std::uint64_t clips_since_status = 0;
  std::uint64_t updates_since_status = 0;
  std::uint64_t skipped_since_status = 0;

 protected:
  void count_clip() { ++clips, ++clips_since_status; }
  void count_update() { ++updates, ++updates_since_status; }
  void count_skip() { ++skipped, ++skipped_since_status; }
  /// Reverts `count_update` for an update that was found to have changed nothing.
  void uncount_update() {
    --updates;
    if (updates_since_status > 0) --updates_since_status;
  }
  /// Prints ` clips=0 updates=12`, and ` skipped=1` unless zero; resets the counters since the last
  /// status.
  void take_status(std::ostream& out) {
    out << " clips=" << clips_since_status << " updates=" << updates_since_status;
    if (skipped_since_status) out << " skipped=" << skipped_since_status;
    clips_since_status = updates_since_status = skipped_since_status = 0;
  }
};

}  // namespace dynet
