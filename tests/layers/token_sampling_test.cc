#include "tests/support/prelude.h"

namespace token_sampling_test {

using namespace dynet;

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<float> logs_of(const std::vector<double>& p, double shift = 0) {
  std::vector<float> x;
  for (const double v : p) x.push_back(static_cast<float>(std::log(v) + shift));
  return x;
}

void check_near(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("token " << i);
    CHECK(a[i] == Approx(b[i]).margin(1e-12).epsilon(1e-6));
  }
}

/// The chi-square statistic of counts.
template <class K>
double chi_square(const std::map<K, double>& expected, std::map<K, int> counts, int draws) {
  double chi = 0, all = 0;
  for (const auto& [what, p] : expected) {
    const double e = p * draws, off = counts[what] - e;
    chi += off * off / e;
    all += counts[what];
  }
  CHECK(all == draws);  // nothing else was drawn
  return chi;
}

}  // namespace

TEST_CASE("token sampling: what tokens are drawn from") {
  const std::vector<double> p = {0.1, 0.4, 0.05, 0.25, 0.2};
  const std::vector<float> x = logs_of(p, 3);
  check_near(sampling_probabilities(x), p);
  const double z = 0.01 + 0.16 + 0.0025 + 0.0625 + 0.04;
  check_near(sampling_probabilities(x, {.temperature = 0.5}),
             {0.01 / z, 0.16 / z, 0.0025 / z, 0.0625 / z, 0.04 / z});
  check_near(sampling_probabilities(x, {.top_k = 2}), {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  check_near(sampling_probabilities(x, {.top_k = 9}), p);
  check_near(sampling_probabilities(x, {.top_p = 0.6}), {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  check_near(sampling_probabilities(x, {.top_p = 1e-9}), {0, 1, 0, 0, 0});
  // The first two of four tokens have more than 0.65 of their sum 0.95.
  check_near(sampling_probabilities(x, {.top_k = 4, .top_p = 0.65}),
             {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  check_near(sampling_probabilities(x, {.temperature = 0}), {0, 1, 0, 0, 0});
  check_near(sampling_probabilities({{1, 1, 1}}, {.temperature = 0}), {1, 0, 0});
  check_near(sampling_probabilities({{1, 1, 1}}, {.top_k = 2}), {0.5, 0.5, 0});
  check_near(sampling_probabilities({{1e30f, kNever, -1e30f}}), {1, 0, 0});
  check_near(sampling_probabilities({{kNever, kNever}}), {0, 0});
  check_near(sampling_probabilities({}), {});
}

TEST_CASE("token sampling: settings and scores that are none") {
  const std::vector<float> x = {0, 0};
  CHECK_THROWS_AS(sampling_probabilities(x, {.temperature = -1}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities(x, {.temperature = std::nan("")}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities(x, {.temperature = 1 / 0.0}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities(x, {.top_p = 0}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities(x, {.top_p = 1.5}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities(x, {.top_p = std::nan("")}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities({{0, std::nanf("")}}), ArgumentError);
  CHECK_THROWS_AS(sampling_probabilities({{0, -kNever}}), ArgumentError);
  CHECK_THROWS_AS(sample_tokens_without_replacement({{std::nanf("")}}, 1, 1), ArgumentError);
  CHECK_THROWS_AS(sample_tokens_without_replacement(x, 1, 1, -1), ArgumentError);
}

TEST_CASE("token sampling: tokens are drawn with their probabilities") {
  const std::vector<double> p = {0.1, 0.4, 0.05, 0.25, 0.2};
  const std::vector<float> x = logs_of(p);
  const int draws = 20000;
  std::map<unsigned, int> counts, of_two;
  for (int i = 0; i < draws; ++i) {
    const auto key = static_cast<std::uint64_t>(i);
    ++counts[sample_token(x, key)];
    ++of_two[sample_token(x, key, {.top_k = 2})];
  }
  std::map<unsigned, double> expected;
  for (unsigned i = 0; i < p.size(); ++i) expected[i] = p[i];
  CHECK(chi_square(expected, counts, draws) < 18.5);  // of 4 degrees of freedom: 0.1 %
  CHECK(chi_square<unsigned>({{1, 0.4 / 0.65}, {3, 0.25 / 0.65}}, of_two, draws) < 10.8);
  CHECK(sample_token({{kNever, 0, kNever}}, 7) == 1);
  CHECK(sample_token({{kNever, kNever}}, 7) == 2);
}

TEST_CASE("token sampling: without replacement each token is drawn from those that are left") {
  const std::vector<double> p = {0.1, 0.5, 0.4};
  const int draws = 20000;
  std::map<std::pair<unsigned, unsigned>, int> counts;
  for (int i = 0; i < draws; ++i) {
    const auto two =
        sample_tokens_without_replacement(logs_of(p), 2, static_cast<std::uint64_t>(i));
    REQUIRE(two.size() == 2);
    ++counts[{two[0], two[1]}];
  }
  std::map<std::pair<unsigned, unsigned>, double> expected;
  for (unsigned a = 0; a < 3; ++a)
    for (unsigned b = 0; b < 3; ++b)
      if (a != b) expected[{a, b}] = p[a] * p[b] / (1 - p[a]);
  CHECK(chi_square(expected, counts, draws) < 20.5);  // of 5 degrees of freedom: 0.1 %
  CHECK(sample_tokens_without_replacement({{0, kNever, 5}}, 3, 1, 0) ==
        std::vector<unsigned>{2, 0});
  CHECK(sample_tokens_without_replacement({{kNever}}, 1, 1).empty());
}

TEST_CASE("token sampling: sequences have their probabilities, alone and together") {
  // After the tokens that were counted: the end, or one more.
  ComputationGraph cg;
  const auto step = [&](unsigned& count, unsigned last) -> Expression {
    if (last != 9) ++count;
    if (count == 3) return input(cg, {3}, {0.0f, kNever, kNever});
    return input(cg, {3}, logs_of({0.5, 0.25, 0.25}));
  };
  SequenceSamplingSettings settings;
  settings.begin = 9;
  settings.max_length = 10;
  const int draws = 8000;
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < draws; ++i) keys.push_back(static_cast<std::uint64_t>(i) + 5);
  const auto all = sample_sequences(std::vector<unsigned>(draws, 0u), step, keys, settings);
  std::map<std::size_t, int> counts;
  for (const auto& s : all) {
    ++counts[s.tokens.size()];
    CHECK(s.ended);
    CHECK(s.state == s.tokens.size());
    double expected = 0;
    for (std::size_t i = 0; i < s.tokens.size(); ++i) expected += std::log(0.25);
    if (s.tokens.size() < 3) expected += std::log(0.5);
    CHECK(s.log_prob == Approx(expected));
  }
  CHECK(chi_square<std::size_t>({{0, 0.5}, {1, 0.25}, {2, 0.125}, {3, 0.125}}, counts, draws) <
        16.3);  // of 3 degrees of freedom: 0.1 %
  for (std::size_t i = 0; i < 20; ++i) {
    const auto alone = sample_sequences(std::vector<unsigned>(1, 0u), step,
                                        std::span(keys).subspan(i, 1), settings);
    CHECK(alone[0].tokens == all[i].tokens);
    CHECK(alone[0].log_prob == all[i].log_prob);
  }
  settings.max_length = 1;
  for (const auto& s :
       sample_sequences(std::vector<unsigned>(50, 0u), step, std::span(keys).first(50), settings))
    CHECK(s.ended == s.tokens.empty());
  CHECK_THROWS_AS(sample_sequences(std::vector<unsigned>(2, 0u), step, std::span(keys).first(1)),
                  ArgumentError);
}

TEST_CASE("token sampling: a sequence ends where nothing may follow") {
  ComputationGraph cg;
  const auto step = [&](int&, unsigned) -> Expression { return input(cg, {2}, {kNever, kNever}); };
  const std::vector<std::uint64_t> keys = {1};
  const auto all = sample_sequences(std::vector<int>(1), step, keys);
  CHECK(all[0].tokens.empty());
  CHECK_FALSE(all[0].ended);
  CHECK(all[0].log_prob == 0);
}

}  // namespace token_sampling_test
