// Updates of whole minibatches on several threads.

#include "dynet-like/distributed/batch_trainer.h"

#include <atomic>
#include <deque>
#include <set>
#include <thread>

#include "dynet-like/distributed/in_process.h"
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace batch_trainer_test {

using namespace dynet;
using Catch::Contains;
using test::same_bits;

namespace {

struct Model {
  explicit Model(ParameterCollection& pc)
      : words(pc.add_lookup_parameters(20, {6}, ParameterInitNormal(0, 1), "words")),
        w(pc.add_parameters({5, 7}, "w")),
        lstm(1, 6, 7, pc) {}

  void new_graph(ComputationGraph& g) {
    lstm.new_graph(g);
    W = parameter(g, w);
  }
  Expression loss(ComputationGraph& g, unsigned sample) {
    lstm.start_new_sequence();
    for (unsigned t = 0; t < 2 + sample % 4; ++t)
      lstm.add_input(dropout(lookup(g, words, (7 * sample + 3 * t) % 20), noise));
    return pickneglogsoftmax(W * lstm.back(), sample % 5);
  }

  LookupParameter words;
  Parameter w;
  VanillaLSTMBuilder lstm;
  Expression W;
  float noise = 0.3f;
};

std::vector<unsigned> minibatch(unsigned update, unsigned size) {
  std::vector<unsigned> samples(size);
  for (unsigned i = 0; i < size; ++i) samples[i] = 100 * update + 13 * i;
  return samples;
}

constexpr unsigned kSizes[] = {24, 1, 7, 30, 3};

/// Losses and then the values after some updates, by the trainer that `make` returns.
template <class Make>
std::vector<float> values_after_training(const Make& make) {
  ParameterCollection pc;
  pc.set_seed(4);
  const Model model(pc);
  AdamTrainer adam(pc, 0.01f);
  adam.clip_threshold = 0.1f;
  const auto trainer = make(adam);
  std::vector<float> results;
  for (unsigned u = 0; u < std::size(kSizes); ++u)
    results.push_back(
        static_cast<float>(trainer->update(model, minibatch(u, kSizes[u]), &Model::loss)));
  for (const float x : test::all_values(pc)) results.push_back(x);
  return results;
}

std::vector<float> values_after_training(const BatchTrainerOptions& options) {
  return values_after_training(
      [&](Trainer& t) { return std::make_unique<BatchTrainer>(t, options); });
}

}  // namespace

TEST_CASE("batch trainer: any number of threads and processes gives the same bits") {
  const std::vector<float> alone = values_after_training({});
  for (const unsigned threads : {2u, 3u, 8u, 20u})
    CHECK(same_bits(values_after_training({.threads = threads}), alone));
  for (const unsigned processes : {2u, 3u}) {
    InProcessGroup group(processes);
    std::vector<std::vector<float>> results(processes);
    group.run([&](Communicator& world) {
      results[world.rank()] = values_after_training([&](Trainer& t) {
        return std::make_unique<BatchTrainer>(t, world, BatchTrainerOptions{.threads = 2});
      });
    });
    for (const auto& each : results) CHECK(same_bits(each, alone));
  }
  CHECK_FALSE(same_bits(values_after_training({.lanes = 4}), alone));
  CHECK_FALSE(same_bits(values_after_training({.seed = 2}), alone));
}

TEST_CASE("batch trainer: one lane is a plain loop with the mean of the losses") {
  ParameterCollection pc, plain;
  pc.set_seed(4);
  plain.set_seed(4);
  Model model(pc), own(plain);
  model.noise = own.noise = 0;
  AdamTrainer adam(pc, 0.01f), plain_adam(plain, 0.01f);
  adam.clipping_enabled = plain_adam.clipping_enabled = false;
  BatchTrainer trainer(adam, {.threads = 2, .lanes = 1});
  for (unsigned u = 0; u < std::size(kSizes); ++u) {
    const std::vector<unsigned> samples = minibatch(u, kSizes[u]);
    const double mean = trainer.update(model, samples, &Model::loss);
    ComputationGraph cg;
    own.new_graph(cg);
    std::vector<Expression> losses;
    for (const unsigned s : samples) losses.push_back(own.loss(cg, s));
    const Expression total = sum(losses);
    CHECK(mean == static_cast<double>(as_scalar(cg.forward(total))) / kSizes[u]);
    cg.backward(total);
    plain_adam.update(1.0f / static_cast<float>(kSizes[u]));
  }
  CHECK(same_bits(test::all_values(pc), test::all_values(plain)));
}

TEST_CASE("batch trainer: each thread has a copy of the model as it is at the update") {
  ParameterCollection pc;
  Model model(pc);
  SimpleSGDTrainer sgd(pc);
  std::atomic<unsigned> configured = 0, wrong = 0;  // Catch's checks belong to one thread
  BatchTrainer trainer(sgd, {.threads = 3, .lanes = 6, .configure = [&](ComputationGraph& g) {
                               ++configured;
                               wrong += g.size() != 0;
                             }});
  std::mutex mutex;
  std::set<Model*> copies;
  std::set<unsigned> seen;
  const auto loss_of = [&](Model& mine, ComputationGraph& g, unsigned sample) {
    const std::lock_guard lock(mutex);
    wrong += &mine == &model || mine.noise != model.noise;
    copies.insert(&mine);
    seen.insert(sample);
    return mine.loss(g, sample);
  };
  // A range need not be a vector.
  const std::deque<unsigned> samples{2, 4, 6, 8, 10, 12, 14, 16};
  trainer.update(model, samples, loss_of);
  CHECK(configured == 6);
  CHECK(seen == std::set<unsigned>(samples.begin(), samples.end()));
  CHECK(copies.size() <= 3);
  model.noise = 0.75f;
  trainer.update(model, samples, loss_of);
  CHECK(wrong == 0);

  // A model need not have a `new_graph`.
  const Parameter w = pc.add_parameters({2}, ParameterInitConst(1.0f));
  const double mean = trainer.update(
      w, std::vector<float>{1, 2, 6},
      [](Parameter& p, ComputationGraph& g, float x) { return sum_elems(parameter(g, p)) * x; });
  CHECK(mean == 6);
  CHECK(as_vector(*w.values()) == std::vector<float>{1 - 0.1f * 3, 1 - 0.1f * 3});
}

TEST_CASE("batch trainer: after an error everything is as before, and it goes on") {
  ParameterCollection pc;
  const Model model(pc);
  AdamTrainer adam(pc);
  {
    BatchTrainer trainer(adam, {.threads = 2});
    const std::vector<unsigned> samples = minibatch(0, 16);
    trainer.update(model, samples, &Model::loss);
    const std::vector<float> before = test::all_values(pc);
    CHECK_THROWS_WITH(trainer.update(model, std::vector<unsigned>{}, &Model::loss),
                      Contains("the minibatch has no samples"));
    CHECK_THROWS_WITH(trainer.update(model, samples,
                                     [](Model& m, ComputationGraph& g, unsigned sample) {
                                       if (sample == 13 * 9) throw std::runtime_error("bad sample");
                                       return m.loss(g, sample);
                                     }),
                      "bad sample");
    CHECK_THROWS_WITH(trainer.update(model, samples,
                                     [](Model& m, ComputationGraph& g, unsigned) {
                                       return lookup(g, m.words, 1u);
                                     }),
                      Contains("{6}"));
    CHECK(same_bits(test::all_values(pc), before));
    CHECK(adam.updates == 1);
    trainer.update(model, samples, &Model::loss);
    CHECK_FALSE(same_bits(test::all_values(pc), before));
  }
  // The trainer outlives the threads.
  ComputationGraph cg;
  Model own = model;
  own.new_graph(cg);
  cg.backward(own.loss(cg, 1));
  adam.update();
  CHECK(adam.updates == 3);
  CHECK_THROWS_AS(BatchTrainer(adam, {.lanes = 0}), ArgumentError);
}

}  // namespace batch_trainer_test
