#pragma once

#include <limits>

namespace dynet {

/// Lower bound of probabilities in the logarithm of binary_log_loss, the logarithm of that bound,
/// and the lower bound of 1 - x as a divisor in its gradient.
inline constexpr double kLeastChance = std::numeric_limits<float>::min();
inline constexpr double kLogOfLeastChance = -87.33654475055310898657;
inline constexpr double kLeastRest = std::numeric_limits<float>::epsilon();

}  // namespace dynet
