// Trainers on the device against the host.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/dynet.h"
#include "dynet-like/graph/machine.h"
#include "tests/cuda/device.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"
#include "tests/support/op_case.h"
#include "tests/train/rules.h"

using namespace dynet;

namespace {

using Floats = std::vector<float>;
using Memory = std::shared_ptr<MemorySource>;

Device* gpu() { return get_device_manager()->get_global_device("GPU:0"); }
Memory device_memory() { return cuda::kDevices.make_machine(0)->memory(); }

void give(const Memory& memory, const GradientSlot& slot, const Floats& g) {
  REQUIRE(!slot.written);
  if (memory)
    memory->write(slot.g, g.data(), g.size() * sizeof(float));
  else
    std::copy(g.begin(), g.end(), slot.g);
}

/// Parameters of one piece of a kernel, of several, and tables; gradients are given, not computed.
struct Given {
  ParameterCollection pc;
  ParameterCollection part = pc.add_subcollection("part");
  Parameter a = pc.add_parameters({5, 1000}), b = part.add_parameters({33});
  Parameter rare = pc.add_parameters({5}), empty = pc.add_parameters({0, 3});
  LookupParameter t = pc.add_lookup_parameters(12, {7}), u = part.add_lookup_parameters(6, {5});

  explicit Given(const TrainerCase& c) {
    std::uint64_t key = 0;
    for (Parameter& p : std::vector<Parameter>{a, b, rare})
      p.set_value(first_values(c, p.dim().size(), ++key));
    for (LookupParameter& p : std::vector<LookupParameter>{t, u})
      for (unsigned row = 0; row < p.size(); ++row)
        p.initialize(row, first_values(c, p.dim().size(), ++key));
  }

  /// As backward passes of step k leave them.
  void gradients(unsigned k, const Memory& memory, float size = 1) {
    GradientLane& lane = pc.bank().gradients.mine(memory);
    const auto values = [&](std::size_t n, unsigned what) {
      return random_values(n, 100 * k + what, size);
    };
    const auto dense = [&](const Parameter& p, unsigned what) {
      if (!p.is_updated()) return;
      const ParameterStorage& s = p.get_storage();
      give(memory, lane.use(s.index, s.size()), values(s.size(), what));
    };
    const auto rows = [&](const LookupParameter& p) -> RowGradients& {
      const ParameterStorage& s = p.get_storage();
      return lane.rows(s.index, s.rows, s.row_size());
    };
    dense(a, 1);
    dense(b, 2);
    if (k % 5 == 2) dense(rare, 3);
    for (unsigned row = k % 3; row < t.size(); row += 2 + k % 4)
      give(memory, rows(t).use_row(row), values(7, 10 + row));
    if (k % 4 == 3) return;
    for (unsigned row = 0; row < k % 3; ++row)
      give(memory, rows(u).use_row((k + row) % 6), values(5, 40 + row));
    if (k % 7 == 5) give(memory, rows(u).use_whole(), values(30, 50));
  }
};

/// Values and all that the trainer remembers.
struct Outcome {
  Floats numbers;
  std::map<std::string, double> settings;
  std::string status;

