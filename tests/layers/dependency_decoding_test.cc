#include <ctime>

#include "tests/layers/decoding.h"
#include "tests/support/all_trees.h"

namespace dependency_decoding_test {

using namespace dynet;
using namespace decoding;
using test::kRules;

namespace {

enum class Numbers { any, whole, bits };  // many sums of whole numbers are equal

ArcScores some_arcs(unsigned words, std::uint64_t key, Numbers numbers = Numbers::any,
                    double forbids = 0) {
  const RandomStream random(key);
  ArcScores s{words, {}};
  for (unsigned i = 0; i < (words + 1) * (words + 1); ++i) {
    double x = 2 * random.normal(2 * i);
    if (numbers == Numbers::whole) x = std::round(x / 2);
    if (numbers == Numbers::bits) x = x > 0.5;
    s.scores.push_back(random.uniform(2 * i + 1) < forbids ? kForbidden : static_cast<float>(x));
  }
  return s;
}

std::vector<ScoredTree> ranked(const ArcScores& s, DependencyRules rules) {
  std::vector<ScoredTree> all;
  for (const auto& heads : test::all_trees(s.words, rules)) {
    double score = 0;
    for (unsigned d = 1; d <= s.words; ++d) score += s.arc(heads[d - 1], d);
    all.push_back({heads, score});
  }
  return best_first(all);
}

}  // namespace

TEST_CASE("dependency decoding: the n best of all trees, in order, ties lexicographically") {
  Counts counts;
  std::size_t none = 0;
  for (std::uint64_t key = 0; key < 300; ++key)
    for (const DependencyRules rules : kRules) {
      const auto words = static_cast<unsigned>(key % (key < 294 ? 6 : 7));
      const ArcScores s =
          some_arcs(words, key, static_cast<Numbers>(key / 6 % 3), key % 4 == 0 ? 0.4 : 0);
      const std::vector<ScoredTree> all = ranked(s, rules);
      INFO(words << " words, " << rules.projective << rules.single_root << ", draw " << key);
      none += all.empty();
      CHECK(best_tree(s, rules) == (all.empty() ? std::vector<unsigned>() : all[0].heads));
      for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{3}, all.size() + 2}) {
        n = std::min<std::size_t>(n, 200);
        check_n_best(best_trees(s, n, rules), n, all, &ScoredTree::heads, counts);
      }
    }
  CHECK(counts.checked > 5000);
  CHECK(counts.ties > 1000);
  CHECK(none > 5);
}

TEST_CASE("dependency decoding: one root, where the first one found is wrong") {
  // Without the rule both words hang from the root; the better of these arcs makes the worse tree.
  const float x = kForbidden;
  const ArcScores s{2, {x, x, x, 10, x, 1, 9, -5, x}};
  CHECK(best_tree(s, {false, false}) == std::vector<unsigned>{0, 0});
  CHECK(best_tree(s, {false, true}) == std::vector<unsigned>{2, 0});
  CHECK(best_tree(s, {true, true}) == std::vector<unsigned>{2, 0});
  // Huge scores leave room for no penalty.
  ArcScores huge = s;
  for (float& v : huge.scores) v *= 1e30f;
  CHECK(best_tree(huge, {false, true}) == std::vector<unsigned>{2, 0});
}

TEST_CASE("dependency decoding: scores of another size are refused by the function called") {
  const ArcScores wrong{2, {0, 0, 0}};
  CHECK_THROWS_WITH(best_tree(wrong), Catch::StartsWith("best_tree:"));
  CHECK_THROWS_WITH(best_trees(wrong, 2), "best_trees: 2 words have 9 scores of arcs, got 3");
  CHECK_THROWS_WITH(sample_tree(wrong, 1), Catch::StartsWith("sample_tree:"));
}

TEST_CASE("dependency decoding: the best tree of a long sentence is the first of many") {
  for (std::uint64_t key = 0; key < 3; ++key)
    for (const DependencyRules rules : kRules) {
      const ArcScores s = some_arcs(25, key, static_cast<Numbers>(key), key % 3 == 0 ? 0.3 : 0);
      const std::vector<ScoredTree> best = best_trees(s, 4, rules);
      REQUIRE(best.size() == 4);
      CHECK(best_tree(s, rules) == best[0].heads);
      for (std::size_t k = 0; k < 4; ++k) {
        const DependencyAttr trees{rules.projective, rules.single_root};
        CHECK(is_dependency_tree(best[k].heads.data(), 25, trees));
        for (std::size_t l = 0; l < k; ++l) {
          CHECK(best[l].score >= best[k].score);
          CHECK(best[l].heads != best[k].heads);
        }
      }
    }
}

