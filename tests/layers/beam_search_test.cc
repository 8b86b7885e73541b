#include <iomanip>

#include "tests/support/prelude.h"

namespace beam_search_test {

using namespace dynet;

namespace {

using Tokens = std::vector<unsigned>;
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// A model whose log-probabilities are some function of what came before.
struct Model {
  unsigned tokens = 3;
  std::uint64_t key = 1;
  bool whole = false;    // whole numbers, of which many sums are equal
  bool forbids = false;  // some tokens

  std::vector<float> log_probs(const Tokens& before) const {
    std::uint64_t at = key;
    for (const unsigned t : before) at = mix_bits(at + t + 1);
    const RandomStream random(at);
    std::vector<float> x;
    float sum = 0;
    for (unsigned v = 0; v < tokens; ++v) {
      const float score = static_cast<float>(random.normal(2 * v));
      const bool never = forbids && random.uniform(2 * v + 1) < 0.3;
      x.push_back(never ? kNever : whole ? -std::abs(std::round(score)) : score);
      sum += std::exp(x.back());
    }
    if (!whole && sum > 0)
      for (float& v : x) v = std::min(v - std::log(sum), 0.0f);
    return x;
  }
};

struct Found {
  Tokens tokens;
  double log_prob, score;

  bool operator==(const Found&) const = default;
  friend std::ostream& operator<<(std::ostream& os, const Found& f) {
    for (const unsigned t : f.tokens) os << t << ' ';
    return os << std::setprecision(17) << f.log_prob << ' ' << f.score;
  }
};

double divisor(const BeamSettings& s, double length) {
  if (s.normalization == LengthNormalization::kPower) return std::pow(length, s.alpha);
  if (s.normalization == LengthNormalization::kGnmt) return std::pow((5 + length) / 6, s.alpha);
  return 1;
}

double penalty_of(const Tokens& tokens) {
  double sum = 0;
  for (const unsigned t : tokens) sum -= t % 2 ? 0.25 : 0.5;
  return sum;
}

bool is_allowed(const BeamSettings& s, const Tokens& prefix, std::size_t length, unsigned v) {
  if (length < prefix.size()) return v == prefix[length];
  return v == s.end ? length >= s.min_length : length < s.max_length;
}

void sort_best_first(std::vector<Found>& all) {
  std::sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.tokens < b.tokens;
  });
}

/// Beam search without an end before the last step; a wide one finds all there is.
std::vector<Found> naive_search(const Model& model, const BeamSettings& s, bool penalized) {
  const Tokens prefix = s.prefixes.empty() ? Tokens{} : s.prefixes[0];
  std::vector<Found> open = {{}}, ended;
  while (!open.empty()) {
    std::vector<Found> next;
    for (const Found& h : open) {
      const std::vector<float> x = model.log_probs(h.tokens);
      for (unsigned v = 0; v < x.size(); ++v) {
        if (!is_allowed(s, prefix, h.tokens.size(), v) || x[v] == kNever) continue;
        next.push_back(h);
        next.back().tokens.push_back(v);
        next.back().log_prob += static_cast<double>(x[v]);
        next.back().score = next.back().log_prob;
      }
    }
    sort_best_first(next);
    next.resize(std::min(next.size(), s.width - ended.size()));
    open.clear();
    for (Found& h : next) {
      if (h.tokens.back() != s.end) {
        open.push_back(h);
        continue;
      }
      h.score /= divisor(s, static_cast<double>(h.tokens.size()));
      h.tokens.pop_back();
      if (penalized) h.score += penalty_of(h.tokens);
      ended.push_back(h);
    }
  }
  sort_best_first(ended);
  ended.resize(std::min(ended.size(), s.n));
  return ended;
}

/// A step of a model; its state is all that it has seen.
auto step_of(const Model& model, ComputationGraph& cg, unsigned begin) {
  return [&model, &cg, begin](Tokens& seen, unsigned last) -> Expression {
    if (last != begin) seen.push_back(last);
    return input(cg, {model.tokens}, model.log_probs(seen));
  };
}

std::vector<Found> search(const Model& model, const BeamSettings& s, bool penalized = false) {
  ComputationGraph cg;
  const auto penalty = [&](const Tokens& seen) { return penalized ? penalty_of(seen) : 0.0; };
  const auto results = beam_search(std::vector<Tokens>(1), step_of(model, cg, s.begin), s, penalty);
  REQUIRE(results.size() == 1);
  std::vector<Found> found;
  for (const auto& h : results[0]) {
    CHECK(h.state == h.tokens);
    found.push_back({h.tokens, h.log_prob, h.score});
  }
  return found;
}

BeamSettings some_settings(std::uint64_t key, std::size_t width) {
  const RandomStream random(key);
  BeamSettings s;
  s.width = width;
  s.n = 1 + random.bits(0) % width;
  s.begin = 99;
  s.end = static_cast<unsigned>(random.bits(1) % 3);
  s.min_length = random.bits(2) % 3;
  s.max_length = s.min_length + random.bits(3) % 4;
  s.normalization = static_cast<LengthNormalization>(random.bits(4) % 3);
  s.alpha = 0.5 * static_cast<double>(random.bits(5) % 4);
  if (random.bits(6) % 3 == 0 && s.max_length > 1) s.prefixes = {{(s.end + 1) % 3}};
  return s;
}

}  // namespace

TEST_CASE("beam search: a beam that is wide enough finds all sequences, in order") {
  std::size_t sequences = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    INFO("key " << key);
    const Model model{3, key, key % 2 == 1, key % 5 == 0};
    BeamSettings s = some_settings(key, 1000);
    s.n = key % 3 ? 1000 : s.n;
    const std::vector<Found> expected = naive_search(model, s, key % 7 == 0);
    CHECK(search(model, s, key % 7 == 0) == expected);
    sequences += expected.size();
  }
  CHECK(sequences > 2000);
}

