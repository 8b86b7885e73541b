#pragma once

#include <limits>

namespace dynet {

/// Bounds of binary_log_loss: the smallest argument of its logarithms, the logarithm of that
/// argument, and the smallest 1 - x that divides the gradient.
inline constexpr double kLeastChance = std::numeric_limits<float>::min();
inline constexpr double kLogOfLeastChance = -87.33654475055310898657;
inline constexpr double kLeastRest = std::numeric_limits<float>::epsilon();

}  // namespace dynet
