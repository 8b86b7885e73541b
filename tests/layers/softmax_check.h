#pragma once

#include "tests/layers/naive.h"

namespace naive {

constexpr unsigned kRep = 5;

/// Everything that a softmax can be asked, against the probabilities of its words.
inline void check_softmax(
    dynet::SoftmaxBuilder& softmax,
    const std::function<std::map<unsigned, double>(const Vector&)>& distribution, unsigned words) {
  const unsigned batch = 6;
  const auto reps = numbers(kRep * batch, 9);
  const auto rep_of = [&](unsigned b) { return to_double(part(reps, b * kRep, (b + 1) * kRep)); };
  dynet::ComputationGraph g;
  softmax.new_graph(g);
  const dynet::Expression rep = dynet::input(g, dynet::Dim({kRep}, batch), reps);
  const dynet::Expression one = dynet::input(g, {kRep}, part(reps, 0, kRep));
  std::vector<unsigned> known;
  for (const auto& [word, p] : distribution(rep_of(0))) known.push_back(word);

  const dynet::Expression logs = softmax.full_log_distribution(rep),
                          scores = softmax.full_logits(rep);
  CHECK(logs.dim() == dynet::Dim({words}, batch));
  CHECK(scores.dim() == dynet::Dim({words}, batch));
  const dynet::Expression again = dynet::log_softmax(scores);
  for (unsigned b = 0; b < batch; ++b) {
    const auto p = distribution(rep_of(b));
    const auto got = dynet::as_vector(logs.value().batch_elem(b));
    const auto same = dynet::as_vector(again.value().batch_elem(b));
    double sum = 0;
    for (unsigned w = 0; w < words; ++w) {
      if (!p.contains(w)) {
        CHECK((std::isinf(got[w]) && got[w] < 0));
        continue;
      }
      CHECK(got[w] == Approx(std::log(p.at(w))).margin(1e-5));
      CHECK(same[w] == Approx(std::log(p.at(w))).margin(1e-5));
      sum += p.at(w);
    }
    CHECK(sum == Approx(1));
  }
  // One word, each of a batch, several of one vector.
  for (const unsigned w : known) {
    const dynet::Expression loss = softmax.neg_log_softmax(one, w);
    CHECK(loss.dim() == dynet::Dim({1}));
    CHECK(dynet::as_scalar(loss.value()) ==
          Approx(-std::log(distribution(rep_of(0)).at(w))).margin(1e-5));
  }
  std::vector<unsigned> drawn;
  for (unsigned b = 0; b < batch; ++b) drawn.push_back(known[(3 * b + b / 2) % known.size()]);
  const dynet::Expression losses = softmax.neg_log_softmax(rep, drawn);
  CHECK(losses.dim() == dynet::Dim({1}, batch));
  for (unsigned b = 0; b < batch; ++b)
    CHECK(dynet::as_vector(losses.value())[b] ==
          Approx(-std::log(distribution(rep_of(b)).at(drawn[b]))).margin(1e-5));
  const dynet::Expression many = softmax.neg_log_softmax(one, known);
  CHECK(many.dim() == dynet::Dim({1}, static_cast<unsigned>(known.size())));
  for (std::size_t k = 0; k < known.size(); ++k)
    CHECK(dynet::as_vector(many.value())[k] ==
          Approx(-std::log(distribution(rep_of(0)).at(known[k]))).margin(1e-5));
  for (const dynet::Expression& loss :
       {dynet::sum_batches(losses), dynet::sum_batches(many),
        dynet::pick(softmax.full_log_distribution(one), known[1])}) {
    check_slopes(loss);
  }
  // Draws have the frequencies of the distribution, and follow the seed.
  std::map<unsigned, int> counts;
  const int draws = 4000;
  for (int k = 0; k < draws; ++k) ++counts[softmax.sample(one)];
  for (const auto& [word, count] : counts) CHECK(distribution(rep_of(0)).contains(word));
  for (const auto& [word, p] : distribution(rep_of(0)))
    CHECK(std::abs(counts[word] - draws * p) < 4.5 * std::sqrt(draws * p * (1 - p)) + 1);
  std::vector<std::vector<unsigned>> samples;
  for (int run = 0; run < 2; ++run) {
    dynet::ComputationGraph h;
    h.set_seed(4);
    softmax.new_graph(h);
    const dynet::Expression x = dynet::input(h, {kRep}, part(reps, 0, kRep));
    samples.emplace_back();
    for (int k = 0; k < 30; ++k) samples.back().push_back(softmax.sample(x));
  }
  CHECK(samples[0] == samples[1]);
  softmax.new_graph(g);
  CHECK_THROWS_AS(softmax.sample(rep), dynet::ArgumentError);
  CHECK_THROWS_AS(softmax.neg_log_softmax(rep, known[0]), dynet::Error);
  CHECK_THROWS_AS(softmax.neg_log_softmax(rep, {known[0], known[1]}), dynet::Error);
  CHECK_THROWS_AS(softmax.neg_log_softmax(one, words), dynet::Error);
  CHECK_THROWS_AS(softmax.full_logits(dynet::zeros(g, {kRep + 1})), dynet::Error);
  CHECK_THROWS_AS(softmax.full_logits(dynet::Expression()), dynet::Error);
  CHECK(difference(softmax.neg_log_softmax(rep, drawn), losses) < 1e-5);
}

/// All that a softmax can be asked needs a graph.
inline void check_without_graph(dynet::SoftmaxBuilder& softmax, const dynet::Expression& rep) {
  CHECK_THROWS_AS(softmax.neg_log_softmax(rep, 0u), dynet::ArgumentError);
  CHECK_THROWS_AS(softmax.sample(rep), dynet::ArgumentError);
  CHECK_THROWS_AS(softmax.full_logits(rep), dynet::ArgumentError);
  CHECK_THROWS_AS(softmax.full_log_distribution(rep), dynet::ArgumentError);
}

}  // namespace naive
