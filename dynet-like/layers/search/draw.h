#pragma once

#include <cstddef>
#include <span>

// Sampling by weights.

namespace dynet::nn_detail {

/// log sum e^score; minus infinity for no scores or if all are minus infinity.
double log_sum(std::span<const double> scores);

/// Index drawn by weight, given u uniform in [0, 1). Returns the number of weights if none is above
/// zero.
std::size_t draw_by_weight(std::span<const double> weights, double u);
/// Index drawn by weights e^score; u and the result as in draw_by_weight.
std::size_t draw_by_score(std::span<const double> scores, double u);

}  // namespace dynet::nn_detail
