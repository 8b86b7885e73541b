// Every trainer against its paper, and what all of them share.

#include "tests/train/rules.h"

#include "dynet-like/base/workers.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"

namespace rules_test {

using namespace dynet;

namespace {

std::vector<double> doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

void check_close(const float* got, const std::vector<double>& want, double tolerance) {
  for (std::size_t i = 0; i < want.size(); ++i)
    REQUIRE(got[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}

struct Model {
  ParameterCollection pc;
  Parameter p, q;
  LookupParameter e;
  std::unique_ptr<Trainer> trainer;

  explicit Model(const TrainerCase& c, unsigned n = 7) {
    p = pc.add_parameters({n}, ParameterInitFromVector(first_values(c, n, 1)), "p");
    q = pc.add_parameters({3}, ParameterInitFromVector(first_values(c, 3, 2)), "q");
    e = pc.add_lookup_parameters(5, {4}, ParameterInitConst(0.25f), "e");
    trainer = c.make(pc);
  }
  void step(std::uint64_t t) {
    plant(p, random_values(p.dim().size(), 10 * t, 0.3f));
    plant_row(e, t % 5, random_values(4, 10 * t + 1, 0.3f));
    if (t % 3 == 0) plant(q, random_values(3, 10 * t + 2, 0.3f));
    trainer->update();
  }
  std::vector<float> everything() const { return values_and_state(pc, *trainer); }
};

}  // namespace

TEST_CASE("every trainer follows its paper from the first step on") {
  for (const TrainerCase& c : trainer_cases())
    for (const float decay : {0.0f, 0.01f}) {
      CAPTURE(c.name, decay);
      ParameterCollection pc(decay);
      auto p = pc.add_parameters({37}, ParameterInitFromVector(first_values(c, 37, 5)), "p");
      auto q = pc.add_parameters({3}, ParameterInitFromVector(first_values(c, 3, 6)), "q");
      auto trainer = c.make(pc);
      CHECK(trainer->kind() == c.name);
      BookTrainer book(as_vector(p.values())), rare(as_vector(q.values()));
      for (int t = 1; t <= 60; ++t) {
        // Above the threshold in one step of four; no gradient for q in two of three.
        const float size = t % 4 ? 0.3f : 5.0f;
        auto g = random_values(37, 10 * t, size), h = std::vector<float>(3);
        plant(p, g);
        if (t % 3 == 1) plant(q, h = random_values(3, 10 * t + 1, size));
        double norm = 0;
        for (float x : g) norm += x * x;
        for (float x : h) norm += x * x;
        const double scale = std::min(1.0, 5 / std::sqrt(norm));
        std::vector<double> gs = doubles(g), hs = doubles(h);
        for (double& x : gs) x *= scale;
        for (double& x : hs) x *= scale;
        trainer->update();
        c.step(book, gs, t);
        c.step(rare, hs, t);
        for (BookTrainer* b : {&book, &rare})
          for (double& w : b->w) w *= 1 - static_cast<double>(decay);
        CAPTURE(t);
        check_close(p.values().v, book.w, 5e-5);
        check_close(q.values().v, rare.w, 5e-5);
      }
      CHECK(trainer->clips >= 15);
    }
}

TEST_CASE("the defaults of all trainers are DyNet's") {
  ParameterCollection pc;
  const auto check = [](const Trainer& t, real lr, std::map<std::string, float> settings) {
    CAPTURE(t.kind());
    CHECK(t.learning_rate == lr);
    CHECK(t.clip_threshold == 5);
    for (const auto& [name, value] : settings)
      CHECK(static_cast<float>(t.numbers().at(name)) == value);
  };
  check(SimpleSGDTrainer(pc), 0.1f, {});
  check(CyclicalSGDTrainer(pc), 0.01f,
        {{"schedule_high", 0.1f},
         {"schedule_low", 0.01f},
         {"schedule_step_size", 2000.0f},
         {"schedule_gamma", 1.0f}});
  check(MomentumSGDTrainer(pc), 0.01f, {{"momentum", 0.9f}});
  check(AdagradTrainer(pc), 0.1f, {{"epsilon", 1e-20f}});
  check(AdadeltaTrainer(pc), 1.0f, {{"epsilon", 1e-6f}, {"rho", 0.95f}});
  check(RMSPropTrainer(pc), 0.1f, {{"epsilon", 1e-20f}, {"rho", 0.95f}});
  check(AdamTrainer(pc), 0.001f, {{"beta_1", 0.9f}, {"beta_2", 0.999f}, {"epsilon", 1e-8f}});
  check(AmsgradTrainer(pc), 0.001f, {{"beta_1", 0.9f}, {"beta_2", 0.999f}, {"epsilon", 1e-8f}});
  check(AdamWTrainer(pc), 0.001f, {{"weight_decay", 0.01f}});
  check(EGTrainer(pc), 0.1f, {{"momentum", 0.9f}});
}

TEST_CASE("exponentiated gradient refuses what is no distribution and changes nothing") {
  ParameterCollection pc;
  auto good = pc.add_parameters({2}, ParameterInitConst(0.5f), "good");
  auto bad = pc.add_parameters({2}, ParameterInitFromVector({1.5f, -0.5f}), "bad");
  EGTrainer trainer(pc);
  plant(good, {1, 0});
  trainer.update();
  const auto before = as_vector(good.values());
  plant(good, {1, 0});
  plant(bad, {1, 0});
  CHECK_THROWS_AS(trainer.update(), ArgumentError);
  CHECK(as_vector(good.values()) == before);
  bad.set_value({0, 0});
  CHECK_THROWS_AS(trainer.update(), ArgumentError);
  bad.set_value({0, 3});  // need not add up to one
  trainer.update();
  CHECK(as_vector(bad.values()) == std::vector<float>{0, 1});
  auto table = pc.add_lookup_parameters(3, {2}, ParameterInitConst(0.5f), "table");
  for (const unsigned row : {2u, 0u}) {
    table.initialize(row, {0.5f, -0.5f});
    plant_row(table, 1, {1, 0});
    CHECK_THROWS_AS(trainer.update(), ArgumentError);
    table.initialize(row, {0.5f, 0.5f});
  }
  trainer.enableCyclicalLR(0.1f, 0.5f, 10, 1);
  CHECK(trainer.learning_rate == 0.1f);
  plant(good, {1, 0});
  trainer.update();
  CHECK(trainer.learning_rate == 0.1f);
  plant(good, {1, 0});
  trainer.update();
  CHECK(trainer.learning_rate == Approx(0.14));
}

TEST_CASE("any trainer goes on from a file, and from text, as if nothing had been") {
  const TemporaryFolder folder;
  for (const TrainerCase& c : trainer_cases())
    for (const bool averages : {false, true}) {
      CAPTURE(c.name, averages);
      Model one(c), two(c), three(c);
      if (averages) one.trainer->exponential_moving_average(0.9f, 2);
      one.trainer->skip_non_finite = true;
      for (std::uint64_t t = 1; t < 9; ++t)
        if (t % 3) one.step(t);
      for (Model* m : {&two, &three}) m->step(3);  // whose state of q goes with the load
      std::stringstream text;
      one.trainer->save(text);
      dynet::save(folder / "model", one.pc, *one.trainer);
      dynet::load(folder / "model", two.pc, *two.trainer);
      dynet::load(folder / "model", three.pc, *two.trainer);
      three.trainer->populate(text);
      CHECK(two.trainer->numbers() == one.trainer->numbers());
      CHECK(three.trainer->numbers() == one.trainer->numbers());
      CHECK(three.trainer->skip_non_finite);
      for (std::uint64_t t = 9; t < 20; ++t)
        for (Model* m : {&one, &two, &three}) m->step(t);
      CHECK(same_bits(one.everything(), two.everything()));
      CHECK(same_bits(one.everything(), three.everything()));
      if (averages) {
        one.trainer->swap_params_to_moving_average();
        three.trainer->swap_params_to_moving_average();
        CHECK(as_vector(one.p.values()) == as_vector(three.p.values()));
      }
    }
}

TEST_CASE("a copy of any trainer goes on where the trainer is") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool scheduled : {false, true}) {
      CAPTURE(c.name, scheduled);
      Model one(c), two(c);
      for (Model* m : {&one, &two}) {
        m->trainer->clip_threshold = 0.5f;
        m->trainer->skip_non_finite = true;
        m->trainer->sparse_updates_enabled = scheduled;
        m->trainer->exponential_moving_average(0.9f, 2);
        if (scheduled) m->trainer->set_schedule(LearningRateSchedule::cosine(0.1f, 20, 0.01f, 3));
        for (std::uint64_t t = 0; t < 7; ++t) m->step(t);
      }
      const auto original = std::exchange(two.trainer, c.make.copy(*two.trainer));
      CHECK(two.trainer->numbers() == one.trainer->numbers());
      CHECK(same_bits(one.everything(), two.everything()));
      for (std::uint64_t t = 7; t < 20; ++t)
        for (Model* m : {&one, &two}) m->step(t);
      CHECK(two.trainer->numbers() == one.trainer->numbers());
      CHECK(same_bits(one.everything(), two.everything()));
      CHECK(original->updates == 7);
      for (Model* m : {&one, &two}) m->trainer->swap_params_to_moving_average();
      CHECK(as_vector(one.p.values()) == as_vector(two.p.values()));
    }
}

TEST_CASE("text that is not of such a trainer is refused and nothing changes") {
  const std::vector<TrainerCase> cases = trainer_cases();
  Model one(cases[6]), two(cases[6]), other(cases[2]);
  for (std::uint64_t t = 0; t < 3; ++t) one.step(t);
  std::stringstream out;
  one.trainer->save(out);
  const std::string text = out.str();
  const auto refused = [&](Trainer& trainer, const std::string& s) {
    const auto before = trainer.numbers();
    std::istringstream in(s);
    CHECK_THROWS_AS(trainer.populate(in), FileError);
    CHECK(trainer.numbers() == before);
    CHECK(trainer.state_views().empty());
  };
  refused(*other.trainer, text);
  refused(*two.trainer, "");
  for (std::size_t n = 0; n + 8 < text.size(); n += 41) refused(*two.trainer, text.substr(0, n));
  std::string wrong = text;
  wrong.replace(wrong.find("\"/p\" 1 7"), 8, "\"/p\" 1 6");
  refused(*two.trainer, wrong);
  {  // "/p" once more, in the place of the table
    const std::size_t p = text.find("\"/p\""), q = text.find("\"/q\""), e = text.find("\"/e\"");
    REQUIRE(p < q);
    REQUIRE(q < e);
    REQUIRE(e < text.size());
    refused(*two.trainer, text.substr(0, e) + text.substr(p, q - p));
  }
  std::istringstream in(text);
  two.trainer->populate(in, 0.125f);
  CHECK(two.trainer->learning_rate == 0.125f);
  CHECK(two.trainer->updates == 3);
}

TEST_CASE("any trainer gives the same bits on any number of threads") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    std::vector<float> expected;
    for (const unsigned threads : {0u, 1u, 3u}) {
      Model m(c, 600'000);
      Workers workers(std::max(threads, 1u));
      if (threads) m.trainer->set_workers(&workers);
      m.trainer->cumulative_moving_average();
      for (std::uint64_t t = 0; t < 3; ++t) m.step(t);
      const auto got = m.everything();
      if (expected.empty()) expected = got;
      CHECK(same_bits(got, expected));
    }
  }
}

