// Trainers on the device against the host.

#include "tests/cuda/training.h"

#include "dynet-like/io/save.h"
#include "tests/io/folder.h"

using namespace dynet;
using namespace dynet::test;

namespace {

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

}  // namespace

TEST_CASE("every trainer does on the device what it does on the host", "[cuda]") {
  const Memory memory = device_memory();
  for (const TrainerCase& c : trainer_cases())
    for (const Setting& s : settings()) {
      CAPTURE(c.name, s.name);
      check_same(train(c, s, nullptr), train(c, s, memory), 2e-5);
    }
}

TEST_CASE("models train on the device as on the host", "[cuda]") {
  for (const bool mixed : {false, true}) {  // with graphs on the host among them
    CAPTURE(mixed);
    check_both(1e-3, [&](bool on_device) {
      Model m;
      AdamTrainer trainer(m.pc, 0.01f);
      for (unsigned k = 0; k < kUpdates; ++k) {
        m.backward(k, on_device && !(mixed && k % 3 == 1));
        m.backward(k + 50, on_device && !(mixed && k % 4 == 1));
        trainer.update(0.5f);
      }
      return all_values(m.pc);
    });
  }
}

TEST_CASE("updates on the device are the same bits again", "[cuda]") {
  const auto train_again = [] {
    Model m;
    RMSPropTrainer trainer(m.pc);
    trainer.clip_threshold = 0.5f;
    for (unsigned k = 0; k < 10; ++k) {
      m.backward(k, true);
      trainer.update();
    }
    CHECK(trainer.status() == "[lr=0.1 clips=10 updates=10]");
    return all_values(m.pc);
  };
  CHECK(train_again() == train_again());
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
      CHECK(all_values(m.pc) == all_values(n.pc));
      for (unsigned k = 5; k < 10; ++k) {
        step(m, first, k, true);
        step(n, second, k, on_device);
      }
      const Outcome a(m.pc, first), b(n.pc, second);
      check_near(a.numbers, b.numbers, on_device ? 0 : 1e-4);
      CHECK(a.settings == b.settings);
    }
}

TEST_CASE("a graph on the host sees what an update on the device has made", "[cuda]") {
  Model m;
  MomentumSGDTrainer trainer(m.pc);
  const auto loss = [&](bool on_device) {
    DeviceGraph g(on_device ? gpu() : nullptr);
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
        const ParameterStorageBase& t = m.t.stored();
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

TEST_CASE("gradients are scaled and clipped on the device as on the host", "[cuda]") {
  const Memory memory = device_memory();
  for (const float threshold : {5.0f, 50.0f, 1e9f})
    for (const float scale : {1.0f, -1.0f, 0.25f, -0.25f, 1e-4f, -1e-4f, 30.0f, -30.0f, 0.0f}) {
      CAPTURE(threshold, scale);
      Given device(trainer_cases()[0]), host(trainer_cases()[0]);
      SimpleSGDTrainer there(device.pc), here(host.pc);
      for (SimpleSGDTrainer* t : {&there, &here}) t->clip_threshold = threshold;
      for (unsigned k = 0; k < 2; ++k) {
        device.gradients(k, memory);
        host.gradients(k, nullptr);
        CHECK(there.update(scale) == here.update(scale));
      }
      check_same(Outcome(host.pc, here), Outcome(device.pc, there), 2e-5);
    }
}

TEST_CASE("exponentiated gradients are right on the device, whatever their size and the weights",
          "[cuda]") {
  const Memory memory = device_memory();
  constexpr unsigned kSize = 300;  // more than a block has threads
  for (const float size : {1.0f, 1e3f, 1e6f, 1e30f})
    for (const bool sparse : {false, true}) {
      CAPTURE(size, sparse);
      check_both(1e-6, [&](bool on_device) {
        ParameterCollection pc;
        Parameter p = pc.add_parameters({kSize});
        LookupParameter t = pc.add_lookup_parameters(3, {kSize});
        Floats w(kSize, 1.0f / kSize), g(kSize);
        for (unsigned i = 0; i < kSize; ++i) {
          const bool zero = sparse && i % 3 != 1;
          if (zero) w[i] = 0;
          // Gradients of weights that are zero are much larger.
          g[i] = (zero ? -200 : i % 2 ? -1.5f : 2.0f) * size;
        }
        p.set_value(w);
        for (unsigned row = 0; row < 3; ++row) t.initialize(row, w);
        EGTrainer trainer(pc);
        trainer.clipping_enabled = false;
        const Memory where = on_device ? memory : nullptr;
        GradientBuffer& buffer = pc.bank().gradients.mine(where);
        const ParameterStorageBase &dense = p.stored(), &table = t.stored();
        for (unsigned k = 0; k < 2; ++k) {
          give(where, buffer.use(dense.index, kSize), g);
          give(where, buffer.rows(table.index, table.rows, kSize).use_row(k), g);
          trainer.update();
        }
        const Floats all = all_values(pc);
        CHECK(std::accumulate(all.begin(), all.begin() + kSize, 0.0) == Approx(1).epsilon(1e-4));
        return all;
      });
    }
}

TEST_CASE("an update on the device refuses what one on the host refuses", "[cuda]") {
  const Memory memory = device_memory();
  Given m(trainer_cases()[0]);
  SimpleSGDTrainer trainer(m.pc);
  const Floats before = all_values(m.pc);
  m.gradients(1, memory);
  trainer.clip_threshold = -1;
  CHECK_THROWS_AS(trainer.update(), ArgumentError);
  CHECK_THROWS_AS(trainer.update(std::numeric_limits<float>::infinity()), ArgumentError);
  CHECK(all_values(m.pc) == before);
  trainer.clip_threshold = 5;
  CHECK(trainer.update());
  CHECK(all_values(m.pc) != before);
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
  all_values(m.pc);
  CHECK(emulation::counts().copies > before);
}
#endif
