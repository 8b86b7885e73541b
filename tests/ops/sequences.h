#pragma once

#include "dynet-like/run/executor.h"
#include "tests/ops/variable.h"
#include "tests/support/prelude.h"

// Parts of the tests of chains, segments, trees and alignments.

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

inline void check_equal(const Expression& a, const Expression& b, double margin = 1e-6) {
  const std::vector<float> p = as_vector(a.value()), q = as_vector(b.value());
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == Approx(q[i]).margin(margin));
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
