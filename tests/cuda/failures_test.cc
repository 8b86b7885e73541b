// Errors on a device leave no work behind that runs later.

#include "tests/cuda/training.h"

using namespace dynet;
using namespace dynet::test;

namespace {

#ifndef DYNET_TEST_GPU

struct Work {
  std::size_t launches, products;
  Floats values;
  bool operator==(const Work&) const = default;
};

/// Work of a device for a graph that shares nothing with other graphs.
Work unrelated(Device* device) {
  const std::size_t launches = emulation::counts().launches,
                    products = emulation::counts().products;
  DeviceGraph g(device);
  const Expression x = input(g, {2, 2}, {1, 2, 3, 4});
  Floats values = as_vector(tanh(x * x).value());
  return {emulation::counts().launches - launches, emulation::counts().products - products, values};
}

/// A small model on one device, or on two and the CPU.
struct Small {
  ParameterCollection pc;
  Device *here, *there, *home;
  LookupParameter t = pc.add_lookup_parameters(7, {4}, "t", home);
  Parameter w = pc.add_parameters({4, 4}, "w", here), v = pc.add_parameters({4, 4}, "v", there),
            b = pc.add_parameters({4}, "b", here);
  Expression inner;

  explicit Small(bool split)
      : here(gpu(0)), there(split ? gpu(1) : gpu(0)), home(split ? default_device : gpu(0)) {}

  Expression loss(ComputationGraph& g) {
    g.set_device(here);
    g.set_seed(3);
    const Expression W = parameter(g, w), V = parameter(g, v), B = parameter(g, b);
    std::vector<Expression> ends;
    for (unsigned i = 0; i < 3; ++i) {
      const Expression x = to_device(lookup(g, t, std::vector<unsigned>{i, 2 * i}), here);
      inner = V * to_device(affine_transform({B, W, dropout(x, 0.3f)}), there);
      ends.push_back(to_device(sum_batches(squared_norm(tanh(inner))), here));  // in its place
    }
    return sum(ends);
  }
  void backward() {
    ComputationGraph g;
    g.backward(loss(g));
  }
  Floats gradients() const { return all_gradients(pc); }
};

/// A call on a graph with Small's loss. It may be repeated after an error.
struct Attempt {
  const char* name;
  bool split;
  std::function<Floats(ComputationGraph&, Small&, const Expression& loss)> run;
};

std::vector<Attempt> attempts() {
  const auto backward = [](ComputationGraph& g, Small& m, const Expression& loss) {
    m.pc.reset_gradient();
    g.backward(loss);
    return Floats();
  };
  const auto values = [](ComputationGraph&, Small& m, const Expression& loss) {
    Floats all = as_vector(loss.value());
    for (const float v : as_vector(m.inner.value())) all.push_back(v);
    return all;
  };
  const auto inner_gradient = [=](ComputationGraph& g, Small& m, const Expression& loss) {
    backward(g, m, loss);
    return as_vector(m.inner.gradient());
  };
  return {{"backward", false, backward},
          {"backward on several devices", true, backward},
          {"values that are computed again", false, values},
          {"values that are computed again on several devices", true, values},
          {"gradients of inner nodes", false, inner_gradient},
          {"gradients of inner nodes on several devices", true, inner_gradient}};
}

/// Result of a failure after `calls` calls; negative: no call fails.
enum class Met {
  nothing,  // there were not so many calls
  error,
  fallback  // gradients that share memory, where that for all of them was to be had no more
};
template <class F>
Met meet(long calls, F f) {
  emulation::calls_until_failure = calls;
  Met met = Met::fallback;
  try {
    f();
  } catch (const OutOfMemoryError& e) {
    met = Met::error;
    CHECK_THAT(e.what(), Catch::Contains("allocating"));
  } catch (const DeviceError& e) {
    met = Met::error;
    CHECK_THAT(e.what(), Catch::Contains("the emulated device fails"));
  }
  const bool none_left = emulation::calls_until_failure.exchange(-1) < 0;
  if (calls >= 0 && none_left) return met;
  CHECK(met == Met::fallback);
  return Met::nothing;
}

#endif

bool zero(const Floats& all) { return all == Floats(all.size(), 0.0f); }

}  // namespace

#ifndef DYNET_TEST_GPU

TEST_CASE("values of the tests of failures are computed again", "[cuda][failures]") {
  for (const bool split : {false, true}) {
    Small m(split);
    ComputationGraph g;
    m.loss(g).value();
    const std::size_t products = emulation::counts().products;
    m.inner.value();
    CHECK(emulation::counts().products > products);
  }
}

TEST_CASE("whatever fails on a device leaves nothing to run with the next graph",
          "[cuda][failures]") {
  const Work alone = unrelated(gpu());
  for (const Attempt& a : attempts()) {
    CAPTURE(a.name);
    long calls = 0, fallbacks = 0;
    for (Met met = Met::error; met != Met::nothing; ++calls) {
      CAPTURE(calls);
      release_graph_memory();
      {
        Small m(a.split);
        ComputationGraph g;
        const Expression loss = m.loss(g);
        met = meet(calls, [&] { a.run(g, m, loss); });
        fallbacks += met == Met::fallback;
      }
      CHECK(unrelated(gpu()) == alone);
      CHECK(unrelated(gpu(1)) == alone);
    }
    CHECK(calls > 25);
    CHECK(fallbacks <= (a.split ? 2 : 1));  // one for each device
  }
}

