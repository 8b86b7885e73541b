// One Workers in many hands, and all that several threads write in one graph.

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace workers_test {

using namespace dynet;

namespace {

struct Model {
  ParameterCollection pc;
  LookupParameter table = pc.add_lookup_parameters(64, {64});
  Parameter w = pc.add_parameters({64, 64});

  /// Wide enough that threads share it out; all of it reads x.
  Expression loss(ComputationGraph& g, const Expression& x) const {
    const Expression W = parameter(g, w);
    std::vector<Expression> all;
    for (unsigned k = 0; k < 64; ++k)
      all.push_back(sum_elems(cmult(tanh(W * tanh(W * lookup(g, table, k))), x)));
    return sum(all);
  }
  float value(Workers* workers) const {
    ComputationGraph g;
    g.set_workers(workers);
    return as_scalar(loss(g, input(g, {64}, std::vector<float>(64, 0.5f))).value());
  }
  /// Gradients of everything, constants too.
  std::vector<float> gradients(Workers* workers) {
    ComputationGraph g;
    g.set_workers(workers);
    const Expression x = input(g, {64}, std::vector<float>(64, 0.5f));
    const Expression scaled = x * 2.0f, y = scaled + 1.0f;
    g.backward(loss(g, x) + loss(g, y) + loss(g, scaled), true);
    std::vector<float> all;
    for (const Expression& e : {x, scaled, y})
      for (const float f : as_vector(e.gradient())) all.push_back(f);
    for (const float f : as_vector(w.gradients())) all.push_back(f);
    pc.reset_gradient();
    return all;
  }
};

}  // namespace

TEST_CASE("threads that help a full backward pass do not write one gradient at once") {
  Model m;
  const std::vector<float> expected = m.gradients(nullptr);
  for (const unsigned threads : {2u, 3u, 8u}) {
    Workers workers(threads);
    for (int time = 0; time < 20; ++time) {
      CAPTURE(threads, time);
      CHECK(m.gradients(&workers) == expected);
    }
  }
}

TEST_CASE("graphs of several threads may have the same workers") {
  const Model m;
  const float expected = m.value(nullptr);
  Workers workers(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int time = 0; time < 50; ++time) wrong += m.value(&workers) != expected;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("calls of several threads wait for each other") {
  Workers workers(2);
  std::atomic<int> calls{0}, strangers{0}, owner{0};
  const auto call = [&](int who) {
    for (int time = 0; time < 50; ++time) {
      std::atomic<int> mine{0};
      workers.run(5, [&](unsigned) {
        int nobody = 0;
        // Whoever comes first holds it until his last job is done.
        strangers += !owner.compare_exchange_strong(nobody, who) && nobody != who;
        std::this_thread::yield();
        if (++mine == 5) owner = 0;
      });
      calls += mine == 5;
    }
  };
  std::thread a(call, 1), b(call, 2);
  call(3);
  a.join();
  b.join();
  CHECK(calls == 3 * 50);
  CHECK(strangers == 0);
}

TEST_CASE("a job may call its own workers") {
  Model m;
  const float expected = m.value(nullptr);
  Workers workers(3);
  std::atomic<int> wrong{0}, inner{0};
  for (int time = 0; time < 10; ++time)
    workers.run(6, [&](unsigned) {
      wrong += m.value(&workers) != expected;
      workers.run(3, [&](unsigned) { ++inner; });
    });
  CHECK(wrong == 0);
  CHECK(inner == 10 * 6 * 3);
}

TEST_CASE("the first exception of a call within a job is thrown, after all jobs") {
  Workers workers(2);
  std::atomic<int> done{0};
  try {
    workers.run(1, [&](unsigned) {
      workers.run(4, [&](unsigned job) {
        ++done;
        if (job > 0) throw std::runtime_error("job " + std::to_string(job));
      });
    });
    FAIL("nothing was thrown");
  } catch (const std::runtime_error& e) {
    CHECK(std::string(e.what()) == "job 1");
  }
  CHECK(done == 4);
  workers.run(2, [&](unsigned) { ++done; });
  CHECK(done == 6);
}

}  // namespace workers_test
