#pragma once

// Models and settings for tests of trainers on devices.

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/graph/device_backend.h"
#include "dynet-like/param/storage.h"
#include "tests/cuda/check_equal.h"
#include "tests/train/rules.h"

namespace dynet::test {

using Memory = std::shared_ptr<DeviceAllocator>;

inline Memory device_memory(int number = 0) {
  return cuda::kDevices.make_backend(number)->memory();
}

inline void give(const Memory& memory, const GradientSlot& slot, const Floats& g) {
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
    gradients(k, pc.bank().gradients.mine(memory), size);
  }
  void gradients(unsigned k, GradientBuffer& buffer, float size) {
    const Memory& memory = buffer.memory();
    const auto values = [&](std::size_t n, unsigned what) {
      return random_values(n, 100 * k + what, size);
    };
    const auto dense = [&](const Parameter& p, unsigned what) {
      if (!p.is_updated()) return;
      const ParameterStorageBase& s = p.stored();
      give(memory, buffer.use(s.index, s.size()), values(s.size(), what));
    };
    const auto rows = [&](const LookupParameter& p) -> RowGradients& {
      const ParameterStorageBase& s = p.stored();
      return buffer.rows(s.index, s.rows, s.row_size());
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

  Outcome(const ParameterCollection& pc, Trainer& trainer) : numbers(all_values(pc)) {
    for (const auto& view : trainer.state_views())
      for (const float* a : view.arrays) numbers.insert(numbers.end(), a, a + view.dim.size());
    settings = trainer.numbers();
    status = trainer.status();
  }
};

inline void check_same(const Outcome& host, const Outcome& device, double tolerance) {
  CHECK(host.settings == device.settings);
  CHECK(host.status == device.status);
  check_near(host.numbers, device.numbers, tolerance);
}

/// Settings of a trainer, and a kind of update.
struct Setting {
  const char* name;
  std::function<void(Given&, Trainer&)> prepare;
  std::function<bool(Given&, Trainer&, unsigned k)> update;
};

inline std::vector<Setting> settings() {
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
      {"by turns dense, on the host, on the device", nothing,
       [](Given& m, Trainer& t, unsigned k) {
         t.sparse_updates_enabled = k % 5 >= 2;
         if (k % 4 == 3) m.a.scale_gradient(2);  // which brings gradients home
         return t.update();
       }},
      {"values are looked at and changed", nothing,
       [](Given& m, Trainer& t, unsigned k) {
         m.pc.set_weight_decay_lambda(0.001f);
         const bool made = t.update();
         if (k % 4 == 1) all_values(m.pc);
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

/// A model whose gradients are computed, with a table that is used as rows and as a whole.
struct Model {
  ParameterCollection pc;
  LookupParameter words = pc.add_lookup_parameters(20, {6});
  LookupParameter tags = pc.add_lookup_parameters(8, {10});
  Parameter w = pc.add_parameters({10, 6}), b = pc.add_parameters({10});
  LSTMBuilder lstm{1, 10, 10, pc};

  Expression loss(ComputationGraph& g, unsigned seed) {
    LSTMBuilder net = lstm;  // of this graph: another may be built by another thread
    net.new_graph(g);
    net.start_new_sequence();
    std::vector<Expression> losses;
    for (unsigned t = 0; t < 3; ++t) {
      const unsigned word = (7 * seed + 3 * t) % 20, tag = (seed + t) % 8;
      const Expression x =
          tanh(affine_transform({parameter(g, b), parameter(g, w), lookup(g, words, word)}));
      const Expression h = net.add_input(x + lookup(g, tags, (seed + 5 * t) % 8));
      losses.push_back(pickneglogsoftmax(transpose(parameter(g, tags)) * h, tag));
    }
    return sum(losses);
  }
  void backward(unsigned seed, bool on_device) { backward(seed, on_device ? gpu() : nullptr); }
  /// On the CPU, if there is no device.
  void backward(unsigned seed, Device* device) {
    DeviceGraph g(device);
    g.set_seed(seed + 1);
    g.backward(loss(g, seed));
  }
};

}  // namespace dynet::test
