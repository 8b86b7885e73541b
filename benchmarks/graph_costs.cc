// Costs of a graph without its arithmetic: time per node, allocations, memory.
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "benchmarks/heap.h"
#include "benchmarks/measure.h"
#include "benchmarks/memory.h"
#include "benchmarks/training/task.h"
#include "dynet-like/plan/plan_maker.h"
#include "dynet-like/profile/profiler.h"

namespace {

using namespace dynet;

constexpr int kRounds = 40;

/// Chain of about `nodes` nodes, two per iteration, plus the loss.
Expression build_chain(ComputationGraph& cg, const Parameter& p, int nodes) {
  const Expression x = parameter(cg, p);
  Expression y = x;
  for (int i = 0; i < nodes; i += 2) y = tanh(y + x);
  return y;
}

void nodes_of_four_numbers() {
  constexpr int kNodes = 20000;
  ParameterCollection model;
  const Parameter p = model.add_parameters({4});
  ComputationGraph cg;
  double build = 1e9, first = 1e9, again = 1e9, backward = 1e9;
  for (int r = 0; r < kRounds; ++r) {
    cg.clear();
    Expression y;
    build = std::min(build, bench::fastest(1, [&] { y = build_chain(cg, p, kNodes); }));
    first = std::min(first, bench::fastest(1, [&] { bench::keep(y.value()); }));
    again = std::min(again, bench::fastest(1, [&] { bench::keep(cg.forward(y)); }));
    const Expression loss = sum_elems(y);
    loss.value();
    backward = std::min(backward, bench::fastest(1, [&] { cg.backward(loss); }));
    model.reset_gradient();
  }
  std::printf("y = tanh(y + x), 4 numbers, %d nodes        ns a node   asked   DyNet\n", kNodes);
  std::printf("  build                                        %7.1f    <= 10      39\n",
              1e9 * build / kNodes);
  std::printf("  forward                                      %7.1f    <= 20      20\n",
              1e9 * first / kNodes);
  std::printf("  forward again                                %7.1f\n", 1e9 * again / kNodes);
  std::printf("  backward                                     %7.1f                22\n",
              1e9 * backward / kNodes);
}

/// The cost of a profiler that records: every node of the chain is a kernel call.
void watched_nodes() {
  constexpr int kNodes = 20000;
  ParameterCollection model;
  const Parameter p = model.add_parameters({4});
  std::array<double, 2> fastest{1e9, 1e9};
  for (int r = 0; r < kRounds; ++r)
    for (const bool watched : {false, true}) {
      Profiler profiler({.skip = 0, .record = 1});
      ComputationGraph cg;
      if (watched) profiler.watch(cg);
      fastest[watched] = std::min(fastest[watched], bench::fastest(1, [&] {
                                    bench::keep(build_chain(cg, p, kNodes).value());
                                    cg.clear();
                                  }));
    }
  std::printf("  more for a call while a profiler records     %7.1f\n",
              1e9 * (fastest[1] - fastest[0]) / kNodes);
}

/// Planning of alternating graphs, as in training.
void planning(const char* name, const std::unique_ptr<bench::Task>& task) {
  std::array<ComputationGraph, 64> graphs;
  std::size_t nodes = 0;
  for (std::size_t k = 0; k < graphs.size(); ++k) {
    task->build(graphs[k], k, 1);
    nodes += graphs[k].size();
  }
  PlanMaker planner(PlanPolicy::in_batches);
  Plan plan;
  const double seconds = bench::fastest(kRounds, [&] {
    for (ComputationGraph& cg : graphs)
      planner.make(cg.store(), 0, static_cast<NodeId>(cg.size()), plan);
  });
  std::printf("planning a new structure, %-15s              %7.1f    <= 25\n", name,
              1e9 * seconds / static_cast<double>(nodes));
}

void lstm_steps() {
  constexpr int kSteps = 200;
  ParameterCollection model;
  VanillaLSTMBuilder lstm(1, 128, 50, model);
  const LookupParameter words = model.add_lookup_parameters(1, {128});
  ComputationGraph cg;
  double build = 1e9;
  for (int r = 0; r < 5 * kRounds; ++r) {
    cg.clear();
    lstm.new_graph(cg);
    lstm.start_new_sequence();
    const Expression x = lookup(cg, words, 0);
    build = std::min(build, bench::fastest(1, [&] {
                       for (int i = 0; i < kSteps; ++i) lstm.add_input(x);
                     }));
  }
  std::printf("one LSTM step, built by VanillaLSTMBuilder     %7.1f ns <= 250     630\n",
              1e9 * build / kSteps);
}

/// Decoder: each step is evaluated before the next one is built.
void decoder_steps() {
  constexpr int kSteps = 100;
  ParameterCollection model;
  VanillaLSTMBuilder lstm(1, 8, 8, model);
  const LookupParameter words = model.add_lookup_parameters(100, {8});
  const Parameter out = model.add_parameters({5, 8});
  ComputationGraph cg;
  double best = 1e9;
  std::size_t nodes = 0;
  for (int r = 0; r < 5 * kRounds; ++r) {
    cg.clear();
    lstm.new_graph(cg);
    lstm.start_new_sequence();
    const Expression o = parameter(cg, out);
    best = std::min(best, bench::fastest(1, [&] {
                      for (unsigned i = 0; i < kSteps; ++i)
                        bench::keep(softmax(o * lstm.add_input(lookup(cg, words, i))).value());
                    }));
    nodes = cg.size();
  }
  std::printf("a step of a decoder, evaluated at once         %7.1f ns a node, %.1f nodes\n",
              1e9 * best / static_cast<double>(nodes), static_cast<double>(nodes) / kSteps);
}

/// Exclusive or: updates of one sample.
void small_network() {
  constexpr int kUpdates = 2000;
  ParameterCollection model;
  const Parameter w = model.add_parameters({8, 2}), b = model.add_parameters({8}),
                  v = model.add_parameters({1, 8}), a = model.add_parameters({1});
  SimpleSGDTrainer trainer(model);
  std::array<double, 4> best;
  best.fill(1e9);
  for (int r = 0; r < kRounds; ++r) {
    std::array<double, 4> sum{};
    for (unsigned i = 0; i < kUpdates; ++i) {
      const float x = static_cast<float>(i & 1), y = static_cast<float>(i >> 1 & 1);
      ComputationGraph cg;
      Expression loss;
      const auto timed = [&](std::size_t part, auto&& f) {
        const double start = bench::wall_clock();
        f();
        sum[part] += bench::wall_clock() - start;
      };
      timed(0, [&] {
        const Expression h =
            tanh(parameter(cg, w) * input(cg, {2}, std::vector<float>{x, y}) + parameter(cg, b));
        loss = binary_log_loss(logistic(parameter(cg, v) * h + parameter(cg, a)),
                               input(cg, x != y ? 1.0f : 0.0f));
      });
      timed(1, [&] { bench::keep(loss.value()); });
      timed(2, [&] { cg.backward(loss); });
      timed(3, [&] { trainer.update(); });
    }
    for (std::size_t k = 0; k < best.size(); ++k) best[k] = std::min(best[k], sum[k] / kUpdates);
  }
  std::printf(
      "an update of exclusive or: build, forward, backward, update  %.0f %.0f %.0f %.0f ns\n",
      1e9 * best[0], 1e9 * best[1], 1e9 * best[2], 1e9 * best[3]);
}

void clearing() {
  ParameterCollection model;
  const Parameter p = model.add_parameters({4});
  std::vector<char> cache(std::size_t{1} << 26);  // larger than any CPU cache
  const double clock = bench::fastest(100, [] {});
  std::printf("clear(), ns, memory cold, after nodes:        ");
  for (const int nodes : {10, 100'000, 10'000'000}) {
    double best = 1e9;
    for (int r = 0; r < 5; ++r) {
      ComputationGraph cg;
      build_chain(cg, p, nodes);
      for (std::size_t i = 0; i < cache.size(); i += 64) ++cache[i];
      best = std::min(best, bench::fastest(1, [&] { cg.clear(); }) - clock);
    }
    std::printf(" %d: %.0f ", nodes, 1e9 * best);
  }
  std::printf("\n");
  release_graph_memory();
}

void making_and_dropping() {
  constexpr int kGraphs = 100'000;
  const double seconds = bench::fastest(10, [] {
    for (int i = 0; i < kGraphs; ++i) {
      ComputationGraph cg;
      bench::keep(cg);
    }
  });
  std::printf("an empty graph, made and dropped               %7.1f ns\n", 1e9 * seconds / kGraphs);
}

/// Graph of a training step: embeddings, an LSTM, a loss, backward, an update.
void train_step(Trainer& trainer, VanillaLSTMBuilder& lstm, const LookupParameter& words,
                const Parameter& out, int length, int number) {
  ComputationGraph cg;
  lstm.new_graph(cg);
  lstm.start_new_sequence();
  const Expression o = parameter(cg, out);
  Expression loss;
  for (int i = 0; i < length; ++i) {
    const Expression h = lstm.add_input(lookup(cg, words, (i * 7 + number) % 100));
    const Expression l = pickneglogsoftmax(o * h, static_cast<unsigned>(i % 5));
    loss = i == 0 ? l : loss + l;
  }
  cg.backward(loss);
  trainer.update();
}

void memory() {
  ParameterCollection model;
  VanillaLSTMBuilder lstm(1, 8, 8, model);
  const LookupParameter words = model.add_lookup_parameters(100, {8});
  const Parameter out = model.add_parameters({5, 8});
  AdamTrainer trainer(model);
  for (int i = 0; i < 200; ++i) train_step(trainer, lstm, words, out, 1 + i % 20, i);

  constexpr int kWarm = 1000;
  long before = bench::allocations;
  for (int i = 0; i < kWarm; ++i) {
    ComputationGraph cg;
    bench::keep(build_chain(cg, out, 100));
  }
  const long building = bench::allocations - before;
  before = bench::allocations;
  for (int i = 0; i < kWarm; ++i) train_step(trainer, lstm, words, out, 1 + i % 20, i);
  const long training = bench::allocations - before;
  std::printf(
      "heap allocations a warm graph                  built %.3f, trained %.3f  (asked: 0)\n",
      static_cast<double>(building) / kWarm, static_cast<double>(training) / kWarm);

  constexpr int kGraphs = 1'000'000;
  const double resident = bench::resident(), start = bench::now();
  for (int i = 0; i < kGraphs; ++i) train_step(trainer, lstm, words, out, 1 + i % 5, i);
  std::printf(
      "%d small graphs trained and dropped        %.2f us each, resident %.2f MiB -> %.2f "
      "MiB\n",
      kGraphs, 1e6 * (bench::now() - start) / kGraphs, resident, bench::resident());
}

}  // namespace

int main() {
  std::printf("calibrator                                     %7.1f GFLOP/s\n",
              bench::calibrator());
  nodes_of_four_numbers();
  watched_nodes();
  planning("tree-LSTM", bench::make_tree_lstm(bench::make_trees()));
  planning("BiLSTM tagger", bench::make_tagger(bench::make_tagged_text()));
  lstm_steps();
  decoder_steps();
  small_network();
  making_and_dropping();
  clearing();
  memory();
}