  Outcome(const ParameterCollection& pc, Trainer& trainer) : numbers(test::all_values(pc)) {
    for (const auto& view : trainer.state_views())
      for (const float* a : view.arrays) numbers.insert(numbers.end(), a, a + view.dim.size());
    settings = trainer.numbers();
    status = trainer.status();
  }
};

double check_same(const Outcome& host, const Outcome& device, double tolerance) {
  REQUIRE(host.numbers.size() == device.numbers.size());
  CHECK(host.settings == device.settings);
  CHECK(host.status == device.status);
  const double d =
      test::largest_difference(host.numbers.data(), device.numbers.data(), host.numbers.size());
  CHECK(d <= tolerance);
  return d;
}

/// What is asked of an update.
struct Setting {
  const char* name;
  std::function<void(Given&, Trainer&)> prepare;
  std::function<bool(Given&, Trainer&, unsigned k)> update;
};

std::vector<Setting> settings() {
  const auto plain = [](Given&, Trainer& t, unsigned) { return t.update(); };
  const auto nothing = [](Given&, Trainer&) {};
  return {
      {"plain", [](Given&, Trainer& t) { t.clipping_enabled = false; }, plain},
      {"clipping", nothing, plain},
      {"clipping, never needed", [](Given&, Trainer& t) { t.clip_threshold = 1e9f; }, plain},
      {"weight decay, scale",
       [](Given& m, Trainer&) {
         m.pc.set_weight_decay_lambda(0.01f);
         m.part.set_weight_decay_lambda(0.002f);
       },
       [](Given&, Trainer& t, unsigned) { return t.update(0.25f); }},
      {"whole tables",
       [](Given& m, Trainer& t) {
         t.sparse_updates_enabled = false;
         m.pc.set_weight_decay_lambda(0.01f);
       },
       plain},
      {"late rows", [](Given&, Trainer& t) { t.sparse_updates_exact = true; }, plain},
      {"frozen",
       [](Given& m, Trainer&) {
         m.b.set_updated(false);
         m.pc.set_weight_decay_lambda(0.01f);
       },
       plain},
      {"part after part", nothing,
       [](Given& m, Trainer& t, unsigned k) {
         if (k % 3 == 2) return t.update();
         return t.update({m.a}, {m.t}) && t.update(m.part);
       }},
      {"an average", [](Given&, Trainer& t) { t.exponential_moving_average(0.9f, 3); }, plain},
      {"by turns late, on the host, on the device", nothing,
       [](Given& m, Trainer& t, unsigned k) {
         t.sparse_updates_exact = k % 5 < 2;
         if (k % 4 == 3) m.a.scale_gradient(2);  // which brings gradients home
         return t.update();
       }},
      {"values are looked at and changed", nothing,
       [](Given& m, Trainer& t, unsigned k) {
         m.pc.set_weight_decay_lambda(0.001f);
         const bool made = t.update();
         if (k % 4 == 1) test::all_values(m.pc);
         if (k % 4 == 2) m.a.scale(0.5f);
         if (k % 4 == 3) m.t.initialize(3, random_values(7, k));
         if (k == 7) m.b.clip_inplace(-0.1f, 0.1f);
         if (k == 9) m.rare.zero();
         if (k == 11) m.a.values().v[5] = 0.25f;
         if (k == 13) m.u.row(2).v[1] = 0.75f;
         return made;
       }},
      {"a schedule and restarts",
       [](Given&, Trainer& t) { t.set_schedule(LearningRateSchedule::cosine(0.1f, 15, 0.001f)); },
       [](Given&, Trainer& t, unsigned k) {
         if (k == 8) t.restart();
         return t.update();
       }},
  };
}

constexpr unsigned kUpdates = 20;

Outcome train(const TrainerCase& c, const Setting& s, const Memory& memory) {
  Given m(c);
  const auto trainer = c.make(m.pc);
  s.prepare(m, *trainer);
  for (unsigned k = 0; k < kUpdates; ++k) {
    m.pc.reset_gradient();
    m.gradients(k, memory, k % 2 ? 0.01f : 1);
    CHECK(s.update(m, *trainer, k));
  }
  return Outcome(m.pc, *trainer);
}

/// A model whose gradients are computed, with a table that is used as rows and as a whole.
struct Model {
  ParameterCollection pc;
  LookupParameter words = pc.add_lookup_parameters(20, {6});
  LookupParameter tags = pc.add_lookup_parameters(8, {10});
  Parameter w = pc.add_parameters({10, 6}), b = pc.add_parameters({10});
  LSTMBuilder lstm{1, 10, 10, pc};

  Expression loss(ComputationGraph& g, unsigned seed) {
    lstm.new_graph(g);
    lstm.start_new_sequence();
    std::vector<Expression> losses;
    for (unsigned t = 0; t < 3; ++t) {
      const unsigned word = (7 * seed + 3 * t) % 20, tag = (seed + t) % 8;
      const Expression x =
          tanh(affine_transform({parameter(g, b), parameter(g, w), lookup(g, words, word)}));
      const Expression h = lstm.add_input(x + lookup(g, tags, (seed + 5 * t) % 8));
      losses.push_back(pickneglogsoftmax(transpose(parameter(g, tags)) * h, tag));
    }
    return sum(losses);
  }
  void backward(unsigned seed, bool on_device) {
    ComputationGraph g;
    g.set_seed(seed + 1);
    if (on_device) g.set_device(gpu());
    g.backward(loss(g, seed));
  }
};

}  // namespace

