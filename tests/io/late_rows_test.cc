// Rows of tables that are updated late (Trainer::sparse_updates_exact) in files.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "dynet-like/train/adam.h"
#include "dynet-like/train/sgd.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/catch.h"

namespace late_rows_test {

using namespace dynet;

namespace {

template <class SomeTrainer>
struct Training {
  ParameterCollection pc{0.001f};
  LookupParameter e = pc.add_lookup_parameters(4, {3}, ParameterInitConst(0.5f), "E");
  SomeTrainer trainer{pc};

  Training() { trainer.sparse_updates_exact = true; }
  void step(unsigned row, float g) {
    plant_row(e, row, {g, -g, 0.1f});
    trainer.update();
  }
  // Every row once, then one of them alone.
  void run(int steps) {
    for (unsigned row = 0; row < 4; ++row) step(row, 1.0f + static_cast<float>(row));
    for (int i = 0; i < steps; ++i) step(3, 0.25f);
  }
  std::vector<float> state() {
    std::vector<float> all;
    for (const Tensor& row : e.values()) all.insert(all.end(), row.v, row.v + 3);
    for (const auto& view : trainer.state_views())
      for (const float* a : view.arrays) all.insert(all.end(), a, a + view.dim.size());
    return all;
  }
};

// After so many updates rows have missed few; many; so many that their first moment is gone.
constexpr int kGaps[] = {3, 100, 1500};

template <class SomeTrainer>
void check_going_on() {
  for (const int gap : kGaps) {
    const TemporaryFolder folder;
    Training<SomeTrainer> one, two, never;
    one.run(gap);
    save(folder / "m", one.pc, one.trainer);
    load(folder / "m", two.pc, two.trainer);
    CHECK(same_bits(two.state(), one.state()));
    for (int i = 0; i < 2000; ++i)
      for (auto* t : {&one, &two}) t->step(i == 0 ? 0u : 3u, 0.5f);
    for (auto* t : {&one, &two}) t->step(1, 0.5f);
    CHECK(same_bits(two.state(), one.state()));

    // One that was never saved may differ by rounding, no more.
    never.run(gap);
    for (int i = 0; i < 2000; ++i) never.step(i == 0 ? 0u : 3u, 0.5f);
    never.step(1, 0.5f);
    const std::vector<float> a = one.state(), b = never.state();
    std::size_t differ = 0;
    float most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      differ += a[i] != b[i];
      most = std::max(most, std::abs(a[i] - b[i]) / std::max(std::abs(b[i]), 1e-30f));
    }
    CHECK(most < 1e-5f);
    std::printf("%s, saved after %d updates: %zu of %zu numbers differ from a run without, by %g\n",
                one.trainer.kind(), gap, differ, a.size(), static_cast<double>(most));
  }
}

}  // namespace

TEST_CASE("training with late rows goes on from a file with the same bits") {
  check_going_on<AdamTrainer>();
  check_going_on<MomentumSGDTrainer>();
  check_going_on<SimpleSGDTrainer>();
}

TEST_CASE("a file has the values of rows that were late") {
  const TemporaryFolder folder;
  for (const bool single : {false, true}) {
    Training<AdamTrainer> late, dense, read;
    dense.trainer.sparse_updates_enabled = false;
    for (auto* t : {&late, &dense}) t->run(50);
    if (single) {
      save(folder / "m", late.e);
      load(folder / "m", read.e);
    } else {
      save(folder / "m", late.pc);
      load(folder / "m", read.pc);
    }
    const std::vector<float> a = table_values(read.e), b = table_values(dense.e);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-5));
    CHECK(a[0] != 0.5f);
  }
}

}  // namespace late_rows_test
