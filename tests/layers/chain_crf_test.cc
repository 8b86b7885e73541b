#include "tests/layers/decoding.h"

namespace chain_crf_test {

using namespace dynet;
using namespace decoding;

namespace {

ChainScores some_scores(unsigned tags, unsigned length, std::uint64_t key, bool whole = false,
                        bool forbids = false) {
  auto fill = score_source(key, whole, forbids);
  return {tags,       length,    fill(std::size_t{tags} * length), fill(std::size_t{tags} * tags),
          fill(tags), fill(tags)};
}

std::vector<ScoredTags> all_sequences(const ChainScores& s) {
  std::vector<ScoredTags> all;
  for (const std::vector<Segment>& words : test::all_ways(s.tags, 1, s.length)) {
    ScoredTags y{test::labels_of(words), 0};
    for (unsigned t = 0; t < s.length; ++t) {
      const unsigned j = y.tags[t];
      y.score += t == 0 ? static_cast<double>(s.start[j]) : s.transition(t, y.tags[t - 1], j);
      y.score += s.emission(t, j);
    }
    if (s.length > 0) y.score += static_cast<double>(s.stop[y.tags.back()]);
    all.push_back(y);
  }
  return best_first(all);
}

}  // namespace

TEST_CASE("chain decoding: the n best of all sequences, in order, ties lexicographically") {
  Counts counts;
  for (std::uint64_t key = 0; key < 60; ++key) {
    const bool whole = key % 2 == 0;  // numbers of which many sums are equal
    const ChainScores s =
        some_scores(1 + key % 3, static_cast<unsigned>(key % 7), key, whole, key % 5 == 0);
    const std::vector<ScoredTags> all = all_sequences(s);
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, all.size(), all.size() + 2}) {
      check_n_best(best_sequences(s, n), n, all, &ScoredTags::tags, counts, 1e-12);
    }
  }
  CHECK(counts.checked > 3000);
  CHECK(counts.ties > 500);
}

TEST_CASE("chain decoding: samples come as often as they are probable") {
  const ChainScores s = some_scores(3, 5, 42);
  check_samples(all_sequences(s), &ScoredTags::tags,
                [&](unsigned key) { return sample_sequence(s, key); });
}

TEST_CASE("chain decoding: where all is forbidden there is nothing, and of no words one sequence") {
  ChainScores s = some_scores(2, 3, 1);
  s.start = {kForbidden, kForbidden};
  CHECK(best_sequences(s, 5).empty());
  CHECK(sample_sequence(s, 1).empty());
  s = some_scores(2, 0, 1);
  REQUIRE(best_sequences(s, 5).size() == 1);
  CHECK(best_sequences(s, 5)[0].tags.empty());
  CHECK(best_sequences(s, 0).empty());
}

TEST_CASE("tag constraints: what each scheme allows") {
  const auto follows = [](const TagConstraints& c, unsigned i, unsigned j) {
    return bool(c.follows[j * c.tags + i]);
  };
  const TagConstraints bio = tag_constraints(TagScheme::bio, {"O", "B-X", "I-X", "B-Y", "I-Y"});
  CHECK(follows(bio, 1, 2));
  CHECK(follows(bio, 2, 2));
  CHECK_FALSE(follows(bio, 0, 2));
  CHECK_FALSE(follows(bio, 3, 2));
  CHECK(follows(bio, 4, 1));
  CHECK(bio.begins == std::vector<bool>{true, true, false, true, false});
  CHECK(bio.ends == std::vector<bool>(5, true));
  const TagConstraints iob1 = tag_constraints(TagScheme::iob1, {"O", "B-X", "I-X", "I-Y"});
  CHECK(follows(iob1, 0, 2));
  CHECK(follows(iob1, 3, 2));
  CHECK_FALSE(follows(iob1, 0, 1));
  CHECK_FALSE(follows(iob1, 3, 1));
  CHECK(follows(iob1, 2, 1));
  CHECK(iob1.begins == std::vector<bool>{true, false, true, true});
  const TagConstraints bioes =
      tag_constraints(TagScheme::bioes, {"O", "B-X", "I-X", "L-X", "U-X", "E-Y"});
  CHECK(follows(bioes, 1, 3));
  CHECK_FALSE(follows(bioes, 1, 5));
  CHECK_FALSE(follows(bioes, 1, 0));
  CHECK_FALSE(follows(bioes, 0, 3));
  CHECK(follows(bioes, 3, 4));
  CHECK(bioes.ends == std::vector<bool>{true, false, false, true, true, true});
  const TagConstraints bmes = tag_constraints(TagScheme::bmes, {"B", "M", "E", "S"});
  CHECK(follows(bmes, 1, 1));
  CHECK_FALSE(follows(bmes, 2, 1));
  CHECK(follows(bmes, 2, 3));
  CHECK_THROWS_AS(tag_constraints(TagScheme::bmes, {"O"}), ArgumentError);
  CHECK_THROWS_AS(tag_constraints(TagScheme::bio, {"X-B"}), ArgumentError);
  CHECK_THROWS_AS(tag_constraints(TagScheme::bio, {""}), ArgumentError);
}

