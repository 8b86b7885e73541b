// Averages, schedules, subsets, batches that are skipped.

#include "tests/train/rules.h"

namespace options_test {

using namespace dynet;

namespace {

/// For each loss R where it lowers the rate, a dot where not.
std::string observed(ReduceOnPlateau& plateau, Trainer& trainer,
                     const std::vector<double>& losses) {
  std::string all;
  for (const double loss : losses) all += plateau.observe(loss, trainer) ? 'R' : '.';
  return all;
}

}  // namespace

TEST_CASE("moving averages are those of the books") {
  for (const TrainerCase& c : trainer_cases())
    for (const MovingAverage kind : {MovingAverage::Exponential, MovingAverage::Cumulative})
      for (const std::uint64_t every : {1u, 3u})
        for (const bool corrected : {true, false}) {
          CAPTURE(c.name, kind, every, corrected);
          ParameterCollection pc(0.001f);
          auto p = pc.add_parameters({4}, ParameterInitFromVector(first_values(c, 4, 1)), "p");
          auto e = pc.add_lookup_parameters(3, {2}, ParameterInitConst(0.5f), "e");
          auto trainer = c.make(pc);
          CHECK(trainer->moving_average() == MovingAverage::None);
          const float beta = 0.8f;
          begin_average(*trainer, kind, beta, every);
          CHECK(trainer->moving_average() == kind);
          std::vector<double> mean(10), sum(10);
          double count = 0;
          for (std::uint64_t t = 1; t <= 20; ++t) {
            plant(p, random_values(4, t, 0.5f));
            plant_row(e, t % 2, random_values(2, 100 + t, 0.5f));
            trainer->update();
            if (t % every) continue;
            ++count;
            const std::vector<float> w = test::all_values(pc);
            for (std::size_t i = 0; i < 10; ++i) {
              mean[i] =
                  static_cast<double>(beta) * mean[i] + (1 - static_cast<double>(beta)) * w[i];
              sum[i] += w[i];
            }
          }
          const std::vector<float> before = test::all_values(pc);
          trainer->swap_params_to_moving_average(true, corrected);
          const std::vector<float> got = test::all_values(pc);
          const double correction =
              corrected ? 1 - std::pow(static_cast<double>(beta), count) : 1.0;
          for (std::size_t i = 0; i < 10; ++i)
            CHECK(got[i] ==
                  Approx(kind == MovingAverage::Exponential ? mean[i] / correction : sum[i] / count)
                      .epsilon(1e-5)
                      .margin(1e-6));
          trainer->swap_params_to_weights();
          CHECK(test::all_values(pc) == before);
        }
}

TEST_CASE("while averages are swapped in, nothing else happens") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f), "p");
  SimpleSGDTrainer trainer(pc, 1.0f);
  CHECK_THROWS_WITH(trainer.swap_params_to_moving_average(),
                    Catch::Contains("no moving average yet"));
  CHECK_THROWS_AS(trainer.swap_params_to_weights(), ArgumentError);
  trainer.cumulative_moving_average();
  CHECK_THROWS_AS(trainer.swap_params_to_moving_average(), ArgumentError);
  for (int t = 0; t < 2; ++t) {
    plant(p, {1, 0});
    trainer.update();
  }
  trainer.swap_params_to_moving_average();
  CHECK(as_vector(p.values()) == std::vector<float>{-0.5f, 1});
  plant(p, {1, 0});
  std::stringstream out;
  for (const std::function<void()>& f : std::vector<std::function<void()>>{
           [&] { trainer.update(); }, [&] { trainer.restart(); },
           [&] { trainer.swap_params_to_moving_average(); }, [&] { trainer.state_views(); },
           [&] { trainer.save(out); }, [&] { trainer.cumulative_moving_average(); }})
    CHECK_THROWS_WITH(f(), Catch::Contains("swap_params_to_weights first"));
  CHECK(trainer.updates == 2);
  trainer.swap_params_to_weights();
  trainer.update();  // the gradient was kept
  CHECK(as_vector(p.values()) == std::vector<float>{-2, 1});
  trainer.swap_params_to_moving_average(false);  // (0 - 1 - 2) / 3
  CHECK(as_vector(p.values()) == std::vector<float>{-1, 1});
  CHECK_THROWS_AS(trainer.swap_params_to_weights(), ArgumentError);
  plant(p, {1, 0});
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>{-2, 1});
  for (const float beta : {-0.1f, 1.0f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_AS(trainer.exponential_moving_average(beta), ArgumentError);
  CHECK_THROWS_AS(trainer.cumulative_moving_average(0), ArgumentError);
}

TEST_CASE("a parameter that joins late or was frozen has the average of what it was") {
  ParameterCollection pc;
  auto p = pc.add_parameters({1}, ParameterInitConst(4.0f), "p");
  auto q = pc.add_parameters({1}, ParameterInitConst(4.0f), "q");
  q.set_updated(false);
  SimpleSGDTrainer trainer(pc, 1.0f);
  const auto step = [&](const Parameter& x) {
    plant(x, {1});
    trainer.update();
  };
  step(p);  // before there is an average
  trainer.cumulative_moving_average();
  step(p);
  step(p);
  q.set_updated(true);
  auto r = pc.add_parameters({1}, ParameterInitConst(8.0f), "r");
  step(r);
  step(q);
  p.set_updated(false);
  step(q);
  trainer.swap_params_to_moving_average();
  CHECK(p.values().v[0] == Approx((2 + 1 + 1 + 1 + 1) / 5.0));
  CHECK(q.values().v[0] == Approx((4 + 4 + 4 + 3 + 2) / 5.0));
  CHECK(r.values().v[0] == Approx((8 + 8 + 7 + 7 + 7) / 5.0));
}

TEST_CASE("schedules give the rates of their formulas") {
  const auto rates = [](const LearningRateSchedule& s, std::uint64_t n) {
    std::vector<double> all;
    for (std::uint64_t t = 0; t < n; ++t) all.push_back(s.rate(t));
    return all;
  };
  const auto check = [&](const LearningRateSchedule& s, const std::vector<double>& want) {
    const auto got = rates(s, want.size());
    for (std::size_t t = 0; t < want.size(); ++t) {
      CAPTURE(t);
      CHECK(got[t] == Approx(want[t]).margin(1e-7));
    }
  };
  check(LearningRateSchedule::warm_up(0.8f, 4), {0.2, 0.4, 0.6, 0.8, 0.8, 0.8});
  check(LearningRateSchedule::warm_up(0.8f, 0), {0.8, 0.8});
  check(LearningRateSchedule::inverse_square_root(1.0f, 4),
        {0.25, 0.5, 0.75, 1, std::sqrt(4 / 5.), std::sqrt(4 / 6.), std::sqrt(4 / 7.)});
  const double half = 0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2;
  check(LearningRateSchedule::cosine(1.0f, 6, 0.1f, 2),
        {0.5, 1, 1, half, 0.55, 1.1 - half, 0.1, 0.1, 0.1});
  check(LearningRateSchedule::cosine(1.0f, 2), {1, 0.5, 0, 0});
  check(LearningRateSchedule::cyclical(0.1f, 0.5f, 2),
        {0.1, 0.1, 0.3, 0.5, 0.3, 0.1, 0.3, 0.5, 0.3, 0.1});
  check(LearningRateSchedule::cyclical(0, 1, 2, 0.5f),
        {0, 0, 0.25, 0.25, 0.0625, 0, 0.015625, 0.015625});
  CHECK_FALSE(LearningRateSchedule());
}

TEST_CASE("a trainer follows its schedule, from a file on too") {
  ParameterCollection pc;
  auto p = pc.add_parameters({1}, ParameterInitConst(0.0f), "p");
  SimpleSGDTrainer trainer(pc), again(pc);
  trainer.set_schedule(LearningRateSchedule::warm_up(1.0f, 4));
  trainer.skip_non_finite = true;
  double sum = 0;
  for (int t = 0; t < 3; ++t) {
    plant(p, {NAN});
    CHECK_FALSE(trainer.update());  // no update, no step on the schedule
    plant(p, {1});
    CHECK(trainer.update());
    sum += (t + 1) / 4.0;
    CHECK(p.values().v[0] == Approx(-sum));
  }
  CHECK(trainer.learning_rate == 1.0f);
  trainer.learning_rate = 7;  // of the next update alone
  plant(p, {1});
  trainer.update();
  CHECK(p.values().v[0] == Approx(-sum - 7));
  trainer.set_schedule(LearningRateSchedule::cosine(1.0f, 4));
  plant(p, {0});
  trainer.update();
  std::stringstream text;
  trainer.save(text);
  again.populate(text);
  for (Trainer* t : {static_cast<Trainer*>(&trainer), static_cast<Trainer*>(&again)}) {
    plant(p, {0});
    t->update();
    CHECK(t->learning_rate == 0.5f);
  }
  trainer.set_schedule({});
  trainer.learning_rate = 0.25f;
  plant(p, {0});
  trainer.update();
  CHECK(trainer.learning_rate == 0.25f);
}

TEST_CASE("the rate falls on a plateau") {
  ParameterCollection pc;
  SimpleSGDTrainer trainer(pc, 1.0f);
  ReduceOnPlateau plateau(0.5f, 2, 0.1f, 0.2f);
  CHECK(observed(plateau, trainer, {10.0, 8.0, 7.9, 9.0}) == "....");
  CHECK(observed(plateau, trainer, {7.5}) == "R");  // not better than 8 by a tenth
  CHECK(trainer.learning_rate == 0.5f);
  CHECK(observed(plateau, trainer, {5.0, NAN}) == "..");
  ReduceOnPlateau again(plateau.state());
  CHECK(observed(again, trainer, {5.0, 5.0}) == ".R");
  CHECK(trainer.learning_rate == 0.25f);
  CHECK(observed(again, trainer, {5.0, 5.0, 5.0}) == "..R");  // as much patience as before
  CHECK(trainer.learning_rate == 0.2f);
  CHECK(observed(again, trainer, std::vector<double>(6, 5.0)) == "......");
  CHECK(trainer.learning_rate == 0.2f);
  trainer.set_schedule(LearningRateSchedule::warm_up(1, 1));
  CHECK_THROWS_AS(again.observe(1.0, trainer), ArgumentError);
}

TEST_CASE("the rate falls on a plateau of losses of any sign, each time after as many") {
  const std::tuple<unsigned, std::vector<double>, std::string> cases[] = {
      {0, {5, 5, 5, 4, 4}, ".RR.R"},
      {2, std::vector<double>(10, 5.0), "...R..R..R"},
      {2, {-10, -9.95, -9.9, -9.5, -9.4, -9.3, -9.2}, "...R..R"},
      {2, {-10, -10.9, -10.9, -10.9, -11.1, -11.1}, "...R.."},  // a tenth better is -11
      {1, {1, 0, 0, 0, -1, -1, -1}, "...R..R"}};
  for (const auto& [patience, losses, expected] : cases) {
    CAPTURE(patience, losses);
    ParameterCollection pc;
    SimpleSGDTrainer trainer(pc, 1.0f);
    ReduceOnPlateau plateau(0.5f, patience, 0.1f);
    CHECK(observed(plateau, trainer, losses) == expected);
    const auto falls = std::count(expected.begin(), expected.end(), 'R');
    CHECK(trainer.learning_rate == std::pow(0.5f, static_cast<float>(falls)));
  }
}

TEST_CASE("a subset is updated and the rest left alone, gradients too") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    ParameterCollection pc(0.25f), elsewhere;
    auto sub = pc.add_subcollection("sub");
    auto p = pc.add_parameters({2}, ParameterInitConst(0.5f), "p");
    auto q = sub.add_parameters({2}, ParameterInitConst(0.5f), "q");
    auto e = pc.add_lookup_parameters(2, {2}, ParameterInitConst(0.5f), "e");
    auto f = sub.add_lookup_parameters(2, {2}, ParameterInitConst(0.5f), "f");
    auto trainer = c.make(pc);
    const auto plant_all = [&] {
      plant(p, {1, 2});
      plant(q, {1, 2});
      plant_row(e, 1, {1, 2});
      plant_row(f, 1, {1, 2});
    };
    const auto moved = [&] {
      const std::vector<float> half(2, 0.5f);
      return std::vector<bool>{as_vector(p.values()) != half, as_vector(q.values()) != half,
                               as_vector(e.row(1)) != half, as_vector(f.row(1)) != half};
    };
    const auto reset = [&] {
      pc.reset_gradient();
      for (auto& x : {p, q}) Parameter(x).set_value({0.5f, 0.5f});
      for (unsigned row : {0u, 1u})
        e.initialize(row, {0.5f, 0.5f}), f.initialize(row, {0.5f, 0.5f});
      plant_all();
    };
    reset();
    CHECK(trainer->update({p}, {f}));
    CHECK(moved() == std::vector<bool>{true, false, false, true});
    CHECK(as_vector(q.gradients()) == std::vector<float>{1, 2});
    CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0});
    CHECK(e.row_gradient(1) == std::vector<float>{1, 2});
    CHECK(f.row_gradient(1) == std::vector<float>{0, 0});
    trainer->restart();
    reset();
    CHECK(trainer->update(sub));
    CHECK(moved() == std::vector<bool>{false, true, false, true});
    CHECK(as_vector(p.gradients()) == std::vector<float>{1, 2});
    CHECK(as_vector(q.gradients()) == std::vector<float>{0, 0});
    // Gradients outside of the lists are ignored; frozen parameters do not change.
    trainer->restart();
    reset();
    plant(p, {NAN, 1e30f});
    q.set_updated(false);
    const std::uint64_t clips = trainer->clips;
    CHECK(trainer->update({q}, {e}));
    CHECK(trainer->clips == clips);
    CHECK(moved() == std::vector<bool>{false, false, true, false});
    CHECK(std::isnan(as_vector(p.gradients())[0]));
    trainer->restart();
    q.set_updated(true);
    pc.reset_gradient();
    CHECK(trainer->update(std::vector<Parameter>{}));
    // Not of the trainer's collection.
    auto alien = elsewhere.add_parameters({2});
    CHECK_THROWS_AS(trainer->update({alien}), ArgumentError);
    CHECK_THROWS_AS(trainer->update(elsewhere), ArgumentError);
    auto inner = c.make(sub);
    CHECK_THROWS_AS(inner->update({p}), ArgumentError);
    CHECK_THROWS_AS(inner->update(pc), ArgumentError);
  }
}

