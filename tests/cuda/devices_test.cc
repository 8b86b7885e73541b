// Trainers whose gradients come from several buffers and devices: the host adds them up.

#include <array>
#include <thread>

#include "dynet-like/param/on_device.h"
#include "kernels/cuda/queue.h"
#include "tests/cuda/training.h"

using namespace dynet;
using namespace dynet::test;

namespace {

/// Buffers by their devices; with numbers, or each of a thread of its own.
struct Buffers {
  const char* name;
  std::vector<int> devices;
  bool numbered;
};

/// Those that can be had here.
std::vector<Buffers> arrangements() {
  std::vector<Buffers> all;
  for (const Buffers& l : std::vector<Buffers>{{"two of one", {0, 0}, true},
                                               {"threads of one", {0, 0, 0}, false},
                                               {"one of each of two", {0, 1}, false},
                                               {"one of each of three", {2, 1, 0}, true},
                                               {"threads of three", {1, 2, 0}, false},
                                               {"many, not on the first", {2, 1, 1, 2, 1}, true},
                                               {"many threads", {1, 0, 1, 0, 0}, false}})
    if (*std::max_element(l.devices.begin(), l.devices.end()) < cuda::kDevices.count())
      all.push_back(l);
  return all;
}

/// Gradients of update k in each buffer, or in as many buffers on the host.
void give(Given& m, unsigned k, const Buffers& buffers, bool on_device, float size) {
  for (unsigned n = 0; n < buffers.devices.size(); ++n) {
    const Memory memory = on_device ? device_memory(buffers.devices[n]) : nullptr;
    GradientBuffers& all = m.pc.bank().gradients;
    const auto fill = [&](GradientBuffer& buffer) { m.gradients(k + 37 * n, buffer, size); };
    if (buffers.numbered)
      fill(all.numbered(n, memory));
    else
      std::thread([&] { fill(all.mine(memory)); }).join();
  }
}

/// The values of all parameters as a device has them.
Floats values_there(const ParameterCollection& pc, const Memory& memory) {
  Floats all;
  const auto add = [&](ParameterStorageBase& p) {
    const float* const from = values_on(p, memory);
    all.resize(all.size() + p.size());
    if (p.size() > 0) memory->read(&*all.end() - p.size(), from, p.size() * sizeof(float));
  };
  for (const Parameter& p : pc.parameters_list()) add(p.stored());
  for (const LookupParameter& p : pc.lookup_parameters_list()) add(p.stored());
  return all;
}

/// As graphs there do, all ask for the values.
void use_values(Given& m, const Buffers& buffers) {
  for (const int d : buffers.devices) {
    for (const Parameter& p : m.pc.parameters_list()) values_on(p.stored(), device_memory(d));
    for (const LookupParameter& p : m.pc.lookup_parameters_list())
      values_on(p.stored(), device_memory(d));
  }
}

Outcome train(const TrainerCase& c, const Setting& s, const Buffers& buffers, bool on_device) {
  constexpr unsigned kUpdates = 8;
  Given m(c);
  const auto trainer = c.make(m.pc);
  s.prepare(m, *trainer);
  for (unsigned k = 0; k < kUpdates; ++k) {
    m.pc.reset_gradient();
    if (on_device && k % 3 != 1) use_values(m, buffers);
    give(m, k, buffers, on_device, k % 2 ? 0.01f : 1);
    CHECK(s.update(m, *trainer, k));
  }
  if (on_device)
    for (const int d : buffers.devices)
      CHECK((values_there(m.pc, device_memory(d)) == all_values(m.pc)));
  return Outcome(m.pc, *trainer);
}

/// One update of a model from several graphs, one for each device, on a thread each.
void update(Model& m, Trainer& trainer, unsigned k, const std::vector<Device*>& devices) {
  for (unsigned n = 0; n < devices.size(); ++n)  // one after the other: the order decides last bits
    std::thread([&] { m.backward(10 * k + n, devices[n]); }).join();
  trainer.update(1.0f / static_cast<float>(devices.size()));
}

bool has_devices(int n) {
  if (cuda::kDevices.count() >= n) return true;
  skip("there are no " + std::to_string(n) + " devices");
  return false;
}

}  // namespace

