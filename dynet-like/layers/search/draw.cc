#include "dynet-like/layers/search/draw.h"

namespace dynet::nn_detail {
namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

double largest(std::span<const double> scores) {
  double m = kForbidden;
  for (const double s : scores) m = std::max(m, s);
  return m;
}

}  // namespace

double log_sum(std::span<const double> scores) {
  const double m = largest(scores);
  if (m == kForbidden) return m;
  double sum = 0;
  for (const double s : scores) sum += std::exp(s - m);
  return m + std::log(sum);
}

std::size_t draw_by_weight(std::span<const double> weights, double u) {
  double sum = 0;
  for (const double w : weights) sum += w;
  if (!(sum > 0)) return weights.size();
  double left = u * sum;
  std::size_t last = weights.size();  // last index with a weight, chosen if rounding leaves a rest
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = i;
    if (left < weights[i]) break;
    left -= weights[i];
  }
  return last;
}

std::size_t draw_by_score(std::span<const double> scores, double u) {
  const double m = largest(scores);
  if (m == kForbidden) return scores.size();
  std::vector<double> weights;
  weights.reserve(scores.size());
  for (const double s : scores) weights.push_back(std::exp(s - m));
  return draw_by_weight(weights, u);
}

}  // namespace dynet::nn_detail
