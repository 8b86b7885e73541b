// Repeated graphs: a replayed pass has the results of the captured one.

#include <thread>

#include "dynet-like/graph/graph_state.h"
#include "dynet-like/run/executor.h"
#include "tests/support/all_values.h"
#include "tests/support/graph_program.h"
#include "tests/support/prelude.h"

namespace replay_test {

using namespace dynet;

namespace {

struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({5, 5}), v = pc.add_parameters({5, 5}),
            b = pc.add_parameters({5});
  LookupParameter table = pc.add_lookup_parameters(9, {5});
};

/// A recurrence over rows of a table.
Expression chain(ComputationGraph& g, Model& m, const std::vector<unsigned>& rows) {
  const Expression W = parameter(g, m.w), V = parameter(g, m.v), b = parameter(g, m.b);
  Expression h = b;
  for (const unsigned row : rows) h = tanh(affine_transform({b, W, lookup(g, m.table, row), V, h}));
  return squared_norm(h);
}

/// A graph with its own executor, which counts replayed passes.
struct Counted {
  ComputationGraph g;
  Executor<float> executor{state_of(g).store, PlanPolicy::in_batches};

  void clear() {
    executor.clear();
    g.clear();
  }
  /// Runs both passes, drops the gradients and clears the graph.
  void pass(const Expression& loss, ParameterCollection& pc, bool full = false) {
    forward(loss);
    executor.backward(loss.i, full);
    pc.reset_gradient();
    clear();
  }
  float forward(const Expression& e) {
    executor.forward(e.i);
    return executor.value(e.i, e.result)[0];
  }
  Floats value(const Expression& e) {
    return Floats(executor.value(e.i, e.result), executor.value(e.i, e.result) + e.dim().size());
  }
  Floats gradient(const Expression& e) {
    return Floats(executor.gradient(e.i, e.result),
                  executor.gradient(e.i, e.result) + e.dim().size());
  }
};

/// All gradients of a model, which are then reset.
Floats take_gradients(Model& m) {
  const Floats all = test::all_gradients(m.pc);
  m.pc.reset_gradient();
  return all;
}

/// Expected results, from a graph with the validity check, which is never replayed.
struct Expected {
  float loss = 0;
  Floats gradients;

  Expected(Model& m, const std::vector<unsigned>& rows) {
    ComputationGraph g;
    g.set_check_validity(true);
    const Expression e = chain(g, m, rows);
    loss = as_scalar(e.value());
    g.backward(e);
    gradients = take_gradients(m);
  }
};

/// A graph over these rows, whose numbers must be those expected. It is not cleared.
Expression run(Counted& c, Model& m, const std::vector<unsigned>& rows) {
  const Expected expected(m, rows);
  const Expression loss = chain(c.g, m, rows);
  CHECK(c.forward(loss) == expected.loss);
  c.executor.backward(loss.i);
  CHECK(take_gradients(m) == expected.gradients);
  return loss;
}

const std::vector<std::vector<unsigned>> kRows = {{1, 2, 3}, {4, 4, 0}, {8, 1, 8}, {7, 6, 5},
                                                  {0, 0, 0}, {2, 3, 2}, {5, 8, 1}, {3, 3, 7}};

}  // namespace

TEST_CASE("a repeated graph is replayed over other rows with the same bits") {
  Model m;
  SimpleSGDTrainer trainer(m.pc, 0.1f);
  Counted c;
  std::size_t batches = 0, bytes = 0;
  for (const std::vector<unsigned>& rows : kRows) {
    const Expression loss = run(c, m, rows);
    if (batches == 0) batches = c.executor.batches();
    if (bytes == 0) bytes = c.executor.gradient_bytes();
    CHECK(c.executor.batches() == batches);
    CHECK(c.executor.gradient_bytes() == bytes);
    c.executor.backward(loss.i);
    trainer.update();
    c.clear();
  }
  // Seen, cached, found, captured: the fifth run is the first replay.
  CHECK(c.executor.forward_replays() == kRows.size() - 4);
  CHECK(c.executor.backward_replays() >= 2 * (kRows.size() - 4));
}

