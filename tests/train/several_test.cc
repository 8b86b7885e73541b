// Several trainers of one collection, trainers of parts, collections that grow or go.

#include "tests/train/rules.h"

namespace several_test {

using namespace dynet;

namespace {

constexpr unsigned kRows = 6, kSize = 3;

LookupParameter add_table(ParameterCollection& pc, const TrainerCase& c, const char* name) {
  auto e = pc.add_lookup_parameters(kRows, {kSize}, name);
  for (unsigned row = 0; row < kRows; ++row) e.initialize(row, first_values(c, kSize, 50 + row));
  return e;
}

}  // namespace

TEST_CASE("trainers of parts of one tree are as trainers of trees of their own") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool sparse : {false, true}) {
      CAPTURE(c.name, sparse);
      ParameterCollection pc, alone[2];
      ParameterCollection parts[] = {pc.add_subcollection("a"), pc.add_subcollection("b")};
      // Those of the parts, then those of the trees of their own.
      std::vector<Parameter> p[2];
      std::vector<LookupParameter> e[2];
      std::vector<std::unique_ptr<Trainer>> trainers[2];
      for (std::size_t k : {0u, 1u})
        for (const bool own : {false, true}) {
          ParameterCollection& where = own ? alone[k] : parts[k];
          p[own].push_back(where.add_parameters({4}, "p"));
          p[own][k].set_value(first_values(c, 4, k));
          e[own].push_back(add_table(where, c, "e"));
          trainers[own].push_back(c.make(where));
          trainers[own][k]->sparse_updates_enabled = sparse;
        }
      for (std::uint64_t t = 1; t <= 30; ++t) {
        for (std::size_t k : {0u, 1u})
          for (const bool own : {false, true}) {
            plant(p[own][k], random_values(4, 10 * t + k, 0.3f));
            plant_row(e[own][k], static_cast<unsigned>(t % kRows),
                      random_values(kSize, 10 * t + k, 0.3f));
          }
        // The second part's gradients of two passes come together.
        for (std::size_t k : {0u, 1u})
          for (auto& of : trainers)
            if (k == 0 || t % 2 == 0) of[k]->update();
      }
      for (std::size_t k : {0u, 1u}) {
        CHECK(as_vector(p[0][k].values()) == as_vector(p[1][k].values()));
        CHECK(table_values(e[0][k]) == table_values(e[1][k]));
      }
    }
}

TEST_CASE("a collection grows while a trainer lives") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool sparse : {false, true}) {
      CAPTURE(c.name, sparse);
      if (c.name == "CyclicalSGDTrainer") continue;  // the rate of an update is another
      ParameterCollection pc, early;
      auto first = pc.add_parameters({2}, "first");
      first.set_value(first_values(c, 2, 1));
      auto trainer = c.make(pc), other = c.make(early);
      trainer->sparse_updates_enabled = other->sparse_updates_enabled = sparse;
      std::vector<Parameter> grown, there;
      std::vector<LookupParameter> tables, tables_there;
      for (unsigned k = 0; k < 10; ++k) {  // all at once in the other
        there.push_back(early.add_parameters({3}, ParameterInitConst(0.25f)));
        tables_there.push_back(add_table(early, c, ""));
      }
      for (std::uint64_t t = 1; t <= 10; ++t) {
        grown.push_back(pc.add_subcollection().add_parameters({3}, ParameterInitConst(0.25f)));
        tables.push_back(add_table(pc, c, ""));
        for (std::size_t k = 0; k < grown.size(); ++k) {
          const auto g = random_values(3, 100 * t + k, 0.2f);
          plant(grown[k], g);
          plant(there[k], g);
          plant_row(tables[k], static_cast<unsigned>((t + k) % kRows), g);
          plant_row(tables_there[k], static_cast<unsigned>((t + k) % kRows), g);
        }
        trainer->update();
        other->update();
      }
      for (std::size_t k = 0; k < grown.size(); ++k) {
        CHECK(as_vector(grown[k].values()) == as_vector(there[k].values()));
        CHECK(table_values(tables[k]) == table_values(tables_there[k]));
      }
    }
}

TEST_CASE("trainers, collections and handles may go in any order") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool sparse : {false, true})
      for (int order = 0; order < 6; ++order) {
        CAPTURE(c.name, sparse, order);
        std::optional<ParameterCollection> pc(std::in_place);
        std::optional<ParameterCollection> sub(pc->add_subcollection("sub"));
        LookupParameter e = add_table(*sub, c, "e");
        auto trainer = c.make(order % 2 ? *pc : *sub);
        trainer->sparse_updates_enabled = sparse;
        const auto step = [&](const LookupParameter& x, std::uint64_t t) {
          plant_row(x, static_cast<unsigned>(t % 3), random_values(kSize, t, 0.3f));
          trainer->update();
        };
        for (std::uint64_t t = 1; t <= 6; ++t) step(e, t);
        if (order / 2 == 0) {  // the trainer outlives its collections
          pc.reset();
          sub.reset();
          for (std::uint64_t t = 7; t <= 9; ++t) step(e, t);
          CHECK(trainer->collection().lookup_parameters_list().size() == 1);
        } else if (order / 2 == 1) {  // and even all handles
          pc.reset();
          sub.reset();
          e = {};
          trainer->update();
          CHECK(trainer->collection().parameter_count() == kRows * kSize);
          continue;
        } else {  // the handle outlives all
          trainer.reset();
          pc.reset();
          sub.reset();
        }
        for (const Tensor& row : e.values())
          for (float x : as_vector(row)) CHECK(std::isfinite(x));
      }
}

TEST_CASE("exponentiated gradients are right whatever their size") {
  for (const float scale : {1.0f, 1e3f, 1e6f, 1e30f}) {
    CAPTURE(scale);
    const std::vector<TrainerCase> cases = trainer_cases();
    const TrainerCase& eg = cases.back();
    REQUIRE(eg.distribution);
    ParameterCollection pc;
    auto p = pc.add_parameters({4}, ParameterInitFromVector({0.1f, 0.2f, 0.3f, 0.4f}), "p");
    auto e = pc.add_lookup_parameters(2, {4}, ParameterInitConst(0.25f), "e");
    auto trainer = eg.make(pc);
    trainer->clipping_enabled = false;
    const std::vector<float> g{-2 * scale, -2 * scale, -1 * scale, scale};
    plant(p, g);
    plant_row(e, 1, g);
    trainer->update();
    // e^h relative to the largest h, in double
    const auto expected = [&](const std::vector<double>& w) {
      std::vector<double> v(4);
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i)
        sum += v[i] = w[i] * std::exp(-0.05f * (static_cast<double>(g[i]) + 2 * scale));
      for (double& x : v) x /= sum;
      return v;
    };
    const auto check = [&](const float* got, const std::vector<double>& want) {
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(got[i] == Approx(want[i]).epsilon(1e-4).margin(1e-30));
    };
    check(p.values().v, expected({0.1f, 0.2f, 0.3f, 0.4f}));
    check(e.row(1).v, expected({0.25, 0.25, 0.25, 0.25}));
    CHECK(as_vector(e.row(0)) == std::vector<float>(4, 0.25f));
  }
}

}  // namespace several_test
