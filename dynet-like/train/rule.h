#pragma once

#include <cstddef>

#include "dynet-like/base/isa.h"
#include "dynet-like/base/required.h"
#include "dynet-like/param/updater.h"

namespace dynet {

namespace cuda {
struct UpdateRule;  // kernels/cuda/update.h
}

/// Contiguous values of one parameter in an update. The arrays do not overlap.
struct TrainerSlice {
  static constexpr std::size_t kMaxArrays = 4;

  std::size_t n;
  float* w;
  const float* g;  ///< null: zero; not null for a trainer without state
  float* state[kMaxArrays];
  const float* c;      ///< the TrainerConstants of this update
  float scale;         ///< factor of the gradient
  float decay_factor;  ///< 1 - weight decay, multiplied into the new value
};

/// Implementation of a trainer's rule on a device.
struct DeviceRule {
  const cuda::UpdateRule* kernel;  ///< null if there is none, or in a library without CUDA
  const char* why_not;             ///< reason for a missing kernel

  /// Runs this kernel.
  static constexpr DeviceRule by(const cuda::UpdateRule* kernel) { return {kernel, nullptr}; }
  /// Runs on the host; values, gradients and state are copied there and back.
  static constexpr DeviceRule never(const char* reason) { return {nullptr, reason}; }
};

/// Update rule of a trainer, as plain functions without state of their own.
struct TrainerRule {
  /// Number of state arrays per parameter, each of the parameter's size, at most
  /// TrainerSlice::kMaxArrays. State starts as zero; a rule must not change a value that never had
  /// a gradient.
  std::size_t arrays;
  PerIsa<void (*)(const TrainerSlice& s)> apply;
  Required<DeviceRule> device;
  /// True if the values of a parameter, or of a table row, depend on each other: slices are then
  /// whole parameters or rows.
  bool whole = false;
};

}  // namespace dynet
