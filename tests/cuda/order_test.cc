// Gradients of several graphs, each in a stream of its own, that meet in one buffer.

#include <thread>

#include "tests/cuda/training.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr unsigned kOrders = 8;  // of streams that do not wait for each other

using Graphs = std::vector<std::unique_ptr<ComputationGraph>>;

Graphs graphs(std::size_t n, Device* device) {
  Graphs all;
  for (std::size_t i = 0; i < n; ++i) {
    all.push_back(std::make_unique<ComputationGraph>());
    if (device) all.back()->set_device(device);
  }
  return all;
}

/// Gradients are small whole numbers: a sum of them does not depend on the order, and no part of it
/// can be missing. Of one table some rows are used, of the other all and some.
struct Counted {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({300}, ParameterInitConst(0.0f));
  Parameter q = pc.add_parameters({5, 4}, ParameterInitConst(0.0f));
  LookupParameter t = pc.add_lookup_parameters(70, {3}, ParameterInitConst(0.0f));
  LookupParameter u = pc.add_lookup_parameters(4, {3}, ParameterInitConst(0.0f));

  /// As often as `times` says.
  void backward(ComputationGraph& g, unsigned times) {
    const Expression Q = parameter(g, q), x = constant(g, {4}, 1.0f);
    std::vector<Expression> all{sum_elems(parameter(g, p)),  sum_elems(Q * x),
                                sum_elems(parameter(g, u)),  sum_elems(lookup(g, u, times % 4)),
                                sum_elems(lookup(g, t, 1u)), sum_elems(lookup(g, t, 69u))};
    if (times % 2) all.push_back(sum_elems(lookup(g, t, times % 70)));
    g.backward(sum(all) * static_cast<float>(times));
  }
  Floats gradients() const { return all_gradients(pc); }
};

/// Those of backward passes so often, on the CPU.
Floats expected(const std::vector<unsigned>& times) {
  Counted m;
  for (const unsigned n : times) {
    ComputationGraph g;
    m.backward(g, n);
  }
  return m.gradients();
}

unsigned power(std::size_t k) { return 1u << (4 * k); }

}  // namespace

TEST_CASE("gradients of graphs that live at once add up in every order", "[cuda][order]") {
  for (std::size_t n = 2; n <= 4; ++n)
    for (const bool numbered : {false, true}) {
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      std::vector<unsigned> times;
      for (const std::size_t k : order) times.push_back(power(k));
      const Floats sums = expected(times);
      do {
        CAPTURE(numbered, order);
        for (unsigned s = 0; s < (n < 4 ? kOrders : 2); ++s) {
          set_order(s);
          Counted m;
          const Graphs all = graphs(n, gpu());
          for (const std::size_t k : order) {
            if (numbered) all[k]->set_gradient_buffer(7);
            m.backward(*all[k], power(k));
          }
          CHECK(m.gradients() == sums);
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST_CASE("gradients of one graph at a time add up while others are in use", "[cuda][order]") {
  for (unsigned s = 0; s < kOrders; ++s) {
    set_order(s);
    Counted m;
    graphs(4, gpu());  // whose states wait for the next graphs
    std::vector<Graphs> others;
    for (std::size_t k = 0; k < 4; ++k) {
      const Graphs held = graphs(3 - k, gpu());
      DeviceGraph g;
      m.backward(g, power(k));
    }
    CHECK(m.gradients() == expected({1, 16, 256, 4096}));
  }
}

TEST_CASE("gradients of graphs on several threads add up", "[cuda][order]") {
  for (unsigned s = 0; s < kOrders; ++s)
    for (const bool numbered : {false, true}) {
      set_order(s);
      Counted m;
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          for (unsigned k = 0; k < 3; ++k) {
            const Graphs held = graphs((t + k) % 3, gpu());
            DeviceGraph g;
            if (numbered) g.set_gradient_buffer(t);
            m.backward(g, 3 * t + k + 1);
          }
        });
      for (std::thread& t : threads) t.join();
      std::vector<unsigned> times(12);
      std::iota(times.begin(), times.end(), 1);
      CHECK(m.gradients() == expected(times));
    }
}

TEST_CASE("a buffer with a number is handed from thread to thread", "[cuda][order]") {
  for (unsigned s = 0; s < kOrders; ++s) {
    set_order(s);
    Counted m;
    const Graphs all = graphs(4, gpu());
    for (std::size_t k = 4; k-- > 0;)
      std::thread([&] {
        all[k]->set_gradient_buffer(2);
        m.backward(*all[k], power(k));
      }).join();
    CHECK(m.gradients() == expected({4096, 256, 16, 1}));
  }
}

TEST_CASE("gradients that were reset do not come back, nor those of a graph that is gone",
          "[cuda][order]") {
  for (unsigned s = 0; s < kOrders; ++s) {
    set_order(s);
    Counted m;
    const Graphs all = graphs(2, gpu());
    for (const std::size_t k : {1, 0}) {
      m.pc.reset_gradient();
      m.backward(*all[k], power(k));
    }
    CHECK(m.gradients() == expected({1}));
    for (const std::size_t k : {0, 1}) {
      m.pc.reset_gradient();
      m.backward(*all[k], power(k));
    }
    CHECK(m.gradients() == expected({16}));
    {
      DeviceGraph g;
      m.backward(g, 256);
    }
    release_graph_memory();  // and its stream
    m.backward(*all[0], 1);
    CHECK(m.gradients() == expected({16, 256, 1}));
  }
}

TEST_CASE("a graph sees the gradient of a parameter that another one has added to",
          "[cuda][order]") {
  for (unsigned s = 0; s < kOrders; ++s) {
    set_order(s);
    ParameterCollection pc;
    const Parameter p = pc.add_parameters({300});
    const Graphs all = graphs(2, gpu());
    std::vector<Expression> P;
    for (const auto& g : all) P.push_back(parameter(*g, p));
    all[1]->backward(sum_elems(P[1]));
    all[0]->backward(sum_elems(P[0]) * 10);
    CHECK(gradient(P[1]) == Floats(300, 11));
    CHECK(as_vector(p.gradients()) == Floats(300, 11));
  }
}

TEST_CASE("updates see the gradients of all graphs, and clip them", "[cuda][order]") {
  for (const bool numbered : {false, true})
    for (const bool clips : {false, true}) {
      CAPTURE(numbered, clips);
      Floats results[2];
      for (const bool on_device : {false, true})
        for (unsigned s = 0; s < (on_device ? kOrders : 1); ++s) {
          set_order(s);
          Model m;
          SimpleSGDTrainer trainer(m.pc, 0.5f);
          trainer.clipping_enabled = clips;
          trainer.clip_threshold = 0.3f;
          const Graphs all = graphs(3, on_device ? gpu() : nullptr);
          for (unsigned k = 0; k < 6; ++k) {
            for (unsigned i = 0; i < 4; ++i) {
              ComputationGraph& g = *all[(5 * k + 2 * i) % 3];
              g.clear();
              g.set_seed(k + 1);
              if (numbered) g.set_gradient_buffer(k % 2);
              g.backward(m.loss(g, 4 * k + i));
            }
            trainer.update();
          }
          CHECK_THAT(trainer.status(), Catch::Contains(clips ? "clips=6" : "updates=6"));
          const Floats values = all_values(m.pc);
          if (s == 0) results[on_device] = values;
          CHECK(values == results[on_device]);
        }
      check_near(results[0], results[1], 1e-3);
    }
}