TEST_CASE("gradients of buffers on devices meet in the bits that they have on the host",
          "[cuda][devices]") {
  for (const Buffers& buffers : arrangements()) {
    CAPTURE(buffers.name);
    check_both(0, [&](bool on_device) {
      Given m(trainer_cases()[0]);
      SimpleSGDTrainer trainer(m.pc, 1);  // w - g, with one rounding
      trainer.clipping_enabled = false;
      for (unsigned k = 0; k < 8; ++k) {
        if (on_device) use_values(m, buffers);
        give(m, k, buffers, on_device, 1);
        trainer.update();
      }
      return all_values(m.pc);
    });
  }
}

TEST_CASE("every trainer does over several devices what it does on the host", "[cuda][devices]") {
  const auto trainers = trainer_cases();
  // Each trainer with one of the arrangements.
  const std::vector<Buffers> all = arrangements();
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t t = a; t < trainers.size(); t += all.size())
      for (const Setting& s : settings()) {
        CAPTURE(all[a].name, trainers[t].name, s.name);
        check_same(train(trainers[t], s, all[a], false), train(trainers[t], s, all[a], true), 2e-5);
      }
}

TEST_CASE("a model trains over devices as on the host, and the same bits again",
          "[cuda][devices]") {
  if (!has_devices(2)) return;
  std::vector<Device*> devices;
  for (int d = 0; d < std::min(3, cuda::kDevices.count()); ++d) {
    devices.push_back(gpu(d));
    if (d == 0) continue;
    Floats results[3];
    for (unsigned run = 0; run < 3; ++run) {
      Model m;
      AdamTrainer trainer(m.pc, 0.01f);
      trainer.clip_threshold = 0.1f;
      m.pc.set_weight_decay_lambda(1e-3f);
      for (unsigned k = 0; k < 10; ++k)
        update(m, trainer, k, run == 0 ? std::vector<Device*>(devices.size()) : devices);
      CHECK_THAT(trainer.status(), Catch::Contains("clips=10 updates=10"));
      results[run] = all_values(m.pc);
    }
    CHECK(results[1] == results[2]);
    check_near(results[0], results[1], 1e-3);
  }
}

TEST_CASE("a device may be left out of an update, and another one be the first",
          "[cuda][devices]") {
  if (!has_devices(2)) return;
  check_both(1e-3, [&](bool on_device) {
    Model m;
    AdamTrainer trainer(m.pc, 0.01f);
    trainer.exponential_moving_average(0.5f);
    const std::vector<std::vector<int>> turns{{0, 1}, {0}, {1}, {1, 0}, {0, 1, 1}, {1, 1}, {0, 0}};
    for (unsigned k = 0; k < 14; ++k) {
      const std::vector<int>& turn = turns[k % turns.size()];
      std::vector<Device*> devices;
      for (const int d : turn) devices.push_back(on_device ? gpu(d) : nullptr);
      update(m, trainer, k, devices);
      if (k == 5) m.w.set_updated(false);
      if (k == 9) m.w.set_updated(true);
      if (k == 11) m.w.scale(0.5f);
    }
    trainer.swap_params_to_moving_average();
    return all_values(m.pc);
  });
}

TEST_CASE("a parameter may be used on one of several devices", "[cuda][devices]") {
  if (!has_devices(2)) return;
  check_both(1e-5, [&](bool on_device) {
    ParameterCollection pc;
    Parameter both = pc.add_parameters({70000}), first = pc.add_parameters({3}),
              second = pc.add_parameters({5});
    LookupParameter table = pc.add_lookup_parameters(9, {4});
    MomentumSGDTrainer trainer(pc, 0.1f);
    for (unsigned k = 0; k < 6; ++k) {
      for (const int d : {0, 1}) {
        DeviceGraph g(on_device ? gpu(d) : nullptr);
        g.set_gradient_buffer(static_cast<unsigned>(d));
        const Expression own =
            d == 0 ? squared_norm(parameter(g, first) - 1)
                   : squared_norm(parameter(g, second) + 2) + sum_elems(lookup(g, table, k % 4));
        g.backward(own + squared_norm(parameter(g, both) - static_cast<float>(d)));
      }
      trainer.update();
    }
    return all_values(pc);
  });
}

