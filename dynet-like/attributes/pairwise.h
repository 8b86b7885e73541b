#pragma once

#include <limits>

namespace dynet {

/// The smallest probability of which binary_log_loss takes the logarithm, and that logarithm; and
/// the smallest 1 - x that divides its gradient.
inline constexpr double kLeastChance = std::numeric_limits<float>::min();
inline constexpr double kLogOfLeastChance = -87.33654475055310898657;
inline constexpr double kLeastRest = std::numeric_limits<float>::epsilon();

}  // namespace dynet
