#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dynet-like/base/device_allocator.h"
#include "dynet-like/param/update_rules.h"

namespace dynet {

namespace cuda {
struct UpdateRule;  // kernels/cuda/update.h
}

/// Values of a parameter that take an update alike. The numbers lie where the updater works; lists
/// of rows and of addresses are the host's, and needed until `Updater::update` returns.
struct UpdatePart {
  static constexpr std::size_t kMaxState = 4;

  std::size_t n;             ///< how many values; of a row, if there are rows
  float decay_factor;        ///< multiplied into the new value: 1 - weight decay
  float* w;                  ///< the first value of the parameter
  const float* g = nullptr;  ///< null: zero, or row_g
  float* state[kMaxState] = {};
  const std::uint32_t* rows = nullptr;  ///< of a table: only these; null: all
  std::size_t count = 1;                ///< how many rows; of other parameters 1
  float* const* row_g = nullptr;        ///< their gradients; null: zero
};

/// Rows of a table's gradient, of n numbers each, that are added to that of the whole table.
struct UnifiedRows {
  std::size_t n;
  std::vector<float*> to = {};
  std::vector<const float*> from = {};
};

/// One update, in this order.
struct Update {
  std::vector<UnifiedRows> unify;    ///< of tables that were used by rows and as a whole
  bool checks_norm = false;          ///< of the gradients of `steps`, all together
  double threshold = 0;              ///< if it does: gradients are scaled down to this norm
  std::vector<UpdatePart> steps;     ///< by the rule
  std::vector<UpdatePart> decays;    ///< w <- decay_factor w, nothing else
  std::vector<UpdatePart> averages;  ///< state[0] <- state[0] + average (w - state[0])
  float average = 0;

  const cuda::UpdateRule* rule = nullptr;  ///< on a device
  TrainerConstants constants{};
  float scale = 1;  ///< gradients are multiplied by this

  /// Empties it, but keeps memory.
  void clear() {
    for (auto* parts : {&steps, &decays, &averages}) parts->clear();
    unify.clear();
    checks_norm = false;
  }
};

/// Factor of gradients with which their norm, `scale` included, is `threshold` at most.
inline float clipped_scale(float scale, double norm, double threshold) {
  return norm <= threshold ? scale
                           : static_cast<float>(static_cast<double>(scale) * (threshold / norm));
}

/// The outcome of an update that checked the norm. If the norm was not finite it has changed
/// nothing.
struct UpdateOutcome {
  double norm;           ///< `scale` included
  std::size_t bad_step;  ///< if it is not finite: the first of the steps to blame
};

/// Runs updates: on the CPU, or on a device. There they come after all work that was started
/// before, and before all that is started later; calls are asynchronous.
class Updater {
 public:
  virtual ~Updater() = default;
  /// Allocator of the device; null: the CPU's.
  virtual const std::shared_ptr<DeviceAllocator>& memory() = 0;
  /// Starts an update. Throws OutOfMemoryError, having started nothing; DeviceError.
  virtual void update(const Update& update) = 0;
  /// Outcome of the last update that checked the norm, when it is done.
  virtual UpdateOutcome outcome() = 0;
};

}  // namespace dynet