TEST_CASE("a batch that is not finite is skipped and counted") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool clips : {true, false}) {
      CAPTURE(c.name, clips);
      ParameterCollection pc(0.25f);
      auto p = pc.add_parameters({2}, ParameterInitConst(0.5f), "p");
      auto e = pc.add_lookup_parameters(2, {2}, ParameterInitConst(0.5f), "e");
      auto trainer = c.make(pc);
      trainer->clipping_enabled = clips;
      trainer->clip_threshold = clips ? 5.0f : -1.0f;
      trainer->skip_non_finite = true;
      plant(p, {1, 2});
      CHECK(trainer->update());
      auto numbers = trainer->numbers();
      const auto before = as_vector(p.values());
      for (const float bad : {NAN, INFINITY}) {
        plant(p, {1, 2});
        plant_row(e, 1, {0, bad});
        CHECK_FALSE(trainer->update());
        CHECK(as_vector(p.values()) == before);
        CHECK(pc.bank().gradients.merge() == nullptr);
      }
      CHECK(trainer->skipped == 2);
      numbers["skipped"] = 2;
      CHECK(trainer->numbers() == numbers);
      CHECK(trainer->status().find("updates=1 skipped=2]") != std::string::npos);
      CHECK(trainer->status().find("skipped") == std::string::npos);
      plant(p, {1e3f, 0});
      CHECK(trainer->update());
      CHECK(as_vector(p.values()) != before);
      CHECK(trainer->clips == (clips ? 1 : 0));
    }
}

}  // namespace options_test
