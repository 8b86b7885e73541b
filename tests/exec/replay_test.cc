// Repeated graphs: a replayed pass has the results of the captured one.

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/graph/graph_state.h"
#include "dynet-like/run/executor.h"
#include "tests/support/catch.h"
#include "tests/support/graph_program.h"

namespace replay_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;

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
  float forward(const Expression& e) {
    executor.forward(e.i);
    return executor.value(e.i)[0];
  }
  Floats value(const Expression& e) {
    return Floats(executor.value(e.i), executor.value(e.i) + e.dim().size());
  }
  Floats gradient(const Expression& e) {
    return Floats(executor.gradient(e.i), executor.gradient(e.i) + e.dim().size());
  }
};

/// All gradients of a model, which are then reset.
Floats take_gradients(Model& m) {
  Floats all;
  const auto add = [&](const Floats& one) { all.insert(all.end(), one.begin(), one.end()); };
  for (const Parameter& p : {m.w, m.v, m.b}) add(as_vector(p.gradients()));
  for (unsigned row = 0; row < 9; ++row) add(m.table.row_gradient(row));
  m.pc.reset_gradient();
  return all;
}

/// Expected results, from a graph with the validity check, which is never replayed.
struct Expected {
  float loss = 0;
  Floats gradients;

  Expected(Model& m, const std::vector<unsigned>& rows, unsigned passes = 1, bool outer = false) {
    ComputationGraph g;
    g.set_check_validity(true);
    const Expression e = chain(g, m, rows), other = e * 3.0f;
    loss = as_scalar(e.value());
    for (unsigned k = 0; k < passes; ++k) g.backward(outer ? other : e);
    gradients = take_gradients(m);
  }
};

/// Runs a graph over these rows with `passes` backward passes and checks its results. The graph is
/// not cleared.
Expression run(Counted& c, Model& m, const std::vector<unsigned>& rows, unsigned passes = 1) {
  const Expected expected(m, rows, passes);
  const Expression loss = chain(c.g, m, rows);
  CHECK(c.forward(loss) == expected.loss);
  for (unsigned pass = 0; pass < passes; ++pass) c.executor.backward(loss.i);
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

TEST_CASE("a replayed graph uses the current weight of the loss") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < kRows.size(); ++k) {
    const float weight = 0.5f + static_cast<float>(k);
    const Expected plain(m, kRows[k]);
    const Expression weighted = (chain(c.g, m, kRows[k]) - 1.0f / weight) * weight;
    CHECK(c.forward(weighted) == (plain.loss - 1.0f / weight) * weight);
    c.executor.backward(weighted.i);
    const Floats gradients = take_gradients(m);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      REQUIRE(gradients[i] == Approx(weight * plain.gradients[i]).epsilon(1e-4).margin(1e-5));
    c.clear();
  }
  CHECK(c.executor.forward_replays() > 2);
  CHECK(c.executor.backward_replays() > 2);
}

TEST_CASE("gradients accumulate in replayed passes as in others") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 12; ++k) {
    run(c, m, kRows[k % kRows.size()], 1 + k % 3);
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 10);
}

TEST_CASE("captures distinguish models of one shape") {
  Model m[2];
  Counted c;
  for (unsigned k = 0; k < 80; ++k) {
    run(c, m[k / 30 % 2], kRows[k % kRows.size()]);
    c.clear();
  }
  CHECK(c.executor.forward_replays() > 50);  // of both models
}

TEST_CASE("the validity check runs after replays without it") {
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

TEST_CASE("a replayed view of a row refers to the current row") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 9; ++k) {
    c.clear();
    const Expression row = lookup(c.g, m.table, k), b = parameter(c.g, m.b);
    const Expression product = reshape(row, {1, 5}) * b;
    CHECK(c.forward(product) == Approx(as_scalar(dot_product(row, b).value())));
  }
  CHECK(c.executor.forward_replays() > 3);
}

