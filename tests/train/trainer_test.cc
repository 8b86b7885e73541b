#include "dynet-like/train/update_loops.h"
#include "tests/train/rules.h"

namespace trainer_test {

using namespace dynet;

namespace {

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

void sign_rule(const TrainerSlice& s) {
  each_value<1>(s, [lr = s.c[0]](float w, float g, float* sum) {
    sum[0] += g;
    return w - lr * static_cast<float>((sum[0] > 0) - (sum[0] < 0));
  });
}
constexpr TrainerRule kSign{
    .arrays = 1, .apply = sign_rule, .device = DeviceRule::never("nobody has written a kernel")};

struct SignTrainer : Trainer {  // w <- w - lr sign(sum of g)
  explicit SignTrainer(const ParameterCollection& pc) : Trainer(pc, 0.5f, kSign) {}
  const char* kind() const override { return "SignTrainer"; }
};

}  // namespace

TEST_CASE("every length takes the same steps") {
  for (unsigned n : {0u, 1u, 15u, 16u, 17u, 33u, 1000u}) {
    ParameterCollection pc;
    auto p = pc.add_parameters({n}, ParameterInitConst(1.0f));
    auto q = pc.add_parameters({n}, ParameterInitConst(1.0f));
    AdamTrainer adam(pc, 0.1f);
    SimpleSGDTrainer sgd(pc);
    adam.clipping_enabled = sgd.clipping_enabled = false;
    for (Trainer* trainer : std::initializer_list<Trainer*>{&adam, &sgd}) {
      plant(p, std::vector<float>(n, 0.5f));
      trainer->update();
      for (unsigned i = 1; i < n; ++i) REQUIRE(p.values().v[i] == p.values().v[0]);
    }
    CHECK(as_vector(q.values()) == std::vector<float>(n, 1.0f));
  }
}

TEST_CASE("weight decay is the same whatever the trainer and the setting") {
  for (bool sparse : {true, false})
    for (const TrainerCase& c : trainer_cases()) {
      if (c.distribution || c.name == "AdamWTrainer") continue;  // these move without a gradient
      ParameterCollection pc(0.125f);
      auto p = pc.add_parameters({2}, ParameterInitConst(8.0f), "p");
      auto e = pc.add_lookup_parameters(3, {2}, ParameterInitConst(8.0f), "e");
      auto frozen = pc.add_parameters({2}, ParameterInitConst(8.0f), "frozen");
      frozen.set_updated(false);
      auto none = pc.add_subcollection("none", 0.0f);
      auto q = none.add_parameters({2}, ParameterInitConst(8.0f), "q");
      auto trainer = c.make(pc);
      trainer->sparse_updates_enabled = sparse;
      plant_row(e, 1, {0, 0});
      trainer->update();
      CHECK(as_vector(p.values()) == std::vector<float>{7, 7});
      CHECK(table_values(e) == std::vector<float>(6, 7.0f));
      CHECK(as_vector(frozen.values()) == std::vector<float>{8, 8});
      CHECK(as_vector(q.values()) == std::vector<float>{8, 8});
    }
}

TEST_CASE("clipping scales all gradients by one factor") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(0.0f), "p");
  auto e = pc.add_lookup_parameters(2, {1}, ParameterInitConst(0.0f), "e");
  SimpleSGDTrainer trainer(pc, 1.0f);
  trainer.clip_threshold = 6.5f;
  plant(p, {3, 4});
  plant_row(e, 1, {12});
  CHECK(trainer.clip_gradients() == 0.5f);
  CHECK(trainer.clips == 1);
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>{-1.5f, -2});
  CHECK(table_values(e) == std::vector<float>{0, -6});
  CHECK(trainer.clips == 2);

  plant(p, {3, 4});  // not larger than the threshold
  trainer.clip_threshold = 5.0f;
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>{-4.5f, -6});
  CHECK(trainer.clips == 2);

  trainer.clipping_enabled = false;
  plant(p, {300, 400});
  CHECK(trainer.clip_gradients() == 1.0f);
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>{-304.5f, -406});

  trainer.clipping_enabled = true;
  plant(p, {1e30f, 0});  // its square is no float
  trainer.update();
  CHECK(p.values().v[0] == Approx(-309.5));
  trainer.clip_threshold = -1.0f;
  CHECK_THROWS_AS(trainer.update(), ArgumentError);
  CHECK(trainer.status() == "[lr=1 clips=3 updates=4]");
  CHECK(trainer.status() == "[lr=1 clips=0 updates=0]");
  CHECK(trainer.updates == 4);
}

