// Warm graphs allocate nothing.

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <new>

#include "tests/support/heap.h"
#include "tests/support/prelude.h"
#include "tests/support/sanitized.h"

namespace allocation_test {

using namespace dynet;

namespace {

/// A tagger with an LSTM over lookups, dropout, minibatches and a loss of more than eight operands.
struct Model {
  ParameterCollection pc;
  LookupParameter words =
      pc.add_lookup_parameters(100, {16}, "a name that needs memory of its own");
  Parameter w = pc.add_parameters({10, 12}), b = pc.add_parameters({10});
  VanillaLSTMBuilder lstm{2, 16, 12, pc};
  SimpleRNNBuilder rnn{1, 12, 12, pc};
  // Buffers of the caller, so that the caller allocates nothing.
  std::vector<Expression> losses;
  std::vector<unsigned> indices{1, 2, 3, 1}, classes{0, 9, 3, 4};
  std::vector<float> numbers = std::vector<float>(48, 0.5f);
  float sum_of_losses = 0;

  Model() { lstm.set_dropout(0.2f, 0.1f); }

  void build_and_run(ComputationGraph& g) {
    losses.clear();
    lstm.new_graph(g);
    lstm.start_new_sequence();
    rnn.new_graph(g);
    rnn.start_new_sequence();
    const Expression W = parameter(g, w), B = parameter(g, b);
    for (unsigned t = 0; t < 12; ++t) {
      Expression h = lstm.add_input(lookup(g, words, t * 3));
      h = rnn.add_input(h);
      losses.push_back(pickneglogsoftmax(affine_transform({B, W, h}), t % 10));
    }
    const Expression xs = lookup(g, words, indices);
    const Expression given = input(g, Dim({12}, 4), numbers);
    const Expression hs = tanh(pick_range(xs, 0, 12) + given + one_hot(g, 12, 5));
    losses.push_back(sum_batches(pickneglogsoftmax(W * hs + B, classes)));
    losses.push_back(sum_elems(dropout(noise(concatenate({W * hs, W * given}), 0.1f), 0.3f)));
    losses.back() = sum_batches(losses.back());
    const Expression loss = sum(losses) + sum_elems(average(losses)) + 0.5f * squared_norm(W);
    sum_of_losses += as_scalar(loss.value());
    g.backward(loss);
    sum_of_losses += losses[0].gradient().v[0];
    sum_of_losses += as_scalar(g.forward(loss));
  }
};

/// Heap allocations of 100 calls of `run` after five warm-up calls.
template <class Run>
std::size_t warm_allocations(Run run) {
  for (int i = 0; i < 5; ++i) run();
  const std::size_t before = heap::allocations();
  for (int i = 0; i < 100; ++i) run();
  return heap::allocations() - before;
}

bool counted() {
  if (!heap::counted()) skip("the sanitizer has the heap to itself");
  return heap::counted();
}

}  // namespace

TEST_CASE("a warm graph allocates nothing after clear") {
  if (!counted()) return;
  Model m;
  ComputationGraph g;
  CHECK(warm_allocations([&] {
          g.clear();
          m.build_and_run(g);
        }) == 0);
  m.pc.reset_gradient();
}

TEST_CASE("a graph for each sample allocates nothing once the memory is warm") {
  if (!counted()) return;
  Model m;
  CHECK(warm_allocations([&] {
          ComputationGraph g;
          m.build_and_run(g);
        }) == 0);
  m.pc.reset_gradient();
  // Gradients are dropped after every sample, as by a trainer.
  CHECK(warm_allocations([&] {
          ComputationGraph g;
          m.build_and_run(g);
          m.pc.reset_gradient();
        }) == 0);
}

TEST_CASE("a trainer's update allocates nothing once warm") {
  if (!counted()) return;
  Model m;
  AdamTrainer adam(m.pc);
  SimpleSGDTrainer sgd(m.pc);
  CHECK(warm_allocations([&] {
          for (Trainer* t : {static_cast<Trainer*>(&adam), static_cast<Trainer*>(&sgd)}) {
            ComputationGraph g;
            m.build_and_run(g);
            t->update();
          }
        }) == 0);
}

TEST_CASE("several graphs at once, checkpoints and immediate mode allocate nothing once warm") {
  if (!counted()) return;
  Model m, other;
  ComputationGraph kept;
  CHECK(warm_allocations([&] {
          ComputationGraph g, h;
          h.set_immediate_compute(true);
          h.set_check_validity(true);
          m.build_and_run(g);
          g.checkpoint();
          Expression x = m.losses[0];
          for (int k = 0; k < 50; ++k) x = tanh(x + 0.1f);
          x.value();
          g.revert();
          other.build_and_run(h);
          kept.clear();
          input(kept, 1.0f).value();
        }) == 0);
}

TEST_CASE("a graph smaller than an earlier one allocates nothing") {
  if (!counted()) return;
  Model m;
  ComputationGraph g;
  for (int i = 0; i < 3; ++i) {
    g.clear();
    m.build_and_run(g);
  }
  const auto run = [&](int n) {
    g.clear();
    Expression x = input(g, {16, 3}, m.numbers);
    for (int k = 0; k < n; ++k) x = tanh(x + x);
    g.backward(sum_elems(x), true);
  };
  run(1);  // stores the node kinds
  const std::size_t before = heap::allocations();
  for (int n = 2; n < 30; ++n) run(n);
  CHECK(heap::allocations() == before);
}

namespace {

/// Resident memory in bytes.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, total = 0;
  file >> total >> pages;
  return pages * 4096;
}

}  // namespace

TEST_CASE("a million graphs leave resident memory as it was (slow)") {
  if (resident() == 0) return skip("the system does not tell how much memory is resident");
  constexpr int kGraphs = DYNET_SANITIZED ? 200'000 : 1'000'000;
  ParameterCollection pc;
  auto p = pc.add_parameters({4, 4});
  auto e = pc.add_lookup_parameters(1000, {4});
  const auto run = [&](int graphs) {
    float sum = 0;
    for (int k = 0; k < graphs; ++k) {
      ComputationGraph g;
      const Expression W = parameter(g, p);
      Expression x = lookup(g, e, k % 1000);
      for (int i = 0; i < 2 + k % 3; ++i) x = tanh(W * x + x);
      const Expression loss = squared_norm(x);
      g.backward(loss);
      sum += as_scalar(loss.value());
      if (k % 10 == 0) pc.reset_gradient();
      if (k % 7 == 0) {  // several graphs at once, one of them cleared
        ComputationGraph h;
        input(h, 1.0f).value();
        h.clear();
        input(h, 2.0f);
      }
    }
    return sum;
  };
  CHECK(run(1000) > 0);
  const std::size_t before = resident();
  CHECK(run(kGraphs) > 0);
  const std::size_t after = resident();
  CAPTURE(before, after);
  CHECK(after <= before + (std::size_t{64} << (DYNET_SANITIZED ? 20 : 10)));
}

}  // namespace allocation_test
