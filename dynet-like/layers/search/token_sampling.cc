#include "dynet-like/layers/search/token_sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dynet-like/base/random.h"
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/layers/support.h"

namespace dynet {
namespace {

void check_score(const char* who, float x, SourceLocation at) {
  if (!(x < std::numeric_limits<float>::infinity()))
    nn_detail::fail(who, "a score must be a number, got " + std::to_string(x), at);
}

void check_temperature(const char* who, double temperature, SourceLocation at) {
  if (!(temperature >= 0) || std::isinf(temperature))
    nn_detail::fail(who, "a temperature must be zero or more, got " + std::to_string(temperature),
                    at);
}

}  // namespace

std::vector<double> sampling_probabilities(std::span<const float> scores,
                                           const SamplingSettings& settings, SourceLocation at) {
  const char* const who = "sampling_probabilities";
  check_temperature(who, settings.temperature, at);
  if (!(settings.top_p > 0 && settings.top_p <= 1))
    nn_detail::fail(
        who, "p must be above zero and at most one, got " + std::to_string(settings.top_p), at);
  float most = -std::numeric_limits<float>::infinity();
  for (const float x : scores) {
    check_score(who, x, at);
    most = std::max(most, x);
  }
  std::vector<double> p(scores.size(), 0.0);
  if (std::isinf(most)) return p;
  std::vector<std::size_t> order(scores.size());  // most probable first
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool all = settings.temperature > 0 && settings.top_k == 0 && settings.top_p == 1;
  if (!all)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::size_t kept = settings.temperature == 0 ? 1
                     : settings.top_k > 0      ? std::min(settings.top_k, order.size())
                                               : order.size();
  double sum = 0;
  for (std::size_t k = 0; k < kept; ++k) {
    const double above = static_cast<double>(scores[order[k]]) - static_cast<double>(most);
    p[order[k]] = settings.temperature == 0 ? 1 : std::exp(above / settings.temperature);
    sum += p[order[k]];
  }
  if (settings.top_p < 1) {
    double so_far = 0;
    for (std::size_t k = 0; k < kept; ++k) {
      if (so_far >= settings.top_p * sum)
        p[order[k]] = 0;
      else
        so_far += p[order[k]];
    }
    sum = so_far;
  }
  for (double& x : p) x /= sum;
  return p;
}

unsigned sample_token(std::span<const float> scores, std::uint64_t key,
                      const SamplingSettings& settings, SourceLocation at) {
  const std::vector<double> p = sampling_probabilities(scores, settings, at);
  return static_cast<unsigned>(nn_detail::draw_by_weight(p, RandomStream(key).uniform(0)));
}

std::vector<unsigned> sample_tokens_without_replacement(std::span<const float> scores,
                                                        std::size_t n, std::uint64_t key,
                                                        double temperature, SourceLocation at) {
  const char* const who = "sample_tokens_without_replacement";
  check_temperature(who, temperature, at);
  const RandomStream random(key);
  std::vector<double> noisy(scores.size());
  std::vector<unsigned> order;
  for (unsigned i = 0; i < scores.size(); ++i) {
    check_score(who, scores[i], at);
    if (std::isinf(scores[i])) continue;
    const double u = (static_cast<double>(random.bits(i) >> 12) + 0.5) * 0x1p-52;
    noisy[i] = static_cast<double>(scores[i]) - temperature * std::log(-std::log(u));
    order.push_back(i);
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(n, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](unsigned a, unsigned b) {
    return noisy[a] != noisy[b] ? noisy[a] > noisy[b] : a < b;
  });
  order.erase(end, order.end());
  return order;
}

namespace nn_detail {

void check_keys(std::size_t keys, std::size_t sequences, SourceLocation at) {
  if (keys != sequences)
    fail("sample_sequences",
         "needs a key for each of " + std::to_string(sequences) + " sequences, got " +
             std::to_string(keys),
         at);
}

std::uint64_t key_of_token(std::uint64_t key, std::size_t place) {
  return RandomStream(key).bits(place);
}

}  // namespace nn_detail
}  // namespace dynet
