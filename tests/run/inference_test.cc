// Inference frees values without effect on results.

#include "dynet-like/run/executor.h"
#include "tests/run/random_graph.h"
#include "tests/support/prelude.h"

namespace inference_test {

using namespace dynet;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.d == b.d && std::memcmp(a.v, b.v, a.d.size() * sizeof(float)) == 0;
}

struct Language {
  ParameterCollection pc;
  LookupParameter words = pc.add_lookup_parameters(50, {256});
  VanillaLSTMBuilder lstm{1, 256, 256, pc};
  Parameter out = pc.add_parameters({50, 256});

  Expression run(ComputationGraph& g, unsigned steps) {
    lstm.new_graph(g);
    lstm.start_new_sequence();
    Expression h;
    for (unsigned t = 0; t < steps; ++t) h = lstm.add_input(lookup(g, words, t % 50));
    return parameter(g, out) * h;
  }
};

}  // namespace

TEST_CASE("inference has the values of training for requests in any order") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomGraph::Model model(4);
    ComputationGraph training, inference;
    Executor<float> run(inference.store(), PlanPolicy::in_batches);
    run.set_inference(true,
                      WindowSizes{0, std::size_t{64} << seed % 5, 0, std::size_t{8} << seed % 7});
    std::vector<Expression> kept, forgotten;
    for (ComputationGraph* g : {&training, &inference}) {
      const auto read = [&](const Expression& e) {
        g == &training ? void(e.value()) : run.forward(e.i);
      };
      g->set_seed(seed);
      RandomGraph random(*g, model, 4, seed);
      const Expression loss = random.build();
      // Enough nodes for the first ones to be freed, and requests in between.
      std::vector<Expression>& all = g == &training ? kept : forgotten;
      all = random.vectors();
      Expression x = all[0];
      for (int i = 0; i < 1500; ++i) {
        x = tanh(x) + all[static_cast<std::size_t>(i) % all.size()] * 0.1f;
        if (i % 300 == 0) all.push_back(x);
        if (i % 700 == 0) read(x);
      }
      all.push_back(x);
      all.push_back(loss);
      read(x);
    }
    REQUIRE(kept.size() == forgotten.size());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const std::size_t i = (k * 7 + seed) % kept.size();
      run.forward(forgotten[i].i);
      CHECK(same_bits(kept[i].value(),
                      {forgotten[i].dim(), run.value(forgotten[i].i, forgotten[i].result)}));
    }
  }
}

TEST_CASE("inference over 2,000 steps uses a twentieth of the memory of training") {
  Language language;
  ComputationGraph training, inference;
  inference.set_inference(true);
  const Expression loss = squared_norm(language.run(training, 2000));
  const std::vector<float> expected = as_vector(loss.value());
  training.backward(loss);
  const GraphStatistics all = training.statistics();
  const Expression same = squared_norm(language.run(inference, 2000));
  CHECK(as_vector(same.value()) == expected);
  const GraphStatistics some = inference.statistics();
  CHECK(some.nodes == all.nodes);
  CHECK(some.gradient_bytes == 0);
  CHECK(20 * some.value_bytes <= all.value_bytes + all.gradient_bytes);
}

TEST_CASE("inference continues after requests, after a revert and after forward") {
  Language language;
  ComputationGraph g;
  g.set_inference(true);
  language.lstm.new_graph(g);
  language.lstm.start_new_sequence();
  std::vector<std::vector<float>> read;
  Expression early;
  for (unsigned t = 0; t < 300; ++t) {
    const Expression h = language.lstm.add_input(lookup(g, language.words, t % 50));
    if (t == 3) early = h;
    read.push_back(as_vector(h.value()));
  }
  CHECK(as_vector(early.value()) == read[3]);
  g.checkpoint();
  const Expression more = language.lstm.add_input(lookup(g, language.words, 7u));
  const std::vector<float> once = as_vector(more.value());
  g.revert();
  CHECK(as_vector(early.value()) == read[3]);
  CHECK(as_vector(g.forward(early)) == read[3]);
}

TEST_CASE("backward in inference throws ArgumentError with the reason") {
  ComputationGraph g;
  g.set_inference(true);
  const Expression x = input(g, 3.0f);
  CHECK_THAT(message<ArgumentError>([&] { g.backward(x); }),
             Catch::StartsWith("backward: the graph is set to inference") &&
                 Catch::Contains("inference_test.cc"));
  g.set_inference(false);
  g.invalidate();
  g.backward(x);
  CHECK(as_scalar(x.value()) == 3.0f);
}

}  // namespace inference_test
