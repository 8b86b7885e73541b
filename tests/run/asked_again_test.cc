// Requests for values after a pass: a value is that of the last forward pass, or an error states
// why it is missing. Values whose memory was reused are recomputed.

#include <cstdio>
#include <new>

#include "dynet-like/run/executor.h"
#include "tests/support/heap.h"
#include "tests/support/prelude.h"

namespace asked_again_test {

using namespace dynet;

namespace {

/// Whether the memory of a value was reused, so that a request recomputes it.
bool is_forgotten(ComputationGraph& g, const Expression& e) {
  const std::size_t before = g.statistics().value_bytes;
  e.value();
  return g.statistics().value_bytes > before;
}

/// Whether y is tanh(h) up to rounding.
bool is_tanh(const std::vector<float>& y, const std::vector<float>& h) {
  for (std::size_t i = 0; i < h.size(); ++i)
    if (y.size() != h.size() || std::abs(y[i] - std::tanh(h[i])) > 1e-6f) return false;
  return true;
}

bool is_tanh(const Expression& y, const Expression& h) {
  return is_tanh(as_vector(y.value()), as_vector(h.value()));
}

struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({3, 3}), v = pc.add_parameters({3});
  LookupParameter table = pc.add_lookup_parameters(7, {3});
};

using Make = std::function<Expression(ComputationGraph&, Model&)>;

// Operands of a node computed in place, which reuses their memory.
const std::vector<std::pair<const char*, Make>> kOfParameters = {
    {"matrix", [](ComputationGraph& g, Model& m) { return parameter(g, m.w) * parameter(g, m.v); }},
    {"constant",
     [](ComputationGraph& g, Model& m) { return const_parameter(g, m.v) + zeros(g, {3}); }},
    {"row", [](ComputationGraph& g, Model& m) { return lookup(g, m.table, 2u) + zeros(g, {3}); }},
    {"reshaped",
     [](ComputationGraph& g, Model& m) {
       return reshape(parameter(g, m.v), {1, 3}) + zeros(g, {1, 3});
     }},
};

}  // namespace

TEST_CASE("a value of parameters that have changed since forward throws instead of recomputing") {
  for (const auto& [name, make] : kOfParameters)
    for (const bool by_trainer : {true, false}) {
      INFO(name << (by_trainer ? ", trainer" : ", set_value"));
      Model m;
      SimpleSGDTrainer trainer(m.pc, 1.0f);
      ComputationGraph g;
      const Expression h = make(g, m), y = tanh(h), loss = squared_norm(y);
      g.backward(loss);
      const std::vector<float> before = as_vector(h.value());
      CHECK(is_tanh(as_vector(y.value()), before));
      g.invalidate();
      g.backward(loss);
      if (by_trainer)
        trainer.update();
      else
        m.v.set_value({1, 2, 3}), m.table.initialize(2, {1, 2, 3}), m.w.zero();
      CHECK(is_tanh(as_vector(y.value()), before));
      for (int time = 0; time < 3; ++time)
        CHECK_THAT(message<ArgumentError>([&] { (time < 2 ? h : h + 1.0f).value(); }),
                   Catch::Contains("value: the parameters have changed since the forward pass") &&
                       Catch::Contains("asked_again_test.cc"));
      CHECK(is_tanh(as_vector(y.value()), before));
      g.forward(loss);
      CHECK(is_tanh(y, h));
      if (!by_trainer) CHECK(as_vector(h.value()) != before);
    }
}

TEST_CASE("inference throws for a freed value if parameters have changed") {
  Model m;
  ComputationGraph g;
  g.set_inference(true);
  std::vector<Expression> all{parameter(g, m.v)};
  const Expression W = parameter(g, m.w), large = zeros(g, Dim({3}, 1000));
  for (int i = 0; i < 2000; ++i) all.push_back(tanh(W * all.back() + large));
  const std::vector<float> last = as_vector(all.back().value());
  const std::vector<float> early = as_vector(all[5].value());
  m.v.set_value({3, 2, 1});
  CHECK(as_vector(all.back().value()) == last);
  CHECK(as_vector(all[5].value()) == early);  // requested before the change
  for (int time = 0; time < 2; ++time) CHECK_THROWS_AS(all[7].value(), ArgumentError);
  g.forward(all.back());
  CHECK(as_vector(all[5].value()) != early);
}

TEST_CASE("a value that depends on no parameter is recomputed after an update") {
  Model m;
  SimpleSGDTrainer trainer(m.pc, 1.0f);
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, 2, 3});
  const Expression h = dropout(x, 0.5f), y = tanh(h);
  g.backward(squared_norm(y + parameter(g, m.v)));
  trainer.update();
  CHECK(is_forgotten(g, h));
  CHECK(is_tanh(y, h));
}

TEST_CASE("a change of another collection's parameters does not prevent recomputation") {
  Model m, other;
  ComputationGraph g;
  const Expression h = parameter(g, m.w) * parameter(g, m.v), y = tanh(h);
  g.backward(squared_norm(y));
  other.v.zero();
  CHECK(is_tanh(y, h));
}

