#pragma once

#include <cstddef>
#include <span>

// Draws by weights, for all that samples.

namespace dynet::nn_detail {

/// log sum e^score: minus infinity of none, and where all are.
double log_sum(std::span<const double> scores);

/// An index by its weight, where u is uniform in [0, 1). The number of weights if none is above
/// zero.
std::size_t draw_by_weight(std::span<const double> weights, double u);
/// The same by weights e^score.
std::size_t draw_by_score(std::span<const double> scores, double u);

}  // namespace dynet::nn_detail
