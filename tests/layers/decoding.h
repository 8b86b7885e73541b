#pragma once

#include "tests/support/prelude.h"

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

}  // namespace decoding
