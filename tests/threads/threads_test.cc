// Many graphs on many threads over shared parameters. These run under the thread sanitizer too.

#include <atomic>
#include <barrier>
#include <chrono>
#include <mutex>
#include <thread>

#include "dynet-like/base/workers.h"
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace threads_test {

using namespace dynet;
using test::same_bits;

namespace {

struct Model {
  ParameterCollection pc;
  LookupParameter words = pc.add_lookup_parameters(20, {6}, ParameterInitNormal(0, 1), "words");
  Parameter w = pc.add_parameters({5, 7}, "w"), b = pc.add_parameters({5}, "b");
  VanillaLSTMBuilder lstm{1, 6, 7, pc};

  /// The loss of sample k; `lstm` is the calling thread's own copy, over the shared parameters.
  Expression loss(ComputationGraph& g, VanillaLSTMBuilder& own, unsigned k) const {
    g.set_seed(k);
    own.new_graph(g);
    own.start_new_sequence();
    std::vector<Expression> losses;
    const Expression W = parameter(g, w), B = parameter(g, b);
    for (unsigned t = 0; t < 3 + k % 3; ++t) {
      const Expression x = dropout(lookup(g, words, (7 * k + 3 * t) % 20), 0.2f);
      const Expression h = own.add_input(x);
      losses.push_back(pickneglogsoftmax(affine_transform({B, W, h}), (k + t) % 5));
    }
    const std::vector<unsigned> rows{k % 20, 5, k % 20};
    losses.push_back(sum_batches(squared_norm(lookup(g, words, rows))) * 0.01f);
    if (k % 4 == 0) losses.push_back(sum_elems(pick(parameter(g, words), k % 20, 1)));
    return sum(losses);
  }
  std::vector<float> gradients() const { return test::all_gradients(pc); }
};

/// Lets another thread run, or not, for a while or for long.
void dawdle(std::uint64_t key) {
  const std::uint64_t r = mix_bits(key) % 16;
  if (r < 6) std::this_thread::yield();
  if (r == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

void run_together(unsigned threads, const std::function<void(unsigned)>& work) {
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      start.arrive_and_wait();
      work(t);
    });
  for (std::thread& t : all) t.join();
}

/// Samples first, first + stride, ... on one thread, in the buffer with the number `first`.
void run_samples(const Model& m, unsigned first, unsigned stride, unsigned end,
                 std::uint64_t noise) {
  VanillaLSTMBuilder own = m.lstm;
  for (unsigned k = first; k < end; k += stride) {
    ComputationGraph g(k % 5 == 0);
    g.set_gradient_buffer(first);
    const Expression loss = m.loss(g, own, k);
    if (noise) dawdle(noise + 3 * k);
    loss.value();
    if (noise) dawdle(noise + 3 * k + 1);
    g.backward(loss);
    if (noise) dawdle(noise + 3 * k + 2);
  }
}

constexpr unsigned kSamples = 24;

}  // namespace

TEST_CASE("gradients in numbered buffers do not depend on timing, to the bit") {
  Model m;
  std::vector<float> alone;
  for (const unsigned threads : {1u, 2u, 4u, 8u}) {
    CAPTURE(threads);
    // One thread after the other.
    m.pc.reset_gradient();
    for (unsigned t = 0; t < threads; ++t)
      std::thread([&] { run_samples(m, t, threads, kSamples, 0); }).join();
    const std::vector<float> expected = m.gradients();
    if (alone.empty()) alone = expected;
    int different = 0;
    for (std::uint64_t round = 1; round <= 50; ++round) {
      m.pc.reset_gradient();
      run_together(threads,
                   [&](unsigned t) { run_samples(m, t, threads, kSamples, 1000 * round); });
      different += !same_bits(m.gradients(), expected);
    }
    CHECK(different == 0);
    // The sum itself is right.
    double worst = 0;
    for (std::size_t i = 0; i < alone.size(); ++i)
      worst = std::max(worst, std::abs(1.0 * alone[i] - expected[i]) / (1 + std::abs(alone[i])));
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("threads that live for one graph only leave their gradients behind") {
  ParameterCollection pc;
  auto p = pc.add_parameters({3}, ParameterInitConst(1.0f));
  for (int step = 0; step < 3; ++step) {
    pc.reset_gradient();
    for (int k = 0; k < 40; ++k)
      std::thread([&] {
        ComputationGraph g;
        g.backward(sum_elems(square(parameter(g, p))));
      }).join();
    CHECK(as_vector(p.gradients()) == std::vector<float>{80, 80, 80});
    // More of them, on top of what was added up already.
    for (int k = 0; k < 5; ++k)
      std::thread([&] {
        ComputationGraph g;
        g.backward(sum_elems(parameter(g, p)));
      }).join();
    CHECK(as_vector(p.gradients()) == std::vector<float>{85, 85, 85});
    CHECK(pc.gradient_l2_norm() == Approx(85 * std::sqrt(3.0)));
  }
}

TEST_CASE("a graph may be made, run and destroyed on different threads, one at a time") {
  Model m;
  std::vector<float> expected(20);
  VanillaLSTMBuilder own = m.lstm;
  for (unsigned k = 0; k < 20; ++k) {
    ComputationGraph g;
    expected[k] = as_scalar(m.loss(g, own, k).value());
  }
  std::vector<std::unique_ptr<ComputationGraph>> graphs(20);
  std::vector<Expression> losses(20);
  for (int round = 0; round < 5; ++round) {
    run_together(4, [&](unsigned t) {
      VanillaLSTMBuilder mine = m.lstm;
      for (unsigned k = t; k < 20; k += 4) {
        graphs[k] = std::make_unique<ComputationGraph>();
        losses[k] = m.loss(*graphs[k], mine, k);
      }
    });
    std::atomic<int> wrong{0};
    run_together(4, [&](unsigned t) {
      for (unsigned k = (t + 1) % 4; k < 20; k += 4)
        wrong += as_scalar(losses[k].value()) != expected[k];
    });
    run_together(4, [&](unsigned t) {
      for (unsigned k = (t + 2) % 4; k < 20; k += 4) {
        graphs[k]->backward(losses[k]);
        wrong += as_scalar(losses[k].gradient()) != 1;
      }
    });
    CHECK(wrong == 0);
    run_together(4, [&](unsigned t) {
      for (unsigned k = (t + 3) % 4; k < 20; k += 4) graphs[k].reset();
    });
    for (const Expression& e : losses) CHECK(e.is_stale());
  }
}

TEST_CASE("graphs come and go on many threads while others run") {
  std::atomic<int> wrong{0};
  run_together(8, [&](unsigned t) {
    Model m;  // of its own
    VanillaLSTMBuilder own = m.lstm;
    float first = 0;
    for (unsigned k = 0; k < 60; ++k) {
      ComputationGraph g;
      const Expression loss = m.loss(g, own, t);
      const float value = as_scalar(loss.value());
      if (k == 0) first = value;
      wrong += value != first;
      if (k % 10 == 3) g.clear();
      if (k % 20 == 7) release_graph_memory();
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("an error on one thread is no concern of the others") {
  Model m;
  m.pc.reset_gradient();
  std::thread([&] { run_samples(m, 0, 2, 12, 0); }).join();
  std::thread([&] { run_samples(m, 1, 2, 12, 0); }).join();
  const std::vector<float> expected = m.gradients();
  m.pc.reset_gradient();
  std::atomic<int> caught{0};
  run_together(4, [&](unsigned t) {
    if (t < 2) {
      run_samples(m, t, 2, 12, 5);
      return;
    }
    for (int k = 0; k < 20; ++k) {
      ComputationGraph g;
      const unsigned index = 100;
      try {
        if (k % 2)
          (parameter(g, m.w) * parameter(g, m.w)).value();
        else
          g.backward(sum_elems(lookup(g, m.words, &index)));
      } catch (const Error&) {
        ++caught;
      }
    }
  });
  CHECK(caught == 40);
  CHECK(same_bits(m.gradients(), expected));
}

TEST_CASE("collections are dropped on one thread while graphs elsewhere keep their parameters") {
  std::atomic<int> wrong{0};
  run_together(6, [&](unsigned t) {
    for (int k = 0; k < 30; ++k) {
      ComputationGraph g;
      Expression x;
      {
        ParameterCollection pc;
        x = parameter(g, pc.add_parameters({2}, ParameterInitConst(static_cast<float>(t))));
      }
      const Expression loss = squared_norm(x);
      g.backward(loss);
      wrong += as_scalar(loss.value()) != 2.0f * static_cast<float>(t * t);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a stale handle is told apart while a graph of another thread owns the memory") {
  release_graph_memory();  // so that the storage below has to grow, that is, to move
  Expression stale;
  {
    ComputationGraph g;
    stale = input(g, 1.0f);
  }
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int round = 0; round < 20; ++round) {
      release_graph_memory();
      ComputationGraph g;
      Expression x = input(g, 1.0f);
      for (int i = 0; i < 2000; ++i) x = x + 1.0f;
    }
    done = true;
  });
  std::size_t looked = 0, fresh = 0, thrown = 0;
  do {
    ++looked;
    fresh += !stale.is_stale();
    try {
      tanh(stale);
    } catch (const StaleExpressionError&) {
      ++thrown;
    }
  } while (!done);
  other.join();
  CHECK(fresh == 0);
  CHECK(thrown == looked);
}

TEST_CASE("workers do every job once and throw what the first failing job threw") {
  for (const unsigned threads : {1u, 2u, 4u}) {
    Workers workers(threads);
    CHECK(workers.threads() == threads);
    for (unsigned jobs = 0; jobs < 40; ++jobs) {
      std::vector<std::atomic<int>> done(jobs);
      workers.run(jobs, [&](unsigned job) {
        dawdle(job);
        ++done[job];
      });
      for (const auto& d : done) CHECK(d == 1);
    }
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> done = 0;
      const auto fail = [&](unsigned job) {
        dawdle(job);
        ++done;
        if (job >= 3) throw std::runtime_error(std::to_string(job));
      };
      CHECK(message<std::runtime_error>([&] { workers.run(9, fail); }) == "3");
      CHECK(done == 9);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they fall asleep
    std::atomic<int> sum = 0;
    workers.run(100, [&](unsigned job) { sum += static_cast<int>(job); });
    CHECK(sum == 4950);
  }
}

TEST_CASE("training in numbered buffers is the same, bit for bit, on 1, 2 and 4 threads") {
  std::vector<float> first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    Model model;
    AdamTrainer trainer(model.pc, 0.01f);
    Workers workers(threads);
    trainer.set_workers(&workers);
    for (unsigned step = 0; step < 12; ++step) {
      workers.run(4, [&](unsigned shard) {
        VanillaLSTMBuilder own = model.lstm;
        ComputationGraph g;
        g.set_gradient_buffer(shard);
        std::vector<Expression> losses;
        for (unsigned k = shard; k < 12; k += 4)
          losses.push_back(model.loss(g, own, 12 * step + k));
        dawdle(step + shard);
        g.backward(sum(losses));
      });
      trainer.update();
    }
    std::vector<float> values;
    for (const Parameter& p : model.pc.parameters_list())
      for (float x : as_vector(p.values())) values.push_back(x);
    if (first.empty()) first = values;
    CHECK(same_bits(values, first));
  }
}

}  // namespace threads_test