TEST_CASE("beam search: stops when nothing better can come, and not before") {
  for (std::uint64_t key = 0; key < 500; ++key) {
    INFO("key " << key);
    const Model model{3, key, key % 2 == 1, key % 5 == 0};
    const BeamSettings s = some_settings(key, 1 + key % 6);
    CHECK(search(model, s, key % 7 == 0) == naive_search(model, s, key % 7 == 0));
  }
}

TEST_CASE("beam search: nothing where all is impossible") {
  ComputationGraph cg;
  const auto step = [&](int&, unsigned) -> Expression { return input(cg, {2}, {kNever, kNever}); };
  const auto results = beam_search(std::vector<int>(2), step);
  CHECK(results.size() == 2);
  CHECK(results[0].empty());
  CHECK(beam_search(std::vector<int>(), step).empty());
}

TEST_CASE("beam search: sentences together are the same bits as alone") {
  const Model model{4, 7};
  ComputationGraph cg;
  BeamSettings s;
  s.begin = 99;
  s.width = s.n = 4;
  s.max_length = 9;
  s.normalization = LengthNormalization::kPower;
  const std::vector<Tokens> firsts = {{3}, {1}, {2, 1}, {}, {0, 0}, {2}, {1, 3}};
  const auto run = [&](const std::vector<Tokens>& starts) {
    std::vector<std::vector<Found>> found;
    for (const auto& sentence : beam_search(starts, step_of(model, cg, s.begin), s)) {
      found.emplace_back();
      for (const auto& h : sentence) found.back().push_back({h.tokens, h.log_prob, h.score});
    }
    return found;
  };
  const auto together = run(firsts);
  REQUIRE(together.size() == firsts.size());
  std::set<Tokens> different;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    CHECK(run({firsts[i]})[0] == together[i]);
    REQUIRE(together[i].size() == 4);
    different.insert(together[i][0].tokens);
  }
  CHECK(different.size() > 1);
}

TEST_CASE("beam search: each sentence may have a greatest length of its own") {
  const Model model{3, 4};
  ComputationGraph cg;
  BeamSettings s;
  s.begin = 99;
  const auto step = step_of(model, cg, s.begin);
  s.width = s.n = 1000;
  s.max_lengths = {2, 0, 3};
  const auto all = beam_search(std::vector<Tokens>(3), step, s);
  REQUIRE(all.size() == 3);
  CHECK(all[0].size() == 1 + 2 + 4);
  CHECK(all[1].size() == 1);
  CHECK(all[2].size() == 1 + 2 + 4 + 8);
  s.min_length = 1;
  CHECK_THROWS_AS(beam_search(std::vector<Tokens>(3), step, s), ArgumentError);
  s.max_lengths = {2, 2};
  CHECK_THROWS_AS(beam_search(std::vector<Tokens>(3), step, s), ArgumentError);
}

TEST_CASE("beam search: settings that contradict each other") {
  ComputationGraph cg;
  const auto step = [&](int&, unsigned) -> Expression { return input(cg, {2}, {-1.0f, -1.0f}); };
  const auto with = [&](auto change) {
    BeamSettings s;
    s.max_length = 3;
    change(s);
    return beam_search(std::vector<int>(2), step, s);
  };
  CHECK(with([](BeamSettings&) {}).size() == 2);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.width = 0; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.n = 0; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.n = 6; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.min_length = 4; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.alpha = -1; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.alpha = std::nan(""); }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.alpha = 1 / 0.0; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.end = 2; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.prefixes = {{1}}; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.prefixes = {{1}, {1, 1, 1, 1}}; }), ArgumentError);
  CHECK_THROWS_AS(with([](BeamSettings& s) { s.prefixes = {{1}, {0}}; }), ArgumentError);
}

TEST_CASE("beam search: values that are no log-probabilities") {
  ComputationGraph cg;
  const auto of = [&](const Dim& d, float x) {
    const auto step = [&](int&, unsigned) -> Expression {
      return input(cg, d, std::vector<float>(d.size(), x));
    };
    BeamSettings s;
    s.max_length = 2;
    return beam_search(std::vector<int>(1), step, s);
  };
  CHECK(of({2}, -1).size() == 1);
  CHECK(of({2}, 1e-6f)[0][0].log_prob == 0);
  CHECK_THROWS_AS(of({2}, 0.5f), ArgumentError);
  CHECK_THROWS_AS(of({2}, std::nanf("")), ArgumentError);
  CHECK_THROWS_AS(of(Dim({2}, 2), -1), ArgumentError);
  const auto step = [&](int&, unsigned) -> Expression { return input(cg, {2}, {-1.0f, -1.0f}); };
  const auto penalized = [&](double p) {
    return beam_search(std::vector<int>(1), step, BeamSettings(), [=](int) { return p; });
  };
  CHECK(penalized(-1)[0][0].score == -2);
  CHECK_THROWS_AS(penalized(1), ArgumentError);
  CHECK_THROWS_AS(penalized(std::nan("")), ArgumentError);
}

TEST_CASE("beam search: coverage") {
  const std::vector<float> attention = {0.5f, 1.0f, 2.0f, 0.25f};
  CHECK(coverage_penalty(attention, 0.2) == Approx(0.2 * (std::log(0.5) + std::log(0.25))));
  CHECK(coverage_penalty(std::vector<float>{0.0f}, 0.2) < -1e300);
  CHECK(coverage_penalty(std::vector<float>{0.0f}, 0) == 0);
}

}  // namespace beam_search_test