TEST_CASE("a frozen parameter and its state stay") {
  ParameterCollection pc, twin;
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f), "p");
  auto q = twin.add_parameters({2}, ParameterInitConst(1.0f), "p");
  auto e = pc.add_lookup_parameters(2, {2}, ParameterInitConst(1.0f), "e");
  AdamTrainer trainer(pc, 0.1f), other(twin, 0.1f);
  const auto step = [](Trainer& t, const Parameter& x) {
    plant(x, {0.5f, -0.5f});
    t.update();
  };
  step(trainer, p);
  step(other, q);
  const auto before = as_vector(p.values());
  const auto state = trainer.state_views().at(0);
  const std::vector<float> m(state.arrays[0], state.arrays[0] + 2);
  p.set_updated(false);
  e.set_updated(false);
  plant(p, {1000, kNaN});  // of a frozen parameter a gradient neither counts nor harms
  plant_row(e, 1, {kInfinity, 0});
  trainer.update();
  CHECK(as_vector(p.values()) == before);
  CHECK(table_values(e) == std::vector<float>(4, 1.0f));
  CHECK(m == std::vector<float>(state.arrays[0], state.arrays[0] + 2));
  CHECK(pc.bank().gradients.merge() == nullptr);
  p.set_updated(true);
  step(trainer, p);
  CHECK(as_vector(p.values()) != before);
}

TEST_CASE("a gradient that is not finite is refused by name and nothing changes") {
  for (float bad : {kNaN, kInfinity, -kInfinity})
    for (const TrainerCase& c : trainer_cases())
      for (int place = 0; place < 3; ++place) {
        ParameterCollection pc(0.1f);
        auto p = pc.add_parameters({3}, ParameterInitUniform(0.5f, 1.0f), "good");
        auto q = pc.add_parameters({3}, ParameterInitUniform(0.5f, 1.0f), "bad");
        auto e = pc.add_lookup_parameters(4, {2}, ParameterInitUniform(0.5f, 1.0f), "table");
        auto trainer = c.make(pc);
        plant(p, {1, 2, 3});
        plant(q, {1, 2, 3});
        plant_row(e, 2, {1, 2});
        trainer->update();
        CHECK(pc.bank().gradients.merge() == nullptr);  // what it used is dropped
        const auto values = [&] { return values_and_state(pc, *trainer); };
        const auto before = values();
        const auto numbers = trainer->numbers();
        plant(p, {1, 2, 3});
        CHECK(as_vector(p.gradients()) == std::vector<float>{1, 2, 3});
        if (place == 0)
          plant(q, {1, bad, 3});
        else if (place == 1)
          plant_row(e, 3, {0, bad});
        else
          plant_whole(e, {0, 0, 0, 0, 0, 0, 0, bad});
        std::string message;
        try {
          trainer->update();
        } catch (const NumericError& error) {
          message = error.what();
        }
        CAPTURE(message);
        CHECK(message.find(place == 0
                               ? "parameter /bad {3}"
                               : "lookup parameter /table {2} of row 3") != std::string::npos);
        CHECK(message.find("at value 1") != std::string::npos);
        CHECK(values() == before);
        CHECK(trainer->numbers() == numbers);
        CHECK(pc.bank().gradients.merge() == nullptr);  // training goes on
        plant(q, {1, 2, 3});
        CHECK_NOTHROW(trainer->update());
        CHECK(values() != before);
      }
}

