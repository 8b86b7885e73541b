// Rows that were not used: touched rows only, and exactly the dense rule, paid for late.

#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/io/save.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/reductions.h"
#include "tests/io/folder.h"
#include "tests/param/plant.h"
#include "tests/support/catch.h"
#include "tests/train/rules.h"

namespace sparse_test {

using namespace dynet;

namespace {

constexpr unsigned kRows = 9, kSize = 3;

/// A table whose rows are used at random: row 8 never, rows below 6 often.
struct Model {
  ParameterCollection pc;
  LookupParameter e;
  std::unique_ptr<Trainer> trainer;

  explicit Model(const TrainerCase& c, float decay = 0) : pc(decay) {
    e = pc.add_lookup_parameters(kRows, {kSize}, "e");
    for (unsigned row = 0; row < kRows; ++row) e.initialize(row, first_values(c, kSize, 100 + row));
    trainer = c.make(pc);
  }
  static std::set<unsigned> used(std::uint64_t t) {
    std::set<unsigned> rows{static_cast<unsigned>(RandomStream(t).bits(0) % 6)};
    if (t % 40 == 5) rows.insert(6);
    if (t == 3) rows.insert(7);
    return rows;
  }
  static std::vector<float> gradient(std::uint64_t t, unsigned row) {
    return random_values(kSize, 1000 * t + row, 0.3f);
  }
  void step(std::uint64_t t) {
    for (unsigned row : used(t)) plant_row(e, row, gradient(t, row));
    if (t % 10 == 0) trainer->learning_rate *= 0.9f;
    trainer->update();
  }
  std::vector<float> values() const {
    std::vector<float> all;
    for (const Tensor& row : e.values())
      for (float x : as_vector(row)) all.push_back(x);
    return all;
  }
  /// Values as they lie in memory, without asking.
  std::vector<float> memory() const { return table_values(e); }
};

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && worst < INFINITY; ++i) {
    const double d = std::abs(1.0 * a[i] - b[i]) / (1e-3 + std::abs(1.0 * b[i]));
    worst = d >= 0 ? std::max(worst, d) : INFINITY;
  }
  return worst;
}

std::vector<float> state(const Trainer& trainer) {
  std::vector<float> all;
  for (const auto& s : trainer.state_views())
    for (const float* a : s.arrays) all.insert(all.end(), a, a + s.dim.size());
  return all;
}

}  // namespace

TEST_CASE("touched rows only: the others keep values and state, whatever the trainer") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    Model m(c);
    std::vector<BookTrainer> books;
    for (unsigned row = 0; row < kRows; ++row) books.emplace_back(as_vector(m.e.row(row)));
    const bool scheduled = static_cast<bool>(m.trainer->schedule());
    for (int t = 1; t <= 50; ++t) {
      const real rate = m.trainer->learning_rate;
      const auto rows = Model::used(static_cast<std::uint64_t>(t));
      for (unsigned row : rows)
        plant_row(m.e, row, Model::gradient(static_cast<std::uint64_t>(t), row));
      m.trainer->update();
      if (!scheduled) CHECK(m.trainer->learning_rate == rate);
      for (unsigned row : rows) {
        const auto g = Model::gradient(static_cast<std::uint64_t>(t), row);
        c.step(books[row], {g.begin(), g.end()}, t);
      }
      for (unsigned row = 0; row < kRows; ++row) {
        CAPTURE(t, row);
        for (unsigned i = 0; i < kSize; ++i)
          REQUIRE(m.memory()[row * kSize + i] ==
                  Approx(books[row].w[i]).epsilon(5e-5).margin(5e-5));
      }
    }
  }
}

TEST_CASE("exact sparse updates are dense ones, whenever the values are asked for") {
  for (const TrainerCase& c : trainer_cases())
    for (const float decay : {0.0f, 0.01f})
      for (const std::uint64_t every : {1u, 7u, 300u}) {
        CAPTURE(c.name, decay, every);
        Model dense(c, decay), exact(c, decay);
        dense.trainer->sparse_updates_enabled = false;
        exact.trainer->sparse_updates_exact = true;
        for (std::uint64_t t = 1; t <= 300; ++t) {
          dense.step(t);
          exact.step(t);
          if (t % every) continue;
          CAPTURE(t);
          REQUIRE(difference(exact.values(), dense.memory()) < 2e-4);
          REQUIRE(exact.memory() == exact.values());  // asking has settled them
        }
        CHECK(difference(state(*exact.trainer), state(*dense.trainer)) < 2e-4);
      }
}