TEST_CASE("backward is not replayed if the gradients have moved, even if values have not") {
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

TEST_CASE("a replay observes parameters frozen or unfrozen in between") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 16; ++k) {
    m.v.set_updated(k % 8 < 6);
    m.table.set_updated(k % 16 < 12);
    run(c, m, kRows[k % kRows.size()]);
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 0);
}

TEST_CASE("a pass is captured again after a lasting change") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 30; ++k) {
    m.v.set_updated(k < 8);
    const Expression loss = chain(c.g, m, kRows[k % 8]);
    c.forward(loss);
    c.executor.backward(loss.i);
    m.pc.reset_gradient();
    c.clear();
  }
  CHECK(c.executor.forward_replays() > 15);
  CHECK(c.executor.backward_replays() > 15);
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

TEST_CASE("inference is replayed and frees values as before") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 20; ++k) {
    const bool inference = k % 8 < 5;
    c.executor.set_inference(inference);
    const std::vector<unsigned>& rows = kRows[k % 8];
    const Expected expected(m, rows);
    const Expression loss = chain(c.g, m, rows);
    CHECK(c.forward(loss) == expected.loss);
    CHECK(c.forward(loss + chain(c.g, m, rows)) == expected.loss + expected.loss);
    if (!inference) {
      c.executor.backward(loss.i);
      CHECK(take_gradients(m) == expected.gradients);
    }
    c.clear();
  }
  CHECK(c.executor.forward_replays() > 15);
}

TEST_CASE("plans after other plans are replayed, whatever operands they use") {
  Model m;
  Counted c;
  ComputationGraph plain;
  plain.set_check_validity(true);
  for (unsigned k = 0; k < 40; ++k) {
    float sums[2] = {0, 0};
    Floats gradients[2];
    for (ComputationGraph* g : {&plain, &c.g}) {
      const bool counted = g == &c.g;
      const auto value = [&](const Expression& e) {
        return counted ? c.forward(e) : as_scalar(e.value());
      };
      const Expression row = lookup(*g, m.table, k % 9);
      std::vector<Expression> h{tanh(row + parameter(*g, m.b))};
      const Expression W = parameter(*g, m.w);
      for (unsigned step = 0; step < 3; ++step) {
        sums[counted] += value(sum_elems(h.back()));
        // Every fifth graph uses another operand.
        const Expression from = k % 5 == 4 ? h[0] : h.back();
        h.push_back(tanh(W * from + lookup(*g, m.table, (k + step) % 9) + row));
      }
      const Expression loss = squared_norm(h.back());
      sums[counted] += value(loss);
      counted ? c.executor.backward(loss.i) : g->backward(loss);
      gradients[counted] = take_gradients(m);
    }
    CHECK(sums[0] == sums[1]);
    CHECK(gradients[0] == gradients[1]);
    c.clear();
    plain.clear();
  }
  CHECK(c.executor.forward_replays() > 60);
  CHECK(c.executor.backward_replays() > 15);
}

TEST_CASE("a graph that is reverted inside a plan or between plans has the right results") {
  Model m;
  for (const bool between : {true, false}) {
    ComputationGraph g, plain;
    plain.set_check_validity(true);
    for (unsigned k = 0; k < 12; ++k) {
      Floats found[2];
      for (ComputationGraph* graph : {&plain, &g}) {
        const Expression first = chain(*graph, m, kRows[k % 8]);
        if (between) first.value();
        graph->checkpoint();
        const Expression second = chain(*graph, m, kRows[(k + 3) % 8]) * 0.5f;
        if (k % 3 != 0) (first + second).value();
        if (k % 4 == 1) graph->backward(first + second);
        graph->revert();
        const Expression loss = first + chain(*graph, m, kRows[(k + 1) % 8]);
        Floats& numbers = found[graph == &g];
        numbers.push_back(as_scalar(loss.value()));
        graph->backward(loss);
        for (const float x : take_gradients(m)) numbers.push_back(x);
        graph->clear();
      }
      CHECK(found[0] == found[1]);
    }
  }
}

