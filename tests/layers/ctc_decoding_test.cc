#include "dynet-like/structures/ctc/ctc_decoding.h"

#include "tests/layers/decoding.h"

namespace ctc_decoding_test {

using namespace dynet;
using namespace decoding;

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Columns are log-probabilities, or whole numbers, of which many sums are equal.
CtcScores some_scores(unsigned symbols, unsigned frames, std::uint64_t key, unsigned blank = 0,
                      bool whole = false, bool forbids = false) {
  const RandomStream random(key);
  std::uint64_t draws = 0;
  CtcScores s{symbols, frames, {}, blank};
  for (unsigned t = 0; t < frames; ++t) {
    std::vector<double> column;
    double sum = 0;
    for (unsigned v = 0; v < symbols; ++v) {
      const double x = 2 * random.normal(draws++);
      const bool never = forbids && random.uniform(draws++) < 0.25;
      column.push_back(never ? kImpossible : whole ? std::round(x / 2) : x);
      sum += std::exp(column.back());
    }
    for (const double x : column)
      s.log_probs.push_back(static_cast<float>(whole || sum == 0 ? x : x - std::log(sum)));
  }
  return s;
}

/// All alignments, in lexicographic order.
std::vector<ScoredAlignment> all_alignments(const CtcScores& s) {
  std::vector<ScoredAlignment> all;
  for (const std::vector<Segment>& frames : test::all_ways(s.symbols, 1, s.frames)) {
    ScoredAlignment a{test::labels_of(frames), 0};
    for (unsigned t = 0; t < s.frames; ++t) a.score += s.score(t, a.symbols[t]);
    all.push_back(a);
  }
  return all;
}

/// All labels that are possible: the most probable first, of equal ones the lexicographically
/// first.
std::vector<ScoredLabels> all_labels(const CtcScores& s) {
  std::map<std::vector<unsigned>, double> sums;
  for (const ScoredAlignment& a : all_alignments(s))
    if (a.score > kImpossible) sums[ctc_collapse(a.symbols, s.blank)] += std::exp(a.score);
  std::vector<ScoredLabels> all;
  for (const auto& [labels, sum] : sums) all.push_back({labels, std::log(sum)});
  std::stable_sort(all.begin(), all.end(), [](const ScoredLabels& a, const ScoredLabels& b) {
    return a.score > b.score + 1e-12;
  });
  return all;
}

}  // namespace

TEST_CASE("ctc decoding: alignments without repeats and blanks") {
  using V = std::vector<unsigned>;
  CHECK(ctc_collapse(V{}) == V{});
  CHECK(ctc_collapse(V{0, 0}) == V{});
  CHECK(ctc_collapse(V{1, 1, 0, 1, 2, 2, 0}) == V{1, 1, 2});
  CHECK(ctc_collapse(V{1, 1, 0, 1, 2, 2, 0}, 2) == V{1, 0, 1, 0});
}

TEST_CASE("ctc decoding: a beam that is wide enough finds the n best of all labels") {
  Counts counts;
  for (std::uint64_t key = 0; key < 50; ++key) {
    const unsigned symbols = 1 + static_cast<unsigned>(key % 4);
    const auto frames = static_cast<unsigned>(key % 6);
    const CtcScores s = some_scores(symbols, frames, key, static_cast<unsigned>(key % symbols),
                                    false, key % 5 == 0);
    const std::vector<ScoredLabels> all = all_labels(s);
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, all.size() + 2}) {
      INFO("key " << key << ", " << n << " best");
      const auto best = ctc_beam_search(s, {.width = 5000, .n = n});
      check_n_best(best, n, all, &ScoredLabels::labels, counts, 1e-10);
    }
  }
  CHECK(counts.checked > 800);
}