TEST_CASE("rows with state move exactly before the table has its next gradient") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    Model dense(c), exact(c);
    for (Model* m : {&dense, &exact}) {
      m->trainer->sparse_updates_enabled = false;
      m->step(1);
    }
    exact.trainer->sparse_updates_enabled = exact.trainer->sparse_updates_exact = true;
    for (unsigned k = 0; k < 3; ++k) {
      dense.trainer->update();
      exact.trainer->update();
    }
    CHECK(difference(dense.values(), exact.values()) <= 1e-6);
  }
}

TEST_CASE("exact sparse updates are the very bits of dense ones while state is alive") {
  const std::vector<TrainerCase> cases = trainer_cases();
  for (const std::size_t k : {0u, 2u, 3u, 6u, 7u}) {
    CAPTURE(cases[k].name);
    Model dense(cases[k]), exact(cases[k]);
    dense.trainer->sparse_updates_enabled = false;
    exact.trainer->sparse_updates_exact = true;
    for (std::uint64_t t = 1; t <= 60; ++t) {
      dense.step(t);
      exact.step(t);
    }
    CHECK(exact.values() == dense.memory());
  }
}

TEST_CASE("rows that are behind move before another state is loaded") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    Model dense(c), exact(c);
    dense.trainer->sparse_updates_enabled = false;
    exact.trainer->sparse_updates_exact = true;
    for (Model* m : {&dense, &exact}) {
      for (std::uint64_t t = 1; t <= 9; ++t) m->step(t);
      std::stringstream text;
      m->trainer->save(text);
      for (std::uint64_t t = 11; t <= 19; ++t) m->step(t);
      m->trainer->populate(text);
    }
    CHECK(difference(exact.values(), dense.memory()) < 2e-4);
    for (Model* m : {&dense, &exact})
      for (std::uint64_t t = 21; t <= 29; ++t) m->step(t);
    CHECK(difference(exact.values(), dense.memory()) < 2e-4);
  }
}

TEST_CASE("exact sparse updates do not pay for rows that nobody asks for") {
  const std::vector<TrainerCase> cases = trainer_cases();
  Model m(cases[2]);  // momentum
  m.trainer->sparse_updates_exact = true;
  m.step(3);  // row 7 gets speed
  const auto in_memory = [&] {
    const auto all = m.memory();
    return std::vector<float>(all.begin() + 7 * kSize, all.begin() + 8 * kSize);
  };
  const auto moving = in_memory();
  for (std::uint64_t t = 4; t < 40; ++t) m.step(t);
  CHECK(in_memory() == moving);
  const auto row = as_vector(m.e.row(7));
  CHECK(row != moving);
  CHECK(in_memory() == row);
  CHECK(as_vector(m.e.row(7)) == row);
}

TEST_CASE("a graph sees rows that are up to date") {
  const std::vector<TrainerCase> cases = trainer_cases();
  for (const int way : {0, 1, 2, 3}) {
    CAPTURE(way);
    Model dense(cases[6]), exact(cases[6]);
    dense.trainer->sparse_updates_enabled = false;
    exact.trainer->sparse_updates_exact = true;
    std::vector<float> seen[2];
    int k = 0;
    for (Model* m : {&dense, &exact}) {
      for (std::uint64_t t = 1; t <= 30; ++t) m->step(t);
      ComputationGraph g;
      const std::vector<unsigned> rows{7, 6, 7};
      const Expression x = way == 0   ? lookup(g, m->e, 7)
                           : way == 1 ? lookup(g, m->e, rows)
                           : way == 2 ? const_lookup(g, m->e, 6)
                                      : parameter(g, m->e);
      seen[k++] = as_vector(x.value());
    }
    CHECK(seen[0] == seen[1]);
  }
}

