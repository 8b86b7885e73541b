#pragma once

#include "dynet-like/run/executor.h"
#include "tests/ops/variable.h"
#include "tests/support/prelude.h"

// Properties that chains, segments, trees and alignments have in common: each is a distribution
// over structures, with a log-partition, log-probabilities, marginals and an entropy.

namespace dynet::test {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// n scores from a normal distribution, of which about a part may be forbidden.
inline std::vector<float> some_scores(std::size_t n, const RandomStream& random,
                                      std::uint64_t& draws, double forbids = 0) {
  std::vector<float> v;
  for (std::size_t i = 0; i < n; ++i) {
    const auto score = static_cast<float>(2 * random.normal(draws++));
    v.push_back(forbids > 0 && random.uniform(draws++) < forbids ? kForbidden : score);
  }
  return v;
}

/// Values of the nodes of a graph in double.
struct InDouble {
  Executor<double> executor;
  explicit InDouble(const ComputationGraph& g) : executor(g.store()) {
    executor.forward(static_cast<NodeId>(g.size() - 1));
  }
  const double* operator()(const Expression& e) { return executor.value(e.i); }
};

/// Sums over structures that are listed one by one, by their scores and the places of their parts.
struct Listed {
  double z = 0, entropy = 0;
  std::vector<double> marginals;

  template <class Y, class Score, class Places>
  Listed(const std::vector<Y>& all, std::size_t size, Score score, Places places)
      : marginals(size, 0.0) {
    for (const Y& y : all) z += std::exp(score(y));
    for (const Y& y : all) {
      const double p = z == 0 ? 0 : std::exp(score(y)) / z;
      if (p > 0) entropy -= p * std::log(p);
      for (const std::size_t place : places(y)) marginals[place] += p;
    }
  }

  /// Log-partition, marginals, entropy, and log-probabilities of structures with such scores.
  void check(const ComputationGraph& g, const Expression& log_z, const Expression& m,
             const Expression& h, const std::vector<Expression>& log_probs,
             const std::vector<double>& scores) const {
    InDouble value(g);
    if (z == 0)
      CHECK(*value(log_z) == static_cast<double>(kForbidden));
    else
      CHECK(*value(log_z) == Approx(std::log(z)).epsilon(1e-12).margin(1e-12));
    CHECK(*value(h) == Approx(entropy).epsilon(1e-10).margin(1e-12));
    for (std::size_t i = 0; i < marginals.size(); ++i)
      CHECK(value(m)[i] == Approx(marginals[i]).epsilon(1e-10).margin(1e-13));
    REQUIRE(log_probs.size() == scores.size());
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const double log_p = *value(log_probs[k]);
      CHECK(log_p <= 0);
      if (scores[k] == static_cast<double>(kForbidden))
        CHECK(log_p == scores[k]);
      else
        CHECK(log_p == Approx(scores[k] - std::log(z)).epsilon(1e-12).margin(1e-12));
    }
  }
};

/// The gradient of the log-partition by the scores `p` is the marginals, which are returned.
inline std::vector<float> check_marginals(const Parameter& p, const Expression& log_z,
                                          const Expression& marginals) {
  const std::vector<float> m = as_vector(marginals.value());
  log_z.pg->backward(log_z);
  const std::vector<float> d = as_vector(*p.gradients());
  for (std::size_t i = 0; i < m.size(); ++i) CHECK(d[i] == Approx(m[i]).epsilon(1e-5).margin(1e-7));
  return m;
}

inline void check_equal(const Expression& a, const Expression& b, double margin = 1e-6) {
  const std::vector<float> p = as_vector(a.value()), q = as_vector(b.value());
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == Approx(q[i]).margin(margin));
}
/// The second log-partition is larger by 2.5, and the marginals are the same.
inline void check_added(const Expression& before, const Expression& after,
                        const Expression& marginals, const Expression& marginals_after) {
  CHECK(as_scalar(after.value()) == Approx(as_scalar(before.value()) + 2.5).epsilon(1e-6));
  check_equal(marginals, marginals_after);
}

inline Expression structure_loss(const std::vector<Expression>& x) {
  return x[0] - 2 * x[1] + sum_elems(square(x[2])) + 3 * x[3];
}

/// Sentences whose operations are the same few.
struct Sentences {
  std::vector<std::vector<Parameter>> own = {};  ///< parameters of each sentence
  std::vector<Parameter> shared = {};            ///< parameters of all
  std::function<std::vector<Expression>(ComputationGraph&, unsigned)> build = {};
  std::function<Expression(const std::vector<Expression>&)> loss = structure_loss;
  std::size_t batches;         ///< at most so many
  bool same_gradients = true;  ///< also the gradients of a sentence's own parameters
};

/// Values, and perhaps gradients, of a sentence have the same bits in a graph of its own, and in
/// one with all sentences, which run as few batches.
inline void check_alone_and_together(ParameterCollection& model, const Sentences& s) {
  const auto gradients_of = [](const std::vector<Parameter>& parameters) {
    std::vector<std::vector<float>> all;
    for (const Parameter& p : parameters) all.push_back(as_vector(*p.gradients()));
    return all;
  };
  const auto count = static_cast<unsigned>(s.own.size());
  std::vector<std::vector<std::vector<float>>> values(count), gradients(count), of_shared;
  for (unsigned n = 0; n < count; ++n) {
    ComputationGraph g;
    const std::vector<Expression> x = s.build(g, n);
    const Expression loss = s.loss(x);
    loss.value();
    for (const Expression& e : x) values[n].push_back(as_vector(e.value()));
    g.backward(loss);
    gradients[n] = gradients_of(s.own[n]);
    model.reset_gradient();
  }
  for (const bool inference : {false, true}) {
    INFO("inference " << inference);
    ComputationGraph g;
    g.set_inference(inference);
    std::vector<std::vector<Expression>> all;
    std::vector<Expression> losses;
    for (unsigned n = 0; n < count; ++n) {
      all.push_back(s.build(g, n));
      losses.push_back(s.loss(all.back()));
    }
    const Expression loss = sum(losses);
    loss.value();
    for (unsigned n = 0; n < count; ++n)
      for (std::size_t k = 0; k < all[n].size(); ++k)
        CHECK(as_vector(all[n][k].value()) == values[n][k]);
    if (inference) continue;
    CHECK(g.statistics().batches < s.batches);
    for (const bool full : {false, true}) {
      g.backward(loss, full);
      for (unsigned n = 0; s.same_gradients && n < count; ++n)
        CHECK(gradients_of(s.own[n]) == gradients[n]);
      of_shared.push_back(gradients_of(s.shared));
      CHECK(of_shared.back() == of_shared.front());
      model.reset_gradient();
    }
  }
}

}  // namespace dynet::test
