#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dynet-like/base/memory_source.h"
#include "dynet-like/param/update_rules.h"

namespace dynet {

namespace cuda {
struct UpdateRule;  // kernels/cuda/update.h
}

/// Values of a parameter that take an update alike. The numbers lie on a device; lists of rows and
/// of addresses are the host's, and needed until `Updater::update` returns.
struct UpdatePart {
  static constexpr std::size_t kMaxState = 3;

  std::size_t n;             ///< how many values; of a row, if there are rows
  float keep;                ///< multiplied into the new value: 1 - weight decay
  float* w;                  ///< the first value of the parameter
  const float* g = nullptr;  ///< null: zero
  float* state[kMaxState] = {};
  const std::uint32_t* rows = nullptr;  ///< of a table: only these; null: all values
  std::size_t count = 1;                ///< how many rows
  float* const* row_g = nullptr;        ///< their gradients; null: zero
};

/// One update on a device, in this order.
struct DeviceUpdate {
  std::vector<UpdatePart> sums;    ///< gradients of rows that are added to that of the table, `w`
  bool looks = false;              ///< at the norm of the gradients of `steps`, all in all
  double threshold = 0;            ///< if it looks: gradients are scaled down to this norm
  std::vector<UpdatePart> steps;   ///< by the rule
  std::vector<UpdatePart> decays;  ///< w <- keep w, nothing else

  const cuda::UpdateRule* rule = nullptr;
  TrainerConstants constants{};
  float scale = 1;  ///< gradients count times this
};

/// What came of an update that looked. If the norm was not finite it has changed nothing.
struct UpdateOutcome {
  double norm;           ///< `scale` included
  std::size_t bad_step;  ///< if it is not finite: the first of the steps to blame
};

/// What a trainer asks of a device. Updates come after all work that was started there before, and
/// before all that is started later; nobody waits.
class Updater {
 public:
  virtual ~Updater() = default;
  virtual const std::shared_ptr<MemorySource>& memory() = 0;
  /// Starts an update. Throws DeviceError, OutOfMemoryError.
  virtual void update(const DeviceUpdate& update) = 0;
  /// Of the last update that looked, when it is done.
  virtual UpdateOutcome outcome() = 0;
};

}  // namespace dynet
