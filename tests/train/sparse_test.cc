// Rows of tables that were not used: they stay, or follow the rule with a gradient of zero.

#include <set>
#include <string>
#include <vector>

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
  std::vector<float> memory() const { return table_values(e); }
};

}  // namespace

TEST_CASE("rows that were not used stay, or take a step with gradient zero, whatever the trainer") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool sparse : {true, false}) {
      CAPTURE(c.name, sparse);
      Model m(c);
      m.trainer->sparse_updates_enabled = sparse;
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
        for (unsigned row = 0; row < kRows; ++row) {
          if (sparse && !rows.contains(row)) continue;
          std::vector<float> g(kSize, 0.0f);
          if (rows.contains(row)) g = Model::gradient(static_cast<std::uint64_t>(t), row);
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

TEST_CASE("a setting of earlier versions is accepted only where it was off") {
  const std::vector<TrainerCase> cases = trainer_cases();
  Model m(cases[6]);
  m.step(1);
  TrainerSnapshot snapshot{m.trainer->kind(), m.trainer->numbers(), {}};
  snapshot.numbers["sparse_updates_exact"] = 0;
  CHECK(m.trainer->differences(snapshot).empty());
  snapshot.numbers["sparse_updates_exact"] = 1;
  const std::vector<std::string> found = m.trainer->differences(snapshot);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("sparse_updates_enabled = false") != std::string::npos);
}

}  // namespace sparse_test
