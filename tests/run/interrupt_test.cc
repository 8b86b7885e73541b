#include "dynet-like/base/interrupt.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "dynet-like/graph/graph_state.h"
#include "tests/run/random_graph.h"
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace interrupt_test {

using namespace dynet;

namespace {

struct Stop : std::runtime_error {
  Stop() : runtime_error("stop") {}
};

// Interrupt that throws at call number `at`, counted from 0.
struct Stopper {
  int looks = 0, at;
  Interrupt interrupt{[this] {
                        if (looks++ == at) throw Stop();
                      },
                      std::chrono::milliseconds(0)};
  explicit Stopper(int where) : at(where) {}
};

// Branches that cannot be batched, so that each has steps of its own.
Expression network(ComputationGraph& g, Parameter& w, LookupParameter& table) {
  std::vector<Expression> ends;
  for (unsigned k = 0; k < 4; ++k) {
    Expression h = lookup(g, table, k);
    for (unsigned i = 0; i <= k; ++i) h = tanh(parameter(g, w) * h + float(k));
    ends.push_back(squared_norm(h));
  }
  return sum(ends);
}

/// Values and gradients of a random graph.
struct Results {
  std::vector<float> values, gradients;
  bool stopped = false;
};

unsigned size_of(std::uint64_t seed) { return 3 + static_cast<unsigned>(seed % 5); }

/// Results of a pass that was stopped at call number `at`, if given, and then repeated on the same
/// graph.
Results results_of(RandomGraph::Model& model, std::uint64_t seed, std::optional<int> at) {
  model.pc.reset_gradient();
  ComputationGraph g(true);
  g.set_seed(seed);
  RandomGraph random(g, model, size_of(seed), seed);
  const Expression loss = random.build();
  Results results;
  if (at) {
    Stopper stopper(*at);
    if (seed % 2 == 0) model.index = 1000;
    state_of(g).evaluator->set_interrupt(&stopper.interrupt);
    try {
      loss.value();
      g.backward(loss);
    } catch (const std::exception&) {
      results.stopped = true;
    }
    model.index = 1;
    state_of(g).evaluator->set_interrupt(nullptr);
    model.pc.reset_gradient();
  }
  loss.value();
  g.backward(loss);
  for (const Expression& x : random.vectors())
    for (float v : as_vector(x.value())) results.values.push_back(v);
  results.gradients = test::all_gradients(model.pc);
  return results;
}

/// Seeds of graphs whose results after a stop differ by more than rounding.
std::vector<std::uint64_t> graphs_that_differ(std::uint64_t first, std::uint64_t end) {
  std::vector<std::uint64_t> different;
  std::size_t stopped = 0, other_bits = 0;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    RandomGraph::Model model(size_of(seed));
    const Results whole = results_of(model, seed, std::nullopt);
    const Results again = results_of(model, seed, static_cast<int>(seed * 7 % 31));
    stopped += again.stopped;
    other_bits += again.gradients != whole.gradients;
    bool same = again.values == whole.values && again.gradients.size() == whole.gradients.size();
    for (std::size_t i = 0; same && i < whole.gradients.size(); ++i)
      same = std::abs(again.gradients[i] - whole.gradients[i]) <=
             1e-5f * (1 + std::abs(whole.gradients[i]));
    if (!same) different.push_back(seed);
  }
  INFO(stopped << " graphs were stopped, " << other_bits << " have gradients with other last bits");
  CHECK(stopped > (end - first) / 3);
  CHECK(other_bits <= stopped / 50);
  return different;
}

}  // namespace

// The remaining nodes have a plan of their own, and the gradient of a shared matrix is a sum in the
// order of plans, so gradients may differ by rounding.
TEST_CASE("a random graph has the same values, and gradients up to rounding, after a stop") {
  CHECK(graphs_that_differ(0, 500).empty());
}

TEST_CASE(
    "5,000 random graphs have the same values after a stop, gradients up to rounding (slow)") {
  CHECK(graphs_that_differ(500, 5500).empty());
}

TEST_CASE("a pass that was stopped at any step can be repeated") {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({5, 5});
  LookupParameter table = pc.add_lookup_parameters(4, {5});
  const bool batched = GENERATE(false, true), inference = GENERATE(false, true);
  std::vector<float> expected;
  float value = 0;
  {
    ComputationGraph g;
    const Expression loss = network(g, w, table);
    value = as_scalar(loss.value());
    g.backward(loss);
    expected = as_vector(w.gradients());
    pc.reset_gradient();
  }
  int stopped = 0;
  for (bool went_through = false; !went_through; ++stopped) {
    Stopper stopper(stopped);
    ComputationGraph g(batched);
    g.set_inference(inference);
    state_of(g).evaluator->set_interrupt(&stopper.interrupt);
    const Expression loss = network(g, w, table);
    try {
      const float found = as_scalar(loss.value());  // may throw, which CHECK would report
      CHECK(found == Approx(value));
      if (!inference) g.backward(loss);
      went_through = true;
    } catch (const Stop&) {
      pc.reset_gradient();
    }
    // A second pass without an interrupt.
    pc.reset_gradient();
    state_of(g).evaluator->set_interrupt(nullptr);
    CHECK(as_scalar(loss.value()) == Approx(value));
    if (inference) continue;
    g.backward(loss);
    const std::vector<float> found = as_vector(w.gradients());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]));
    pc.reset_gradient();
  }
  CHECK(stopped > (inference ? 5 : 10));
}

TEST_CASE("an interrupt is checked at most once per interval") {
  int looks = 0;
  Interrupt interrupt([&] { ++looks; }, std::chrono::milliseconds(60000));
  for (int i = 0; i < 1000; ++i) interrupt.look();
  CHECK(looks == 1);
}

TEST_CASE("an interrupt is checked among short steps, and soon when steps are long") {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  constexpr milliseconds kEvery(20);
  int checks = 0;
  Interrupt interrupt([&] { ++checks; }, kEvery);
  const auto begin = steady_clock::now();
  while (checks < 4 && steady_clock::now() - begin < milliseconds(10'000)) interrupt.look();
  CHECK(checks == 4);
  CHECK(steady_clock::now() - begin >= 3 * kEvery);
  int looks = 0;
  for (; checks == 4 && looks < 100; ++looks) {
    std::this_thread::sleep_for(milliseconds(2));
    interrupt.look();
  }
  CHECK(looks <= 32);
}

TEST_CASE("a graph does not pass its interrupt on to the next graph") {
  Stopper stopper(0);
  {
    ComputationGraph g;
    state_of(g).evaluator->set_interrupt(&stopper.interrupt);
  }
  ComputationGraph g;
  CHECK(as_scalar(square(input(g, 3.0f)).value()) == 9);
  CHECK(stopper.looks == 0);
}

}  // namespace interrupt_test
