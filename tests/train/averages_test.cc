// Averages together with tables, parameters that join, loading, and starting again.

#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/train/rules.h"

namespace averages_test {

using namespace dynet;

namespace {

const std::vector<MovingAverage> kKinds{MovingAverage::Exponential, MovingAverage::Cumulative};

}  // namespace

TEST_CASE("weights that come back are what they were, whatever another trainer did meanwhile") {
  ParameterCollection pc;
  auto e = pc.add_lookup_parameters(4, {2}, ParameterInitConst(1.0f), "e");
  SimpleSGDTrainer averaging(pc, 0.5f);
  averaging.cumulative_moving_average();
  MomentumSGDTrainer other(pc, 0.1f, 0.9f);
  for (unsigned row = 0; row < 4; ++row) {
    plant_row(e, row, {1, -1});
    averaging.update();
  }
  const std::vector<float> weights = table_values(e);
  averaging.swap_params_to_moving_average();
  for (int t = 0; t < 3; ++t) {
    plant_row(e, static_cast<unsigned>(t), {5, 5});
    other.update();
  }
  averaging.swap_params_to_weights();
  CHECK(table_values(e) == weights);
  for (unsigned row = 0; row < 4; ++row)
    CHECK(as_vector(e.row(row)) == std::vector<float>{weights[2 * row], weights[2 * row + 1]});
}

TEST_CASE("a parameter that joins has the average of having been there") {
  for (const MovingAverage kind : kKinds)
    for (const bool table : {false, true}) {
      ParameterCollection pc;
      auto p = pc.add_parameters({1}, ParameterInitConst(1.0f), "p");
      SimpleSGDTrainer trainer(pc, 1.0f);
      const double beta = 0.8f;
      begin_average(trainer, kind, 0.8f);
      for (int t = 0; t < 5; ++t) {
        plant(p, {1});
        trainer.update();
      }
      Parameter q;
      LookupParameter e;
      if (table)
        e = pc.add_lookup_parameters(1, {1}, ParameterInitConst(8.0f), "e");
      else
        q = pc.add_parameters({1}, ParameterInitConst(8.0f), "q");
      const double values[] = {8, 8, 8, 8, 8, 7, 7, 6};  // after each update, as if from the start
      double average = 0;
      for (const int step : {1, 0, 1}) {
        if (step && table) plant_row(e, 0, {1});
        if (step && !table) plant(q, {1});
        trainer.update();
      }
      for (int t = 0; t < 8; ++t)
        average = kind == MovingAverage::Exponential ? beta * average + (1 - beta) * values[t]
                                                     : average + values[t] / 8;
      for (const bool corrected : {false, true}) {
        trainer.swap_params_to_moving_average(true, corrected);
        const bool corrects = corrected && kind == MovingAverage::Exponential;
        CHECK((table ? e.row(0).v[0] : q.values().v[0]) ==
              Approx(average / (corrects ? 1 - std::pow(beta, 8) : 1)).epsilon(1e-5));
        trainer.swap_params_to_weights();
      }
    }
}

TEST_CASE("another moving average starts again, and so does one after a restart") {
  for (const TrainerCase& c : trainer_cases())
    for (const MovingAverage kind : kKinds)
      for (const bool restart : {false, true}) {
        CAPTURE(c.name, kind, restart);
        ParameterCollection a, b;
        std::vector<Parameter> parameters;
        std::vector<std::unique_ptr<Trainer>> trainers;
        for (ParameterCollection* pc : {&a, &b}) {
          parameters.push_back(pc->add_parameters({4}, "p"));
          parameters.back().set_value(first_values(c, 4, 1));
          trainers.push_back(c.make(*pc));
        }
        const auto step = [&](std::uint64_t t) {
          for (std::size_t k : {0u, 1u}) {
            plant(parameters[k], random_values(4, t, 0.3f));
            trainers[k]->update();
          }
        };
        if (restart)
          begin_average(*trainers[0], kind, 0.5f, 2);
        else
          trainers[0]->exponential_moving_average(0.95f, 3);
        for (std::uint64_t t = 1; t <= 13; ++t) step(t);  // one update waits for the next average
        if (restart)
          for (auto& t : trainers) t->restart();
        begin_average(*trainers[1], kind, 0.5f, 2);
        if (!restart) begin_average(*trainers[0], kind, 0.5f, 2);
        for (std::uint64_t t = 14; t <= 17; ++t) step(t);
        for (auto& t : trainers) t->swap_params_to_moving_average(true, true);
        CHECK(as_vector(parameters[0].values()) == as_vector(parameters[1].values()));
      }
}

TEST_CASE("a trainer that is loaded while averages are swapped in keeps nothing of before") {
  const TemporaryFolder folder;
  const auto run = [&](bool text) {
    ParameterCollection pc;
    auto p = pc.add_parameters({2}, ParameterInitConst(1.0f), "p");
    auto q = pc.add_parameters({2}, ParameterInitConst(3.0f), "q");
    MomentumSGDTrainer trainer(pc, 0.5f);
    trainer.cumulative_moving_average();
    q.set_updated(false);  // it has no average in the file
    for (int t = 0; t < 3; ++t) {
      plant(p, {1, 0});
      trainer.update();
    }
    const auto saved = as_vector(p.values());
    std::stringstream stream;
    trainer.save(stream);
    dynet::save(folder / "m", pc, trainer);
    q.set_updated(true);
    for (int t = 0; t < 3; ++t) {
      plant(p, {0, 1});
      plant(q, {1, 1});
      trainer.update();
    }
    trainer.swap_params_to_moving_average();
    if (text)
      trainer.populate(stream);
    else
      dynet::load(folder / "m", pc, trainer);
    CHECK_THROWS_AS(trainer.swap_params_to_weights(), ArgumentError);
    if (!text) CHECK(as_vector(p.values()) == saved);
    p.set_value({10, 20});
    trainer.swap_params_to_moving_average();
    CHECK(p.values().v[0] != 10);
    q.set_value({7, 7});  // which has no average, so this is its value
    trainer.swap_params_to_weights();
    CHECK(as_vector(p.values()) == std::vector<float>{10, 20});
    CHECK(as_vector(q.values()) == std::vector<float>{7, 7});
    plant(p, {1, 1});
    trainer.update();
  };
  run(false);
  run(true);
}

}  // namespace averages_test