TEST_CASE("ChainCrf: forbidden transitions have probability zero and are never decoded") {
  ParameterCollection model;
  const std::vector<std::string> names = {"O", "B-X", "I-X"};
  ChainCrf crf(model, ChainCrf::Settings{3, tag_constraints(TagScheme::bio, names)});
  CHECK(model.parameter_count() == 9 + 3 + 3);
  ComputationGraph g;
  crf.new_graph(g);
  const Expression scores = input(g, {3, 3}, {0, 0, 9, 0, 0, 5, 0, 0, 9});
  CHECK(crf.best(scores) == std::vector<unsigned>{1, 2, 2});
  CHECK(as_scalar(crf.log_prob(scores, std::vector<unsigned>{0, 0, 2}).value()) == kForbidden);
  CHECK(as_vector(crf.marginals(scores).value())[2] == 0);
  for (std::uint64_t key = 0; key < 100; ++key) {
    const std::vector<unsigned> y = crf.sample(scores, key);
    CHECK(y[0] != 2);
    CHECK_FALSE((y[0] == 0 && y[1] == 2));
  }
  const std::vector<ScoredTags> best = crf.best(scores, 100);
  CHECK(best.size() == 13);  // of the 27
  double sum = 0;
  for (const ScoredTags& y : best) {
    sum += std::exp(static_cast<double>(as_scalar(crf.log_prob(scores, y.tags).value())));
    CHECK(y.score - static_cast<double>(as_scalar(crf.log_partition(scores).value())) ==
          Approx(as_scalar(crf.log_prob(scores, y.tags).value())).margin(1e-5));
  }
  CHECK(sum == Approx(1).epsilon(1e-5));
}

TEST_CASE("ChainCrf: mistakes name the function and leave the layer as it was") {
  ParameterCollection model;
  CHECK_THROWS_AS(ChainCrf(model, 0), ArgumentError);
  CHECK_THROWS_AS(ChainCrf(model, ChainCrf::Settings{2, tag_constraints(TagScheme::bio, {"O"})}),
                  ArgumentError);
  CHECK(model.parameter_count() == 0);
  ChainCrf crf(model, 2);
  ComputationGraph g;
  const Expression scores = zeros(g, {2, 3});
  crf.new_graph(g);
  CHECK_THROWS_AS(crf.best(zeros(g, Dim({2, 3}, 2))), ArgumentError);
  CHECK_THROWS_AS(crf.best(zeros(g, {3, 3})), ArgumentError);
  CHECK_THROWS_AS(crf.log_partition(zeros(g, {3, 3})), ShapeError);
  CHECK_THROWS_AS(crf.log_prob(scores, std::vector<unsigned>{0, 2, 0}), IndexError);
  CHECK_THROWS_AS(crf.log_prob(scores, std::vector<unsigned>{0, 1}), ArgumentError);
  CHECK(as_scalar(crf.log_partition(scores).value()) == Approx(3 * std::log(2.0)));
}

}  // namespace chain_crf_test