TEST_CASE("threads that ask for the same rows at once see them up to date") {
  const std::vector<TrainerCase> cases = trainer_cases();
  Model dense(cases[6]), exact(cases[6]);
  dense.trainer->sparse_updates_enabled = false;
  exact.trainer->sparse_updates_exact = true;
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::uint64_t t = 1; t <= 10; ++t) {
      dense.step(10 * round + t);
      exact.step(10 * round + t);
    }
    std::vector<float> seen[4];
    std::vector<std::thread> threads;
    for (auto& mine : seen)
      threads.emplace_back([&] {
        for (unsigned row = 0; row < kRows; ++row) {
          ComputationGraph g;
          for (float x : as_vector(lookup(g, exact.e, row).value())) mine.push_back(x);
        }
      });
    for (auto& t : threads) t.join();
    for (auto& mine : seen) REQUIRE(mine == dense.memory());
  }
}

TEST_CASE("whatever reads or writes rows meets them up to date") {
  const TemporaryFolder folder;
  const std::vector<TrainerCase> cases = trainer_cases();
  Model dense(cases[6]);
  dense.trainer->sparse_updates_enabled = false;
  for (std::uint64_t t = 1; t <= 30; ++t) dense.step(t);
  const auto expected = dense.memory();
  for (int way = 0; way < 8; ++way) {
    CAPTURE(way);
    Model m(cases[6]);
    m.trainer->sparse_updates_exact = true;
    for (std::uint64_t t = 1; t <= 30; ++t) m.step(t);
    REQUIRE(m.memory() != expected);
    auto want = expected;
    if (way == 0) {  // a file
      Model other(cases[6]);
      dynet::save(folder / "m", m.pc, *m.trainer);
      dynet::load(folder / "m", other.pc, *other.trainer);
      CHECK(other.memory() == expected);
      CHECK(state(*other.trainer) == state(*dense.trainer));
    } else if (way == 1) {  // the end of the trainer
      m.trainer.reset();
    } else if (way == 2) {
      m.trainer->restart();
    } else if (way == 3) {  // the other meanings
      m.trainer->sparse_updates_exact = false;
      m.trainer->learning_rate = 0;
      m.trainer->update();
    } else if (way == 4) {
      m.e.scale(2);
      for (float& x : want) x *= 2;
    } else if (way == 5) {  // what was written stays
      m.e.initialize(7, {1, 2, 3});
      m.e.values();
      for (unsigned i = 0; i < kSize; ++i) want[7 * kSize + i] = static_cast<float>(i + 1);
    } else if (way == 6) {  // another trainer
      SimpleSGDTrainer other(m.pc, 1.0f);
      plant_row(m.e, 0, {1, 0, 0});
      other.update();
      want[0] -= 1;
    } else {
      AdamTrainer other(m.pc, 0.0f);
      other.sparse_updates_exact = true;
      plant_row(m.e, 0, {1, 0, 0});
      other.update();
      m.e.values();
    }
    CHECK(m.memory() == want);
    m.e.zero();
    m.trainer.reset();
    if (way != 6 && way != 7) CHECK(m.memory() == std::vector<float>(kRows * kSize, 0.0f));
  }
}

TEST_CASE("a table used as a whole and frozen now and then stays exact") {
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    Model dense(c), exact(c);
    dense.trainer->sparse_updates_enabled = false;
    exact.trainer->sparse_updates_exact = true;
    for (Model* m : {&dense, &exact})
      for (std::uint64_t t = 1; t <= 60; ++t) {
        m->e.set_updated(t % 9 != 0);
        if (t % 11 == 0) plant_whole(m->e, random_values(kRows * kSize, t, 0.1f));
        m->step(t);
        if (t == 37) m->trainer->restart();
      }
    CHECK(difference(exact.values(), dense.memory()) < 2e-4);
  }
}

TEST_CASE("rows make up for very many updates at once") {
  const std::vector<TrainerCase> cases = trainer_cases();
  for (const std::size_t k : {0u, 2u, 5u, 6u, 8u}) {
    CAPTURE(cases[k].name);
    Model dense(cases[k], 1e-6f), exact(cases[k], 1e-6f);
    dense.trainer->sparse_updates_enabled = false;
    exact.trainer->sparse_updates_exact = true;
    for (Model* m : {&dense, &exact}) {
      for (std::uint64_t t = 1; t <= 5; ++t) m->step(t);
      for (std::uint64_t t = 0; t < 70'000; ++t) {  // more than are remembered
        if (t % 10'000 == 0) plant_row(m->e, 0, {0.1f, 0, 0});
        m->trainer->update();
      }
    }
    CHECK(difference(exact.values(), dense.memory()) < 5e-3);  // rounding of 70000 factors
  }
}

}  // namespace sparse_test