TEST_CASE("a check for NaN is made though the graph has been replayed without") {
  Model m;
  Counted c;
  const auto forward = [&](float x) {
    c.clear();
    const Expression sum =
        sum_elems(sqrt(parameter(c.g, m.b) * 0.0f + input(c.g, {5}, Floats(5, x))));
    c.forward(sum);
    return sum.i;
  };
  const auto backward = [&](NodeId loss) {
    c.executor.backward(loss);
    m.pc.reset_gradient();
  };
  for (unsigned k = 0; k < 7; ++k) backward(forward(1));
  REQUIRE(c.executor.backward_replays() > 0);
  const NodeId loss = forward(0);  // the gradient is infinite
  c.executor.set_check_validity(true);
  CHECK_THROWS_AS(backward(loss), NumericError);
  CHECK_THROWS_AS(forward(-1), NumericError);
  CHECK_NOTHROW(backward(forward(1)));
}

TEST_CASE("nothing is replayed over gradients that lie elsewhere now, though values do not") {
  Model m;
  Counted c;
  const auto small = [&] {
    c.clear();
    const Expression loss = chain(c.g, m, kRows[0]);
    c.forward(loss);
    c.executor.backward(loss.i);
    m.pc.reset_gradient();
  };
  for (unsigned k = 0; k < 7; ++k) small();
  const std::size_t replays = c.executor.backward_replays();
  REQUIRE(replays > 0);
  small();
  REQUIRE(c.executor.backward_replays() == replays + 1);
  c.clear();
  // Two plans, each of which fits into the memory of the last graph; their gradients do not.
  const Expression first = tanh(zeros(c.g, {7000}));
  c.forward(first);
  const Expression second = tanh(first),
                   loss = sum_elems(second) + squared_norm(parameter(c.g, m.b));
  c.forward(loss);
  c.executor.backward(loss.i, true);
  const std::size_t forward_replays = c.executor.forward_replays();
  small();
  CHECK(c.executor.forward_replays() == forward_replays + 1);
  CHECK(c.executor.backward_replays() == replays + 1);
}

TEST_CASE("a pass is captured again after a lasting change") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 30; ++k) {
    m.v.set_updated(k < 8);
    c.pass(chain(c.g, m, kRows[k % 8]), m.pc);
  }
  CHECK(c.executor.forward_replays() > 15);
  CHECK(c.executor.backward_replays() > 15);
}

TEST_CASE("a run that was undone does not decide what is replayed after it") {
  Model m;
  Counted c;
  const auto pass = [&](bool undoes) {
    const Expression first = chain(c.g, m, kRows[0]);
    c.forward(first);
    if (undoes) {
      c.g.checkpoint();
      c.forward(chain(c.g, m, kRows[1]) * first);
      c.executor.truncate(first.i + 1);
      c.g.revert();
    }
    c.forward(chain(c.g, m, kRows[2]) + first);
    c.clear();
  };
  for (unsigned k = 0; k < 12; ++k) pass(true);
  const std::size_t replays = c.executor.forward_replays();
  pass(false);
  CHECK(c.executor.forward_replays() == replays + 2);
}

TEST_CASE("gradients of all expressions are available after a replay") {
  Model m;
  Counted c;
  std::vector<Floats> first;
  for (unsigned k = 0; k < 8; ++k) {
    const Expression idle = parameter(c.g, m.v) * 3.0f;
    const Expression loss = chain(c.g, m, kRows[0]), unused = parameter(c.g, m.w) * 2.0f;
    c.forward(unused);
    c.executor.backward(loss.i);
    std::vector<Floats> now;
    for (NodeId id = 0; id <= loss.i; ++id) {
      const float* const g = c.executor.gradient(id);
      now.emplace_back(g, g + state_of(c.g).store.nodes[id].dim.size());
    }
    if (k == 0) first = now;
    CHECK(now == first);
    CHECK_THROWS_AS(c.executor.gradient(unused.i), GradientError);
    m.pc.reset_gradient();

    c.executor.backward(loss.i);
    SimpleSGDTrainer trainer(m.pc, 0.0f);
    trainer.update();  // counts as a change of the parameters
    CHECK_THROWS_AS(c.executor.gradient(loss.i - 1), GradientError);
    CHECK_NOTHROW(c.executor.gradient(idle.i + 1));  // the gradient of a parameter node
    CHECK(c.gradient(idle) == Floats(25, 0.0f));
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 0);
}