TEST_CASE("a trainer with threads updates a model of one small parameter") {
  ParameterCollection pc;
  const Parameter p = pc.add_parameters({3}, ParameterInitConst(1.0f));
  SimpleSGDTrainer trainer(pc, 0.5f);
  Workers workers(2);
  trainer.set_workers(&workers);
  ComputationGraph g;
  g.backward(sum_elems(parameter(g, p)));
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>(3, 0.5f));
}

TEST_CASE("gradients of several graphs add up until an update") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    Model one(c), four(c);
    for (int round = 0; round < 3; ++round) {
      ComputationGraph g;
      g.backward(squared_norm(parameter(g, one.p)) * 0.5f);
      for (int k = 0; k < 4; ++k) {
        ComputationGraph h;
        h.backward(squared_norm(parameter(h, four.p)) * 0.5f);
      }
      one.trainer->update();
      four.trainer->update(0.25f);
      CHECK(as_vector(one.p.values()) == as_vector(four.p.values()));
    }
  }
}

TEST_CASE("the factor of the gradients counts before they are clipped") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(0.0f));
  SimpleSGDTrainer trainer(pc, 1.0f);
  plant(p, {30, 40});
  trainer.update(0.0625f);  // the norm is below the threshold
  CHECK(p.values().v[0] == -1.875f);
  CHECK(trainer.clips == 0);
  plant(p, {30, 40});
  trainer.update(-0.25f);
  CHECK(p.values().v[0] == Approx(1.125));
  CHECK(trainer.clips == 1);
  CHECK_THROWS_AS(trainer.update(INFINITY), ArgumentError);
  CHECK_THROWS_AS(trainer.update(NAN), ArgumentError);
}

}  // namespace rules_test