TEST_CASE("after an error on a device the same can be tried again", "[cuda][failures]") {
  for (const Attempt& a : attempts()) {
    CAPTURE(a.name);
    Floats values, gradients;
    long calls = -1;
    for (bool done = false; !done; ++calls) {  // nothing fails at first
      CAPTURE(calls);
      release_graph_memory();
      Small m(a.split);
      ComputationGraph g;
      const Expression loss = m.loss(g);
      Floats got;
      const Met met = meet(calls, [&] { got = a.run(g, m, loss); });
      done = met == Met::nothing && calls >= 0;
      if (met == Met::error) got = a.run(g, m, loss);
      if (calls < 0) {
        values = got;
        gradients = m.gradients();
      }
      CHECK(got == values);
      CHECK(m.gradients() == gradients);
    }
  }
}

TEST_CASE("a backward pass that fails on a device leaves no gradient", "[cuda][failures]") {
  for (const bool split : {false, true}) {
    CAPTURE(split);
    Floats once, updated;
    for (long calls = -1; calls < 1000; ++calls) {
      CAPTURE(calls);
      release_graph_memory();
      Small m(split);
      SimpleSGDTrainer trainer(m.pc, 0.1f);
      ComputationGraph g;
      const Expression loss = m.loss(g);
      loss.value();
      const Floats before = all_values(m.pc);
      const Met met = meet(calls, [&] { g.backward(loss); });
      if (met == Met::error) {
        CHECK(zero(m.gradients()));
        trainer.update();
        CHECK(all_values(m.pc) == before);
        g.backward(loss);
      }
      if (calls < 0) once = m.gradients();
      CHECK(m.gradients() == once);
      trainer.update();
      if (calls < 0) updated = all_values(m.pc);
      CHECK(all_values(m.pc) == updated);
      if (met == Met::nothing && calls >= 0) break;
    }
  }
}

TEST_CASE("an update that fails on a device leaves nothing to run with the next one",
          "[cuda][failures]") {
  const Work alone = unrelated(gpu());
  const auto update = [](Small& m, Trainer& trainer) {
    const std::size_t launches = emulation::counts().launches;
    m.pc.reset_gradient();
    m.backward();
    trainer.update();
    return emulation::counts().launches - launches;
  };
  for (long calls = 0;; ++calls) {
    CAPTURE(calls);
    Small m(false);
    AdamTrainer trainer(m.pc, 0.1f);
    m.backward();
    const Met met = meet(calls, [&] { trainer.update(); });
    CHECK(unrelated(gpu()) == alone);
    const std::size_t first = update(m, trainer), second = update(m, trainer);
    CHECK(first == second);
    CHECK(met != Met::fallback);
    if (met == Met::nothing) break;
  }
}

#endif

TEST_CASE("an error of the user's leaves nothing to run on a device", "[cuda][failures]") {
  const auto value = [] {
    DeviceGraph g;
    return as_vector(tanh(input(g, {2}, {1, 2})).value());
  };
  const Floats expected = value();
#ifndef DYNET_TEST_GPU
  const Work alone = unrelated(gpu());
#endif
  const Floats ones(8, 1.0f);
  const auto index = [&](ComputationGraph& g, unsigned* k) {
    const Expression x = tanh(input(g, {8}, ones));
    return tanh(pick(x, k)) + sum_elems(x * 2);
  };
  const std::vector<std::function<void(ComputationGraph&)>> errors{
      [&](ComputationGraph& g) {  // half of a plan is in the queue
        unsigned k = 7;
        const Expression e = index(g, &k);
        k = 70;
        CHECK_THROWS_AS(e.value(), IndexError);
      },
      [&](ComputationGraph& g) {
        ParameterCollection pc;
        const LookupParameter t = pc.add_lookup_parameters(9, {8});
        unsigned row = 0;
        const Expression e = tanh(lookup(g, t, &row)) + tanh(input(g, {8}, ones));
        row = 9;
        CHECK_THROWS_AS(e.value(), IndexError);
      },
      [&](ComputationGraph& g) {
        g.set_check_validity(true);
        const Expression x = input(g, {2}, {1, -1});
        CHECK_THROWS_AS((tanh(x) + log(x)).value(), NumericError);
      },
      [&](ComputationGraph& g) {  // the gradient of the square root is infinite
        g.set_check_validity(true);
        ParameterCollection pc;
        const Parameter p = pc.add_parameters({2}, ParameterInitConst(0.0f));
        const Expression P = parameter(g, p);
        CHECK_THROWS_AS(g.backward(sum_elems(tanh(sqrt(P * 2)))), NumericError);
        CHECK(zero(as_vector(p.gradients())));
      },
      [&](ComputationGraph& g) {  // what would be computed again has changed
        ParameterCollection pc;
        Parameter p = pc.add_parameters({8, 8});
        const Expression h = parameter(g, p) * input(g, {8}, ones);
        sum_elems(tanh(h)).value();
        p.scale(2);
        CHECK_THROWS_AS(h.value(), ArgumentError);
      }};
  for (const auto& error : errors) {
    {
      DeviceGraph g;
      error(g);
    }
    CHECK(value() == expected);
#ifndef DYNET_TEST_GPU
    CHECK(unrelated(gpu()) == alone);
#endif
  }
}