TEST_CASE("a pass that is not replayed keeps nothing of an earlier replay") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 20; ++k) {
    const Expression idle = parameter(c.g, m.v) * 3.0f;  // only the second loss depends on it
    const Expression first = chain(c.g, m, kRows[0]);
    c.forward(first);
    c.executor.backward(first.i);
    const std::size_t replays = c.executor.backward_replays();
    // The size differs from graph to graph.
    const std::vector<unsigned> rows(k + 1, k % 9);
    const Expression h = chain(c.g, m, rows), second = h * 2.0f + sum_elems(idle);
    c.forward(second);
    c.executor.backward(second.i);
    CHECK(c.executor.backward_replays() == replays);
    CHECK(c.gradient(h) == Floats{2});
    CHECK(c.gradient(idle) == Floats(25, 1.0f));
    CHECK(c.gradient(first) == Floats{0});
    m.pc.reset_gradient();
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 10);
}

TEST_CASE("matrices that are transposed for a pass are, in a replay, as they are now") {
  Model m;
  SimpleSGDTrainer trainer(m.pc, 0.1f);
  Counted c;
  for (unsigned k = 0; k < 8; ++k) {
    const std::vector<unsigned> rows(50, k);  // enough columns for the transposed matrix
    const Expression loss = run(c, m, rows);
    c.executor.backward(loss.i);
    trainer.update();
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 3);
}

TEST_CASE("large graphs are not captured, nor what comes once") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 8; ++k) {
    chain(c.g, m, std::vector<unsigned>(Captures<float>::kMost / 3, 1));
    c.executor.forward(c.g.size() - 1);
    c.clear();
  }
  for (unsigned n = 0; n < 1600; ++n)  // more structures than the table of seen structures holds
    for (unsigned k = 0; k < 3; ++k) {
      Expression e = chain(c.g, m, std::vector<unsigned>(1 + n / 40, 1));
      for (unsigned more = 0; more < n % 40; ++more) e = tanh(e);
      c.executor.forward(e.i);
      c.clear();
    }
  CHECK(c.executor.capture_bytes() == 0);
}

