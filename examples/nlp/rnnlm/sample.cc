#include "sample.h"

#include <algorithm>
#include <cmath>

namespace rnnlm {
namespace {

constexpr std::size_t kStepsOfGraph = 200;  // per graph

}  // namespace

unsigned draw_token(const std::vector<float>& scores, double temperature, nlp::Random& random) {
  std::vector<double> weights(scores.begin(), scores.end());
  weights[Vocabulary::kUnknown] = -HUGE_VAL;
  const auto best = std::max_element(weights.begin(), weights.end());
  if (temperature <= 0) return static_cast<unsigned>(best - weights.begin());
  const double highest = *best;
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp((weight - highest) / temperature);
    sum += weight;
  }
  double place = random.uniform() * sum;
  unsigned token = 0;
  for (unsigned i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    token = i;  // the last possible token, in case of rounding errors in `place`
    place -= weights[i];
    if (place < 0) break;
  }
  return token;
}

Ids sample_sentence(Model& model, const Ids& prefix, const SampleSettings& settings,
                    nlp::Random& random) {
  dynet::ComputationGraph graph;
  dynet::Expression output;
  const std::size_t most = model.steps_together(kStepsOfGraph);
  std::size_t steps = 0;
  const auto read = [&](unsigned token) {
    if (steps++ % most == 0) {
      const Memory memory = steps > 1 ? model.memory() : Memory();
      graph.clear();
      model.begin_graph(graph, false);
      model.begin_sentences(memory);
    }
    output = model.step({token});
  };
  read(Vocabulary::kEnd);
  for (unsigned token : prefix) read(token);
  Ids sentence = prefix;
  while (sentence.size() < settings.longest) {
    const dynet::Expression scores = model.scores(output);
    const unsigned token = draw_token(as_vector(scores.value()), settings.temperature, random);
    if (token == Vocabulary::kEnd) break;
    sentence.push_back(token);
    read(token);
  }
  return sentence;
}

}  // namespace rnnlm
