#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dynet-like/base/device_allocator.h"

namespace dynet {

namespace cuda {
struct UpdateRule;  // kernels/cuda/update.h
}

/// Constants of a rule during one update: rates, decays, corrections.
using TrainerConstants = std::array<float, 6>;

/// Values of one parameter that are updated alike. Values, gradients and state are in the updater's
/// memory; the lists of rows and addresses are on the host and must outlive `Updater::update`.
struct UpdatePart {
  static constexpr std::size_t kMaxState = 4;

  std::size_t n;             ///< number of values; with `rows`: of one row
  float decay_factor;        ///< multiplied into the new value: 1 - weight decay
  float* w;                  ///< the first value of the parameter
  const float* g = nullptr;  ///< null: zero, or row_g
  float* state[kMaxState] = {};
  const std::uint32_t* rows = nullptr;  ///< rows of a table to update; null: all
  std::size_t count = 1;                ///< number of rows; 1 for other parameters
  float* const* row_g = nullptr;        ///< gradients of the rows; null: zero
};

/// Row gradients of a table, n numbers each, to be added to its whole-table gradient.
struct UnifiedRows {
  std::size_t n;
  std::vector<float*> to = {};
  std::vector<const float*> from = {};
};

/// One update, in this order.
struct Update {
  std::vector<UnifiedRows> unify;    ///< tables used both by rows and as a whole
  bool checks_norm = false;          ///< whether to check the norm of all gradients in `steps`
  double threshold = 0;              ///< with `checks_norm`: gradients are clipped to it
  std::vector<UpdatePart> steps;     ///< parts updated by the rule
  std::vector<UpdatePart> decays;    ///< parts with w <- decay_factor w alone
  std::vector<UpdatePart> averages;  ///< state[0] <- state[0] + average (w - state[0])
  float average = 0;

  const cuda::UpdateRule* rule = nullptr;  ///< kernel of the rule, for devices
  TrainerConstants constants{};
  float scale = 1;  ///< factor of all gradients

  /// Clears all lists but keeps their memory.
  void clear() {
    for (auto* parts : {&steps, &decays, &averages}) parts->clear();
    unify.clear();
    checks_norm = false;
  }
};

/// Factor that scales gradients to a norm of at most `threshold`; `norm` includes `scale`.
inline float clipped_scale(float scale, double norm, double threshold) {
  return norm <= threshold ? scale
                           : static_cast<float>(static_cast<double>(scale) * (threshold / norm));
}

/// Outcome of an update that checked the norm. An infinite or NaN norm means that nothing was
/// changed.
struct UpdateOutcome {
  double norm;           ///< including `scale`
  std::size_t bad_step;  ///< first step without a finite norm, if there is one
};

/// Runs updates on the CPU or on a device. On a device calls are asynchronous: an update runs after
/// all work started earlier and before all work started later.
class Updater {
 public:
  virtual ~Updater() = default;
  /// Allocator of the device; null: the CPU's.
  virtual const std::shared_ptr<DeviceAllocator>& memory() = 0;
  /// Starts an update. Throws OutOfMemoryError before starting anything; DeviceError.
  virtual void update(const Update& update) = 0;
  /// Waits for the last update that checked the norm and returns its outcome.
  virtual UpdateOutcome outcome() = 0;
};

}  // namespace dynet