TEST_CASE("every trainer does on the device what it does on the host", "[cuda]") {
  const Memory memory = device_memory();
  double largest = 0;
  unsigned runs = 0;
  for (const TrainerCase& c : trainer_cases())
    for (const Setting& s : settings()) {
      CAPTURE(c.name, s.name);
      largest = std::max(largest, check_same(train(c, s, nullptr), train(c, s, memory), 2e-5));
      ++runs;
    }
  std::printf("%u runs of %u updates, largest difference %g\n", runs, kUpdates, largest);
}

TEST_CASE("models train on the device as on the host", "[cuda]") {
  for (const bool mixed : {false, true}) {  // with graphs on the host among them
    CAPTURE(mixed);
    Floats results[2];
    for (const bool on_device : {false, true}) {
      Model m;
      AdamTrainer trainer(m.pc, 0.01f);
      for (unsigned k = 0; k < kUpdates; ++k) {
        m.backward(k, on_device && !(mixed && k % 3 == 1));
        m.backward(k + 50, on_device && !(mixed && k % 4 == 1));
        trainer.update(0.5f);
      }
      results[on_device] = test::all_values(m.pc);
    }
    const double d =
        test::largest_difference(results[0].data(), results[1].data(), results[0].size());
    CHECK(d <= 1e-3);
  }
}

