// Sentences of different lengths take as many kernels as sentences of one length.

#include "tests/cuda/check_equal.h"
#include "tests/support/span_trees.h"

using namespace dynet;
using namespace dynet::test;

#ifndef DYNET_TEST_GPU
namespace {

/// The kernels of a backward pass of so many sentences, of 3 words or of 3, 4, 5, ...; each makes
/// its loss from parameters of its own.
template <class Scores, class Loss>
std::size_t launches(unsigned sentences, bool ragged, Scores scores, Loss loss) {
  ParameterCollection model;
  std::vector<Parameter> all;
  for (unsigned i = 0; i < sentences; ++i) all.push_back(scores(model, ragged ? 3 + i : 3));
  DeviceGraph g;
  std::vector<Expression> losses;
  for (unsigned i = 0; i < sentences; ++i)
    losses.push_back(loss(g, parameter(g, all[i]), ragged ? 3 + i : 3));
  const Expression sum_of_losses = sum(losses);
  g.incremental_forward(sum_of_losses);
  const std::size_t before = emulation::counts().launches;
  g.backward(sum_of_losses);
  return emulation::counts().launches - before;
}

}  // namespace

TEST_CASE("ragged: the gradients of 32 sentences of different lengths are one kernel", "[cuda]") {
  constexpr unsigned kTags = 3;
  const auto emissions = [](ParameterCollection& model, unsigned words) {
    return model.add_parameters({kTags, words});
  };
  const auto of_chain = [](ComputationGraph& g, const Expression& x, unsigned words) {
    return -crf_log_prob(x, zeros(g, {kTags, kTags}), zeros(g, {kTags}), zeros(g, {kTags}),
                         std::vector<unsigned>(words, 1));
  };
  const auto spans = [](ParameterCollection& model, unsigned words) {
    return model.add_parameters({words, words});
  };
  const auto of_trees = [](ComputationGraph&, const Expression& x, unsigned) {
    return span_log_partition(x);
  };
  const auto same = [&](unsigned sentences, const auto& scores, const auto& loss) {
    const std::size_t ragged = launches(sentences, true, scores, loss);
    INFO(sentences << " sentences: " << ragged);
    CHECK(ragged == launches(sentences, false, scores, loss));
    CHECK(ragged == launches(2, true, scores, loss));
  };
  same(32, emissions, of_chain);
  same(32, spans, of_trees);
}
#endif

TEST_CASE("ragged: operands that many nodes share, and all lengths, as on the CPU", "[cuda]") {
  std::vector<Floats> gradients[2];
  for (const bool on_device : {false, true}) {
    ParameterCollection model;
    std::vector<Parameter> all;
    for (unsigned words = 1; words < 12; ++words) {
      const SpanScores s = some_span_scores(words, 2, words);
      all.push_back(model.add_parameters({words, words, 2}));
      all.back().set_value(s.spans);
    }
    DeviceGraph g(on_device ? gpu() : nullptr);
    std::vector<Expression> losses;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Expression x = parameter(g, all[i]);
      // Up to 20 nodes with one operand; more than a thread adds up where sizes are equal.
      for (unsigned k = 0; k < (i % 3 == 0 ? 20 : 1); ++k)
        losses.push_back(span_log_partition(x) * (0.5f + static_cast<float>(k)));
      losses.push_back(squared_norm(span_marginals(x)));
    }
    g.backward(sum(losses));
    for (const Parameter& p : all) gradients[on_device].push_back(as_vector(*p.gradients()));
  }
  check_equal(gradients[0], gradients[1], 1e-4, 1e-5);
}