TEST_CASE("ctc decoding: of equal labels the lexicographically first, of a narrow beam the best") {
  const CtcScores uniform{4, 3, std::vector<float>(12, 0.0f), 0};
  const std::vector<ScoredLabels> best = ctc_beam_search(uniform, {.width = 1000, .n = 1000});
  CHECK(best.size() == all_labels(uniform).size());
  CHECK(best[0].labels == std::vector<unsigned>{1});  // 6 alignments of each single label
  CHECK(best[1].labels == std::vector<unsigned>{2});
  for (std::size_t k = 1; k < best.size(); ++k)
    CHECK((best[k - 1].score > best[k].score || best[k - 1].labels < best[k].labels));
  // After one frame the blank and two labels; the most probable of them stays.
  const float a = std::log(0.4f), b = std::log(0.35f), c = std::log(0.25f);
  const CtcScores narrow{3, 2, {a, b, c, c, b, a}, 0};
  CHECK(ctc_beam_search(narrow, {.width = 1})[0].labels == std::vector<unsigned>{2});
  CHECK(ctc_beam_search(narrow)[0].labels == std::vector<unsigned>{1});
  CHECK(ctc_beam_search(narrow, {.width = 0}).empty());
  CHECK(ctc_beam_search(narrow, {.n = 0}).empty());
}

TEST_CASE("ctc decoding: scores of prefixes count, in the end too") {
  Counts counts;
  for (std::uint64_t key = 0; key < 10; ++key) {
    const CtcScores s = some_scores(3, 5, key);
    // A bigram model, which forbids to repeat the label 2, and labels that must not end in 1.
    const auto score = [](std::span<const unsigned> y, unsigned next) {
      if (next == 2 && !y.empty() && y.back() == 2) return kImpossible;
      return 0.5 * next - 0.25 * static_cast<double>(y.size());
    };
    const auto finish = [](std::span<const unsigned> y) {
      return !y.empty() && y.back() == 1 ? kImpossible : 0.125;
    };
    std::vector<ScoredLabels> all;
    for (ScoredLabels y : all_labels(s)) {
      for (std::size_t k = 0; k < y.labels.size(); ++k)
        y.score += score(std::span(y.labels).first(k), y.labels[k]);
      y.score += finish(y.labels);
      if (y.score > kImpossible) all.push_back(y);
    }
    std::stable_sort(all.begin(), all.end(), [](const ScoredLabels& a, const ScoredLabels& b) {
      return a.score > b.score;
    });
    const std::vector<ScoredLabels> best =
        ctc_beam_search(s, {.width = 5000, .n = 5000, .extend = score, .finish = finish});
    check_n_best(best, all.size(), all, &ScoredLabels::labels, counts, 1e-10);
    // A narrow beam, where prefixes go and come back, asks for no other sums.
    for (const std::size_t width : {1u, 2u, 4u})
      for (const ScoredLabels& y :
           ctc_beam_search(s, {.width = width, .n = width, .extend = score, .finish = finish})) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const ScoredLabels& other) {
          return other.labels == y.labels;
        });
        REQUIRE(same != all.end());
        CHECK(y.score <= same->score + 1e-9);
      }
  }
}

TEST_CASE("ctc decoding: prefixes that come back into the beam are the same prefixes") {
  for (std::uint64_t key = 0; key < 40; ++key)
    for (const std::size_t width : {2u, 3u, 5u}) {
      const CtcScores s = some_scores(4, 12, key);
      std::vector<ScoredLabels> best = ctc_beam_search(s, {.width = width, .n = width});
      REQUIRE(best.size() == width);
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(best[i].labels != best[j].labels);
    }
}