TEST_CASE("a graph of very many nodes runs in windows") {
  Model m;
  Counted c;
  const Expression b = parameter(c.g, m.b);
  for (unsigned k = 0; k < 70'000; ++k) tanh(b);
  c.executor.forward(c.g.size() - 1);
  CHECK(c.executor.batches() > 1);
  CHECK(c.executor.batches() < 20);
}

TEST_CASE("captures take no more memory than they may, and go with release") {
  Model m;
  Counted c;
  for (unsigned round = 0; round < 6; ++round)
    for (unsigned n = 1; n < 150; ++n) {
      c.pass(chain(c.g, m, std::vector<unsigned>(n, n % 9)), m.pc);
      REQUIRE(c.executor.capture_bytes() < 12u << 20);
    }
  CHECK(c.executor.capture_bytes() > 1u << 20);
  c.executor.release();
  CHECK(c.executor.capture_bytes() == 0);
}

namespace {

/// Differences of one run from the run before.
enum class Change {
  rows,
  weight,
  pointers,
  values,  // in what a replay reads
  frozen,
  other_model,
  other_graph,
  other_loss,
  twice,
  numbered,
  thread,
  inference,
  bad_row,
  larger
};
constexpr unsigned kChanges = 14;

/// Runs a random graph piece by piece, and backward. Returns all values and gradients.
Floats run_random(ComputationGraph& g, Executor<float>& e, RandomGraph::Model& m, unsigned width,
                  std::uint64_t seed, std::optional<Change> change) {
  Floats all;
  const auto add = [&](const float* v, std::size_t n) { all.insert(all.end(), v, v + n); };
  g.set_seed(7);
  RandomGraph random(g, m, width, change == Change::other_graph ? seed + 1000 : seed);
  if (change == Change::bad_row) m.index = 1000;
  const auto forward = [&](const Expression& x) {
    try {
      e.forward(x.i);
    } catch (const IndexError&) {
      all.push_back(-1);
      m.index = 1;
      e.forward(x.i);
    }
    add(e.value(x.i), x.dim().size());
  };
  random.start();
  for (int piece = 0; piece < 3; ++piece) {
    random.grow(8);
    forward(random.vectors().back());
  }
  const Expression loss = random.loss(), other = loss * 3.0f;
  forward(other);
  m.index = std::min(m.index, width - 1);
  for (const Expression& x : random.vectors()) forward(x);
  if (change == Change::inference) return all;
  const auto pass = [&] { e.backward(change == Change::other_loss ? other.i : loss.i); };
  pass();
  if (change == Change::numbered) e.set_gradient_buffer(3);
  if (change == Change::thread) std::thread(pass).join();
  if (change == Change::twice || change == Change::numbered) pass();
  e.set_gradient_buffer(std::nullopt);
  for (NodeId id = 0; id <= loss.i; ++id)
    add(e.gradient(id), state_of(g).store.nodes[id].dim.size());
  for (const float x : test::all_gradients(m.pc)) all.push_back(x);
  m.pc.reset_gradient();
  return all;
}

}  // namespace

TEST_CASE("random graphs that come again with one change have the bits of a new executor") {
  std::size_t forward = 0, backward = 0, same = 0, same_replayed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto width = static_cast<unsigned>(2 + seed % 4);
    RandomGraph::Model model(width), other(width);
    other.w.scale(0.5f);
    Counted c;
    for (unsigned k = 0; k < 6 + 3 * kChanges; ++k) {
      std::optional<Change> change;  // in every third run, once there was time to capture
      if (k >= 6 && k % 3 == 0) change = static_cast<Change>((seed + k / 3) % kChanges);
      if (change == Change::rows) model.turn = k;
      if (change == Change::weight) model.weight = 1 + 0.01f * static_cast<float>(k);
      if (change == Change::pointers) {
        model.number = 0.1f * static_cast<float>(k % 9);
        model.index = k % width;
        model.rows = {k % 7, (k + 3) % 7};
      }
      if (change == Change::values) model.w.scale(0.9f);
      model.v.set_updated(change != Change::frozen);
      RandomGraph::Model& m = change == Change::other_model ? other : model;
      if (change == Change::larger) {
        Expression x = parameter(c.g, m.b);
        for (unsigned i = 0; i < 100 * k; ++i) x = tanh(x);
        c.pass(squared_norm(x), m.pc, true);
      }
      const unsigned index = m.index;
      ComputationGraph plain;
      Executor<float> fresh(state_of(plain).store, PlanPolicy::in_batches);
      for (Executor<float>* e : {&fresh, &c.executor})
        e->set_inference(change == Change::inference);
      const Floats expected = run_random(plain, fresh, m, width, seed, change);
      m.index = index;
      const std::size_t before = c.executor.forward_replays();
      CAPTURE(seed, k);
      CHECK(run_random(c.g, c.executor, m, width, seed, change) == expected);
      m.index = index;
      if (k > 8 && change && *change <= Change::values) {
        ++same;
        same_replayed += c.executor.forward_replays() > before;
      }
      c.clear();
    }
    forward += c.executor.forward_replays();
    backward += c.executor.backward_replays();
  }
  CHECK(forward > 1000);
  CHECK(backward > 200);
  CHECK(2 * same_replayed > same);
}

TEST_CASE("random programs that come again do what they would do the first time") {
  const GraphMode replayed{.name = "replayed"}, checked{.name = "checked", .check = true};
  release_graph_memory();  // room for cached plans
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const GraphProgram program{
        .width = static_cast<unsigned>(2 + seed % 4), .actions = 20, .changes = seed % 2 == 1};
    RandomGraph::Model a(program.width), b(program.width);
    for (unsigned k = 0; k < 7; ++k) {
      const GraphLog expected = run_program(program, Choices(seed), checked, b);
      const GraphLog found = run_program(program, Choices(seed), replayed, a);
      INFO("seed " << seed << ", time " << k);
      CHECK(first_difference(expected, found, SameBits::all) == "");
    }
  }
}

}  // namespace replay_test
