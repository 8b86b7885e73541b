// Rows of tables that were not used: they stay, or follow the rule with a gradient of zero.

#include "tests/train/rules.h"

namespace sparse_test {

using namespace dynet;

namespace {

constexpr unsigned kRows = 9, kSize = 3;

/// A table whose rows are used at random, row 8 never, rows below 6 often; and one whose rows are
/// used all at once, now and then.
struct Model {
  ParameterCollection pc;
  LookupParameter e, whole;
  std::unique_ptr<Trainer> trainer;

  explicit Model(const TrainerCase& c, float decay = 0) : pc(decay) {
    for (LookupParameter* table : {&e, &whole}) {
      *table = pc.add_lookup_parameters(kRows, {kSize}, table == &e ? "e" : "whole");
      for (unsigned row = 0; row < kRows; ++row)
        table->initialize(row, first_values(c, kSize, 100 + row));
    }
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
};

}  // namespace

TEST_CASE("rows that were not used stay, or take a step with gradient zero, whatever the trainer") {
  for (const TrainerCase& c : trainer_cases())
    for (const bool sparse : {true, false})
      for (const float decay : {0.0f, 0.02f}) {
        CAPTURE(c.name, sparse, decay);
        Model m(c, decay);
        m.trainer->sparse_updates_enabled = sparse;
        std::vector<BookTrainer> books, of_whole;
        for (unsigned row = 0; row < kRows; ++row) {
          books.emplace_back(as_vector(m.e.row(row)));
          of_whole.emplace_back(as_vector(m.whole.row(row)));
        }
        const bool scheduled = static_cast<bool>(m.trainer->schedule());
        for (int t = 1; t <= 50; ++t) {
          const real rate = m.trainer->learning_rate;
          const auto rows = Model::used(static_cast<std::uint64_t>(t));
          for (unsigned row : rows)
            plant_row(m.e, row, Model::gradient(static_cast<std::uint64_t>(t), row));
          const bool all = t % 10 == 1;
          const auto of_all = random_values(kRows * kSize, 7777 + static_cast<unsigned>(t), 0.1f);
          if (all) plant_whole(m.whole, of_all);
          m.trainer->update();
          if (!scheduled) CHECK(m.trainer->learning_rate == rate);
          const auto step = [&](BookTrainer& book, bool is_used, const float* g) {
            std::vector<double> gradient(kSize, 0.0);
            if (is_used) gradient.assign(g, g + kSize);
            // A distribution that has no momentum is not normalized.
            const bool rests = c.distribution && book.a == std::vector<double>(kSize, 0.0);
            if (is_used || !(sparse || rests)) c.step(book, gradient, t);
            for (double& w : book.w) w *= 1 - static_cast<double>(decay);
          };
          const auto check = [&](const BookTrainer& book, const LookupParameter& table,
                                 unsigned row) {
            CAPTURE(t, row);
            const std::vector<float> now = table_values(table);
            for (unsigned i = 0; i < kSize; ++i)
              REQUIRE(now[row * kSize + i] == Approx(book.w[i]).epsilon(5e-5).margin(5e-5));
          };
          for (unsigned row = 0; row < kRows; ++row) {
            const auto g = Model::gradient(static_cast<std::uint64_t>(t), row);
            step(books[row], rows.contains(row), g.data());
            step(of_whole[row], all, &of_all[row * kSize]);
            check(books[row], m.e, row);
            check(of_whole[row], m.whole, row);
          }
        }
      }
}

TEST_CASE("a setting of earlier versions is accepted only where it was off") {
  const std::vector<TrainerCase> cases = trainer_cases();
  const Model m(cases[6]);
  TrainerSnapshot snapshot{m.trainer->kind(), m.trainer->numbers(), {}};
  snapshot.numbers["sparse_updates_exact"] = 0;
  CHECK(m.trainer->differences(snapshot).empty());
  snapshot.numbers["sparse_updates_exact"] = 1;
  const std::vector<std::string> found = m.trainer->differences(snapshot);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("sparse_updates_enabled = false") != std::string::npos);
}

}  // namespace sparse_test