TEST_CASE("an invalid row ends a replay, and the next graph has the right results") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 12; ++k) {
    unsigned row = k % 4 == 3 ? 9 : k % 9;
    const Expression h = tanh(lookup(c.g, m.table, &row) + parameter(c.g, m.b));
    const Expression loss = squared_norm(parameter(c.g, m.w) * h);
    if (row == 9) {
      CHECK_THROWS_AS(c.executor.forward(loss.i), IndexError);
      CHECK(c.executor.evaluated() == 0);
      row = 2;
    }
    const float found = c.forward(loss);
    ComputationGraph plain;
    plain.set_check_validity(true);
    CHECK(found == as_scalar(squared_norm(parameter(plain, m.w) *
                                          tanh(lookup(plain, m.table, row) + parameter(plain, m.b)))
                                 .value()));
    c.clear();
  }
  CHECK(c.executor.forward_replays() > 3);
}

TEST_CASE("backward is not replayed for another loss, buffer or thread") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 60; ++k) {
    const bool outer = k % 16 == 6;
    const std::vector<unsigned>& rows = kRows[k % 8];
    const Expected expected(m, rows, 2, outer);
    const Expression loss = chain(c.g, m, rows), other = loss * 3.0f;
    c.forward(other);
    const auto pass = [&] { c.executor.backward(outer ? other.i : loss.i); };
    pass();
    c.executor.set_gradient_buffer(k / 15 == 1 ? std::optional(3u) : std::nullopt);
    if (k / 15 == 2)
      std::thread(pass).join();
    else
      pass();
    c.executor.set_gradient_buffer(std::nullopt);
    const Floats found = take_gradients(m);
    for (std::size_t i = 0; i < found.size(); ++i)  // a sum over two buffers
      CHECK(found[i] == Approx(expected.gradients[i]).margin(1e-5));
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 50);
}

TEST_CASE("a replay transposes current matrices") {
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

TEST_CASE("a graph whose loss is evaluated separately is replayed with the loss") {
  Model m;
  Counted c;
  const auto loss_of = [](const Expression& e, bool other) {
    return other ? square(e) : logistic(e) * 2.0f;
  };
  for (unsigned k = 0; k < 16; ++k) {
    const bool other = k % 8 >= 6;
    const std::vector<unsigned> rows(8, k % 9);
    ComputationGraph plain;
    plain.set_check_validity(true);
    const Expression expected = loss_of(chain(plain, m, rows), other);
    const float value = as_scalar(expected.value());
    plain.backward(expected);
    const Floats gradients = take_gradients(m);

    const Expression inner = chain(c.g, m, rows);
    c.executor.forward(inner.i);
    const Expression loss = loss_of(inner, other);
    CHECK(c.forward(loss) == value);
    c.executor.backward(loss.i);
    CHECK(take_gradients(m) == gradients);
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 4);
}

TEST_CASE("neither large graphs nor single graphs are captured") {
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

TEST_CASE("backward is not replayed after a larger graph has moved the gradients") {
  Model m;
  Counted c;
  for (unsigned k = 0; k < 40; ++k) {
    const bool large = k % 10 == 9;
    const std::vector<unsigned> rows = large ? std::vector<unsigned>(300 * k, k % 9) : kRows[k % 8];
    const std::size_t replays = c.executor.backward_replays();
    run(c, m, rows);
    if (k > 0 && k % 10 == 0) CHECK(c.executor.backward_replays() == replays);
    c.clear();
  }
  CHECK(c.executor.backward_replays() > 20);
}

TEST_CASE("captures stay within their memory limit and are freed by release") {
  Model m;
  Counted c;
  for (unsigned round = 0; round < 6; ++round)
    for (unsigned n = 1; n < 150; ++n) {
      const std::vector<unsigned> rows(n, n % 9);
      const Expression loss = chain(c.g, m, rows);
      c.forward(loss);
      c.executor.backward(loss.i);
      m.pc.reset_gradient();
      c.clear();
      REQUIRE(c.executor.capture_bytes() < 12u << 20);
    }
  CHECK(c.executor.capture_bytes() > 1u << 20);
  c.executor.release();
  CHECK(c.executor.capture_bytes() == 0);
}

TEST_CASE("repeated random programs have the results of the first run") {
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