TEST_CASE("dependency decoding: ties take no more time") {
  constexpr unsigned kWords = 300;
  const auto scores = [](auto score) {
    ArcScores s{kWords, {}};
    for (unsigned i = 0; i < (kWords + 1) * (kWords + 1); ++i) s.scores.push_back(score(i));
    return s;
  };
  const RandomStream random(3);
  const ArcScores all[] = {
      scores([&](unsigned i) { return static_cast<float>(random.normal(i)); }),
      scores([&](unsigned i) { return static_cast<float>(std::round(2 * random.normal(i))); }),
      scores([&](unsigned i) { return random.uniform(i) < 0.5 ? 0.0f : 1.0f; }),
      // Words that alternate, as in "a dog a dog".
      scores([&](unsigned i) { return static_cast<float>(i % (kWords + 1) % 2 + i / 301 % 2); }),
      scores([](unsigned) { return 0.0f; })};
  for (const ArcScores& s : all)
    for (const DependencyRules rules : kRules) {
      const std::clock_t begin = std::clock();
      const std::vector<unsigned> heads = best_tree(s, rules);
      CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 10);
      REQUIRE(heads.size() == kWords);
      CHECK(is_dependency_tree(heads.data(), kWords, {rules.projective, rules.single_root}));
      if (&s != std::end(all) - 1) continue;
      std::vector<unsigned> first(kWords, rules.single_root ? 1 : 0);
      first[0] = 0;
      CHECK(heads == first);
    }
}

TEST_CASE("dependency decoding: samples come as often as they are probable") {
  for (const DependencyRules rules : kRules)
    for (const bool forbids : {false, true}) {
      INFO(rules.projective << rules.single_root << forbids);
      const ArcScores s = some_arcs(4, forbids ? 19 : 42, Numbers::any, forbids ? 0.2 : 0);
      const std::vector<ScoredTree> all = ranked(s, rules);
      REQUIRE(all.size() > 4);
      check_samples(all, &ScoredTree::heads,
                    [&](unsigned key) { return sample_tree(s, key, rules); });
    }
}

TEST_CASE("dependency decoding: no words, one word, and no tree") {
  for (const DependencyRules rules : kRules) {
    CHECK(best_tree({0, {0}}, rules).empty());
    CHECK(best_trees({0, {0}}, 3, rules).size() == 1);
    CHECK(sample_tree({0, {0}}, 1, rules).empty());
    CHECK(best_tree({1, {0, 0, 3, 0}}, rules) == std::vector<unsigned>{0});
    CHECK(best_trees({1, {0, 0, 3, 0}}, 5, rules).size() == 1);
    CHECK(sample_tree({1, {0, 0, -1e4f, 0}}, 1, rules) == std::vector<unsigned>{0});
    const ArcScores never{2, std::vector<float>(9, kForbidden)};
    CHECK(best_tree(never, rules).empty());
    CHECK(best_trees(never, 3, rules).empty());
    CHECK(sample_tree(never, 1, rules).empty());
    ArcScores cycle = never;  // the words are each other's heads
    cycle.scores[3 + 2] = cycle.scores[6 + 1] = 1;
    CHECK(best_tree(cycle, rules).empty());
    CHECK(sample_tree(cycle, 1, rules).empty());
  }
}

TEST_CASE("dependency decoding: scores far apart") {
  for (const DependencyRules rules : kRules) {
    ArcScores s = some_arcs(6, 5);
    for (std::size_t k = 0; k < s.scores.size(); ++k)
      s.scores[k] = k % 3 == 0 ? 1e4f : k % 3 == 1 ? -1e4f : s.scores[k];
    const std::vector<ScoredTree> all = ranked(s, rules);
    CHECK(best_tree(s, rules) == all[0].heads);
    const std::vector<unsigned> heads = sample_tree(s, 3, rules);
    double score = 0;
    for (unsigned d = 1; d <= 6; ++d) score += s.arc(heads[d - 1], d);
    CHECK(score > all[0].score - 40);
  }
}

}  // namespace dependency_decoding_test