TEST_CASE("updates on the device are the same bits again", "[cuda]") {
  Floats results[2];
  for (Floats& result : results) {
    Model m;
    RMSPropTrainer trainer(m.pc);
    trainer.clip_threshold = 0.5f;
    for (unsigned k = 0; k < 10; ++k) {
      m.backward(k, true);
      trainer.update();
    }
    CHECK(trainer.status() == "[lr=0.1 clips=10 updates=10]");
    result = test::all_values(m.pc);
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("a trainer that is saved on the device goes on anywhere", "[cuda]") {
  const TemporaryFolder folder;
  const std::string file = folder / "model";
  for (const bool as_text : {false, true})
    for (const bool on_device : {false, true}) {
      Model m, n;
      AmsgradTrainer first(m.pc), second(n.pc, 0.5f);
      const auto step = [](Model& model, Trainer& trainer, unsigned k, bool device) {
        model.backward(k, device);
        trainer.update();
      };
      for (unsigned k = 0; k < 5; ++k) step(m, first, k, true);
      for (unsigned k = 0; k < 3; ++k) step(n, second, k + 9, true);  // values and state to be lost
      if (as_text) {
        std::stringstream text;
        first.save(text);
        second.populate(text);
        save(file, m.pc);
        load(file, n.pc);
      } else {
        save(file, m.pc, first);
        load(file, n.pc, second);
      }
      CHECK(test::all_values(m.pc) == test::all_values(n.pc));
      for (unsigned k = 5; k < 10; ++k) {
        step(m, first, k, true);
        step(n, second, k, on_device);
      }
      const Outcome a(m.pc, first), b(n.pc, second);
      REQUIRE(a.numbers.size() == b.numbers.size());
      CHECK(test::largest_difference(a.numbers.data(), b.numbers.data(), a.numbers.size()) <=
            (on_device ? 0 : 1e-4));
      CHECK(a.settings == b.settings);
    }
}

TEST_CASE("a graph on the host sees what an update on the device has made", "[cuda]") {
  Model m;
  MomentumSGDTrainer trainer(m.pc);
  const auto loss = [&](bool on_device) {
    ComputationGraph g;
    if (on_device) g.set_device(gpu());
    return as_scalar(m.loss(g, 4).value());
  };
  for (unsigned k = 0; k < 4; ++k) {
    m.backward(k, true);
    trainer.update();
    CHECK(loss(false) == Approx(loss(true)).epsilon(1e-5));
  }
  m.w.scale(3);
  m.words.initialize(8, Floats(6, 0.5f));
  CHECK(loss(false) == Approx(loss(true)).epsilon(1e-5));
}

TEST_CASE("a gradient that is not finite changes nothing on the device", "[cuda]") {
  const Memory memory = device_memory();
  const TrainerCase adam = trainer_cases()[6];
  enum Mode { kThrows, kSkips, kSkipsUnclipped };
  for (const Mode mode : {kThrows, kSkips, kSkipsUnclipped})
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      CAPTURE(mode, bad);
      Given device(adam), host(adam);
      const auto there = adam.make(device.pc), here = adam.make(host.pc);
      for (Trainer* t : {there.get(), here.get()}) {
        t->set_schedule(LearningRateSchedule::cosine(0.1f, 15, 0.001f));
        t->skip_non_finite = mode != kThrows;
        t->clipping_enabled = mode != kSkipsUnclipped;
      }
      const auto spoil = [&](Given& m, const Memory& where) {
        const ParameterStorage& t = m.t.get_storage();
        RowGradients& rows = m.pc.bank().gradients.mine(where).rows(t.index, t.rows, 7);
        float* const g = rows.row_gradient(1) + 3;
        where ? where->write(g, &bad, sizeof bad) : void(*g = bad);
      };
      const auto step = [&](Given& m, Trainer& t, const Memory& where, unsigned k) {
        m.gradients(k, where);
        if (k == 2 || k == 6 || k == 7) spoil(m, where);
        return t.update();
      };
      unsigned told = 0, skipped = 0;
      for (unsigned k = 0; k < 10; ++k) {
        if (mode == kThrows && (k == 2 || k == 6 || k == 7))
          CHECK_THROWS_AS(step(host, *here, nullptr, k), NumericError);
        else
          skipped += !step(host, *here, nullptr, k);
        try {
          step(device, *there, memory, k);
        } catch (const NumericError& e) {
          ++told;
          CHECK((k == 3 || k == 7 || k == 8));
          CHECK_THAT(e.what(), Catch::Contains("in the update before") &&
                                   Catch::Contains("lookup parameter " + device.t.get_fullname()));
        }
        if (mode != kThrows && k == 6) {
          there->learning_rate = 0;  // the schedule sets it
          CHECK(there->numbers() == here->numbers());
        }
      }
      CHECK(told == (mode == kThrows ? 3 : 0));
      CHECK(skipped == (mode == kThrows ? 0 : 3));
      check_same(Outcome(host.pc, *here), Outcome(device.pc, *there), 2e-5);
      if (mode != kThrows) continue;
      step(host, *here, nullptr, 1);
      device.gradients(0, memory);
      spoil(device, memory);
      there->update();
      CHECK_THROWS_AS(there->status(), NumericError);
      CHECK_THAT(there->status(), Catch::Contains("clips=0 updates=0"));
      step(device, *there, memory, 1);
      check_same(Outcome(host.pc, *here), Outcome(device.pc, *there), 2e-5);
    }
}

TEST_CASE("an update on the device refuses what one on the host refuses", "[cuda]") {
  const Memory memory = device_memory();
  Given m(trainer_cases()[0]);
  SimpleSGDTrainer trainer(m.pc);
  const Floats before = test::all_values(m.pc);
  m.gradients(1, memory);
  trainer.clip_threshold = -1;
  CHECK_THROWS_AS(trainer.update(), ArgumentError);
  CHECK_THROWS_AS(trainer.update(std::numeric_limits<float>::infinity()), ArgumentError);
  CHECK(test::all_values(m.pc) == before);
  trainer.clip_threshold = 5;
  CHECK(trainer.update());
  CHECK(test::all_values(m.pc) != before);
}

#ifndef DYNET_TEST_GPU
TEST_CASE("in training the host neither reads nor writes the device's memory", "[cuda]") {
  Model m;
  AdamTrainer trainer(m.pc);
  m.pc.set_weight_decay_lambda(1e-3f);
  std::size_t before = 0;
  for (unsigned k = 0; k < 11; ++k) {
    if (k == 1) before = emulation::counts().copies;
    m.backward(k, true);
    trainer.update();
  }
  CHECK(emulation::counts().copies == before);
  CHECK(trainer.status() == "[lr=0.001 clips=0 updates=11]");
  CHECK(emulation::counts().copies == before);
  test::all_values(m.pc);
  CHECK(emulation::counts().copies > before);
}
#endif