TEST_CASE("without batches a value is kept across an update") {
  Model m;
  SimpleSGDTrainer trainer(m.pc, 1.0f);
  ComputationGraph g(false);
  const Expression h = parameter(g, m.w) * parameter(g, m.v), y = tanh(h);
  g.backward(squared_norm(y));
  trainer.update();
  CHECK(is_tanh(y, h));
}

TEST_CASE("memory behind pointers may be freed after the forward pass") {
  Model m;
  ComputationGraph g;
  auto numbers = std::make_unique<std::vector<float>>(3, 0.5f);
  auto index = std::make_unique<unsigned>(1);
  const Expression x = input(g, {3}, numbers.get()), y = tanh(x), a = pick(y, index.get()),
                   b = tanh(a);
  g.backward(squared_norm(b * sum_elems(parameter(g, m.v))));
  *index = 100;
  index.reset();  // reading it is an error for the address sanitizer
  numbers.reset();
  CHECK(as_vector(x.value()) == std::vector<float>(3, 0.5f));
  CHECK(is_tanh(b, a));
}

TEST_CASE("an error during recomputation leaves the value freed") {
  Model m;
  m.v.set_value({1, 2, 3});
  ComputationGraph g;
  const Expression a = input(g, {3}, {1, -1, 4}) * 2.0f, h = log(a);
  const Expression forgotten = -h, y = tanh(forgotten);
  g.backward(squared_norm(y + parameter(g, m.v)));
  g.set_check_validity(true);
  for (int time = 0; time < 3; ++time) CHECK_THROWS_AS(forgotten.value(), NumericError);
  CHECK_THROWS_AS((forgotten + 1.0f).value(), NumericError);
  g.set_check_validity(false);
  const std::vector<float> now = as_vector(forgotten.value());
  CHECK(now[0] == Approx(-std::log(2.0)));
  CHECK(std::isnan(now[1]));
  CHECK(now[2] == Approx(-std::log(8.0)));
}

namespace {

/// Calls f again if an allocation failed the first time.
template <class F>
auto with_patience(
    F f, const std::function<void()>& repair = [] {}) {
  try {
    const heap::Risk risk;
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const OutOfMemoryError&) {
  }
  repair();
  return f();
}

/// Values of a graph that are freed and requested again, and its gradients.
std::vector<float> patient_run(Model& m, bool inference) {
  std::vector<float> outcome;
  const auto add = [&](const std::vector<float>& some) {
    outcome.insert(outcome.end(), some.begin(), some.end());
  };
  auto graph = with_patience([] { return std::make_unique<ComputationGraph>(); });
  ComputationGraph& g = *graph;
  g.set_seed(3);
  g.set_inference(inference);
  const Expression x = with_patience([&] { return input(g, {3}, {1, 2, 3}); });
  const Expression w = with_patience([&] { return parameter(g, m.w); });
  const Expression v = with_patience([&] { return lookup(g, m.table, {1u, 4u}); });
  std::vector<Expression> h{x}, y{x};
  for (int i = 0; i < 20; ++i) {
    h.push_back(with_patience([&] { return dropout(w * y.back() + v, 0.3f); }));
    y.push_back(with_patience([&] { return tanh(h.back()); }));
  }
  const Expression loss = with_patience([&] { return sum_batches(squared_norm(y.back())); });
  const auto ask = [&](const Expression& e) {
    add(with_patience([&] { return as_vector(e.value()); }));
  };
  ask(loss);
  for (const Expression& e : h) ask(e);
  if (inference) return outcome;
  // Gradients of a failed backward pass remain until they are reset.
  with_patience([&] { g.backward(loss); }, [&] { m.pc.reset_gradient(); });
  for (const Expression& e : h) add(with_patience([&] { return as_vector(e.gradient()); }));
  add(with_patience([&] { return as_vector(m.w.gradients()); }));
  add(with_patience([&] { return m.table.row_gradient(4); }));
  m.pc.reset_gradient();
  return outcome;
}

}  // namespace

TEST_CASE("a pass that fails at any allocation can be repeated with the same results") {
  if (!heap::counted()) return skip("the sanitizer has the heap to itself");
  for (const bool inference : {false, true}) {
    Model m;
    release_graph_memory();
    const std::vector<float> expected = patient_run(m, inference);
    unsigned refused = 0;
    for (std::size_t n = 0;; ++n) {
      CAPTURE(inference, n);
      release_graph_memory();
      heap::refuse(n);
      std::vector<float> got;
      try {
        got = patient_run(m, inference);
      } catch (const std::exception& e) {
        heap::refuse_nothing();
        m.pc.reset_gradient();
        FAIL_CHECK("the second try failed: " << e.what());
        continue;
      }
      if (!heap::refuse_nothing()) break;
      ++refused;
      CHECK(got == expected);
    }
    CHECK(refused > 20);
  }
}

}  // namespace asked_again_test