TEST_CASE("a gradient that is not finite on any device changes nothing on all", "[cuda][devices]") {
  if (!has_devices(2)) return;
  for (const bool skips : {false, true})
    for (const int bad : {0, 1}) {
      CAPTURE(skips, bad);
      Model m;
      AdamTrainer trainer(m.pc);
      trainer.cumulative_moving_average();
      trainer.skip_non_finite = skips;
      const std::vector<Device*> both{gpu(0), gpu(1)};
      for (unsigned k = 0; k < 3; ++k) update(m, trainer, k, both);
      const Outcome before(m.pc, trainer);
      for (const int d : {0, 1}) {
        DeviceGraph g(gpu(d));
        const float factor = d == bad ? std::numeric_limits<float>::infinity() : 1.0f;
        g.backward(m.loss(g, 3) * factor);
      }
      if (skips)
        CHECK_FALSE(trainer.update());
      else
        CHECK_THROWS_AS(trainer.update(), NumericError);
      CHECK(trainer.skipped == skips);
      Outcome after(m.pc, trainer);
      CHECK(after.numbers == before.numbers);
      after.settings["skipped"] = 0;
      CHECK(after.settings == before.settings);
      for (const int d : {0, 1}) CHECK(values_there(m.pc, device_memory(d)) == all_values(m.pc));
    }
}

TEST_CASE("a parameter that is added to a graph again has the values of an update elsewhere",
          "[cuda]") {
  for (const bool on_device : {false, true}) {
    ParameterCollection pc;
    const Parameter p = pc.add_parameters({3});
    SimpleSGDTrainer trainer(pc, 0.25f);
    ComputationGraph waiting, other;
    (on_device ? waiting : other).set_device(gpu());
    const Expression before = 2 * parameter(waiting, p);
    const Floats old = as_vector(before.value());
    other.backward(squared_norm(parameter(other, p)));
    trainer.update();
    const Floats now = as_vector((2 * parameter(waiting, p)).value());
    for (std::size_t k = 0; k < 3; ++k) CHECK(now[k] == Approx(old[k] / 2));
  }
}

#ifndef DYNET_TEST_GPU
TEST_CASE("a device reads the values of its time, and not those of later updates",
          "[cuda][devices]") {
  for (const int device : {-1, 0, 1}) {
    const HurriedDevice hurry(device);
    for (const unsigned n : {300u, 70000u}) {
      ParameterCollection pc;
      Parameter p = pc.add_parameters({n});
      SimpleSGDTrainer trainer(pc, 0.01f);
      DeviceGraph g(gpu(0));
      std::vector<std::unique_ptr<cuda::Queue>> queues;  // one that goes waits for its device
      std::array<Floats, 4> seen;
      for (Floats& there : seen) {
        there.resize(n);
        queues.push_back(std::make_unique<cuda::Queue>(cuda::make_driver(1)));
        queues.back()->fetch(there.data(), values_on(p.stored(), device_memory(1)),
                             n * sizeof(float));
        queues.back()->flush();
        g.clear();
        g.backward(squared_norm(parameter(g, p)));
        trainer.update();
      }
      for (const auto& q : queues) q->wait();
      for (std::size_t k = 1; k < seen.size(); ++k)
        CHECK(seen[k][5] == Approx(0.98f * seen[k - 1][5]).epsilon(1e-4));
    }
  }
}

TEST_CASE("an update is few kernels, and one copy from the host", "[cuda]") {
  Model m;
  AdamTrainer trainer(m.pc);
  std::size_t launches = 0, uploads = 0;
  for (unsigned k = 0; k < 3; ++k) {
    m.backward(k, gpu(0));
    launches = emulation::counts().launches;
    uploads = emulation::counts().uploads;
    trainer.update();
    launches = emulation::counts().launches - launches;
    uploads = emulation::counts().uploads - uploads;
  }
  // Rows of a table go into that as a whole, then squares, norm, steps.
  CHECK(launches == 1 + 3);
  CHECK(uploads == 1);
}
#endif