TEST_CASE("without clipping nothing is checked") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(0.0f));
  SimpleSGDTrainer trainer(pc);
  trainer.clipping_enabled = false;
  plant(p, {kNaN, 1});
  CHECK_NOTHROW(trainer.update());
  CHECK(std::isnan(p.values().v[0]));
  CHECK(p.values().v[1] == -0.1f);
}

TEST_CASE("a trainer of a subcollection leaves the rest alone") {
  for (const TrainerCase& c : trainer_cases()) {
    ParameterCollection pc(0.5f);
    auto sub = pc.add_subcollection("sub");
    auto other = pc.add_subcollection("other");
    auto p = pc.add_parameters({1}, ParameterInitConst(8.0f), "p");
    auto q = sub.add_subcollection("deep").add_parameters({1}, ParameterInitConst(8.0f), "q");
    auto e = other.add_lookup_parameters(2, {1}, ParameterInitConst(8.0f), "e");
    auto f = sub.add_lookup_parameters(2, {1}, ParameterInitConst(8.0f), "f");
    auto trainer = c.make(sub);
    plant(p, {kNaN});  // another's gradients do not count
    plant(q, {1});
    plant_row(e, 0, {1000});
    plant_row(f, 0, {1});
    trainer->update();
    CHECK(p.values().v[0] == 8.0f);
    CHECK(table_values(e) == std::vector<float>{8, 8});
    CHECK(q.values().v[0] < 4.0f);
    CHECK(f.row(0).v[0] < 4.0f);
    CHECK(f.row(1).v[0] == 4.0f);
    // Gradients for the second trainer are kept; those of the first are dropped.
    GradientBuffer* buffer = pc.bank().gradients.merge();
    REQUIRE(buffer);
    CHECK(buffer->find(p.stored().index) != nullptr);
    CHECK(buffer->find(q.stored().index) == nullptr);
    CHECK(buffer->find_rows(e.stored().index) != nullptr);
    CHECK(buffer->find_rows(f.stored().index) == nullptr);
    auto second = c.make(other);
    second->update();
    CHECK(e.row(0).v[0] < 4.0f);
    CHECK(p.values().v[0] == 8.0f);
  }
}

TEST_CASE("restart makes a trainer as new") {
  ParameterCollection pc, twin;
  auto p = pc.add_parameters({2}, ParameterInitConst(0.0f), "p");
  auto q = twin.add_parameters({2}, ParameterInitConst(0.0f), "p");
  AdamTrainer trainer(pc, 0.1f);
  for (int t = 0; t < 50; ++t) {
    plant(p, {1, -3});
    trainer.update();
  }
  p.zero();
  trainer.restart(0.2f);
  CHECK(trainer.learning_rate == 0.2f);
  AdamTrainer fresh(twin, 0.2f);
  for (int t = 0; t < 10; ++t) {
    plant(p, {2, 0.5f});
    plant(q, {2, 0.5f});
    trainer.update();
    fresh.update();
  }
  CHECK(as_vector(p.values()) == as_vector(q.values()));
  CHECK(trainer.updates == 60);
  trainer.restart();
  CHECK(trainer.learning_rate == 0.2f);
  CHECK(trainer.state_views().empty());
}

TEST_CASE("moments do not stay subnormal") {
  ParameterCollection pc;
  auto p = pc.add_parameters({20}, ParameterInitConst(1.0f), "p");
  AdamTrainer trainer(pc, 0.001f, 0.9f, 0.9f);
  plant(p, std::vector<float>(20, 1.0f));
  trainer.update();
  for (int t = 0; t < 1500; ++t) {
    if (t % 2) plant(p, std::vector<float>(20, 0.0f));
    trainer.update();
  }
  const auto state = trainer.state_views().at(0);
  for (const float* a : state.arrays)
    for (int i = 0; i < 20; ++i) CHECK(a[i] == 0.0f);
}

TEST_CASE("another trainer is one small class") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(0.0f), "p");
  SignTrainer trainer(pc);
  plant(p, {3, -2});
  trainer.update();
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>{-1, 1});
}

}  // namespace trainer_test