TEST_CASE("ctc decoding: the best path and the best alignment are those of all alignments") {
  std::size_t possible = 0, ties = 0;
  for (std::uint64_t key = 0; key < 60; ++key) {
    const unsigned symbols = 2 + static_cast<unsigned>(key % 3);
    const auto frames = static_cast<unsigned>(key % 6), blank = static_cast<unsigned>(key % 2);
    const CtcScores s = some_scores(symbols, frames, key, blank, key % 3 > 0, key % 4 == 0);
    std::map<std::vector<unsigned>, ScoredAlignment> best;
    ScoredAlignment path{{}, kImpossible};
    for (const ScoredAlignment& a : all_alignments(s)) {
      if (path.symbols.empty() || a.score > path.score) path = a;
      const auto [at, fresh] = best.try_emplace(ctc_collapse(a.symbols, blank), a);
      ties += !fresh && a.score == at->second.score;
      if (a.score > at->second.score) at->second = a;
    }
    if (path.score > kImpossible) {
      CHECK(ctc_best_path(s).symbols == path.symbols);
      CHECK(ctc_best_path(s).score == Approx(path.score).margin(1e-12));
    }
    for (const auto& [labels, a] : best) {
      const ScoredAlignment found = ctc_best_alignment(s, labels);
      INFO("key " << key);
      if (a.score > kImpossible) {
        CHECK(found.symbols == a.symbols);
        CHECK(found.score == Approx(a.score).margin(1e-12));
        ++possible;
      } else {
        CHECK(found.symbols.empty());
        CHECK(found.score == kImpossible);
      }
    }
  }
  CHECK(possible > 1000);
  CHECK(ties > 1000);
  const std::vector<unsigned> twice = {1, 1};
  CHECK(ctc_best_alignment(some_scores(2, 2, 1), twice).score == kImpossible);
  CHECK(ctc_best_alignment(some_scores(2, 0, 1), {}).score == 0);
  CHECK(ctc_best_alignment(some_scores(2, 0, 1), twice).score == kImpossible);
}

TEST_CASE("ctc decoding: samples come as often as they are probable") {
  const CtcScores s = some_scores(3, 4, 17);
  check_samples(all_labels(s), &ScoredLabels::labels,
                [&](unsigned key) { return ctc_sample(s, key); });
  CtcScores none = s;
  for (unsigned v = 0; v < 3; ++v) none.log_probs[3 + v] = kForbidden;
  CHECK(ctc_sample(none, 1).empty());
  CHECK(ctc_beam_search(none).empty());
}

TEST_CASE("CtcDecoder: finds in expressions what the functions find in numbers") {
  const CtcScores s = some_scores(4, 6, 3, 3);
  ComputationGraph g;
  const Expression x = input(g, {4, 6}, s.log_probs);
  const CtcDecoder decoder({.width = 5000}, 3);
  const std::vector<ScoredLabels> all = all_labels(s);
  CHECK(decoder.best(x) == all[0].labels);
  const std::vector<ScoredLabels> best = decoder.best(x, 5);
  REQUIRE(best.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(best[k].labels == all[k].labels);
    const Expression loss = ctc_loss(x, best[k].labels, {.blank = 3});
    CHECK(-as_scalar(loss.value()) == Approx(best[k].score).epsilon(1e-5));
  }
  CHECK(decoder.greedy(x) == ctc_collapse(ctc_best_path(s).symbols, 3));
  CHECK(decoder.align(x, all[1].labels).symbols == ctc_best_alignment(s, all[1].labels).symbols);
  CHECK(decoder.sample(x, 7) == ctc_sample(s, 7));
  CHECK_THROWS_WITH(decoder.best(zeros(g, Dim({4, 6}, 2))),
                    Catch::StartsWith("best: takes the log-probabilities of one utterance"));
  CHECK_THROWS_AS(decoder.best(zeros(g, {4, 2, 2})), ArgumentError);
  CHECK_THROWS_AS(decoder.greedy(zeros(g, {3, 6})), ArgumentError);
  CHECK_THROWS_AS(decoder.align(x, std::vector<unsigned>{4}), ArgumentError);
  CHECK_THROWS_AS(decoder.align(x, std::vector<unsigned>{3}), ArgumentError);
}

}  // namespace ctc_decoding_test
