#pragma once

#include "tests/support/prelude.h"
#include "tests/support/segments.h"

/// Parts of the tests of decoding: scores, and answers against those of all that there are.
namespace decoding {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// A source of scores that depend on the key alone: numbers, or whole ones, of which many sums are
/// equal; some of them forbid.
inline auto score_source(std::uint64_t key, bool whole, bool forbids) {
  return [=, random = dynet::RandomStream(key), draws = std::uint64_t{0}](std::size_t n) mutable {
    std::vector<float> v;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = 2 * random.normal(draws++);
      const bool never = forbids && random.uniform(draws++) < 0.2;
      v.push_back(never ? kForbidden : static_cast<float>(whole ? std::round(x / 2) : x));
    }
    return v;
  };
}

/// Those that are not forbidden, the best first, of equal ones the first.
template <class Scored>
std::vector<Scored> best_first(std::vector<Scored> all) {
  std::erase_if(all, [](const Scored& y) { return y.score == double(kForbidden); });
  std::stable_sort(all.begin(), all.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return all;
}

struct Counts {
  std::size_t checked = 0, ties = 0;
};

/// The n best are the first n of all, in order.
template <class Scored, class Answer>
void check_n_best(const std::vector<Scored>& best, std::size_t n, const std::vector<Scored>& all,
                  Answer Scored::*answer, Counts& counts, double tolerance = 0) {
  REQUIRE(best.size() == std::min(n, all.size()));
  for (std::size_t k = 0; k < best.size(); ++k) {
    CHECK(best[k].*answer == all[k].*answer);
    CHECK(best[k].score == Approx(all[k].score).epsilon(tolerance).margin(tolerance));
    counts.ties += k > 0 && best[k].score == best[k - 1].score;
    ++counts.checked;
  }
}

/// Samples, of a key each, are among all answers, and come as often as they are probable.
template <class Scored, class Answer, class Sample>
void check_samples(const std::vector<Scored>& all, Answer Scored::*answer, Sample sample) {
  constexpr unsigned kDraws = 20000;
  double z = 0;
  for (const Scored& y : all) z += std::exp(y.score);
  std::vector<unsigned> seen(all.size());
  for (unsigned key = 0; key < kDraws; ++key) {
    const Answer drawn = sample(key);
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const Scored& y) { return y.*answer == drawn; });
    REQUIRE(at != all.end());
    ++seen[static_cast<std::size_t>(at - all.begin())];
  }
  CHECK(sample(7) == sample(7));
  // Chi-square, with all that are seldom as one.
  double chi = 0, rest = 0, rest_seen = 0;
  unsigned cells = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double expected = std::exp(all[k].score) / z * kDraws;
    if (expected < 20) {
      rest += expected;
      rest_seen += seen[k];
      continue;
    }
    chi += (seen[k] - expected) * (seen[k] - expected) / expected;
    ++cells;
  }
  if (rest > 5) chi += (rest_seen - rest) * (rest_seen - rest) / rest;
  CHECK(cells > 2);
  CHECK(chi < cells + 4 * std::sqrt(2.0 * cells));  // its mean and four deviations
}

}  // namespace decoding
