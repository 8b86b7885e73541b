// The parts of a trainer, each with input made by hand.

#include "dynet-like/base/workers.h"
#include "dynet-like/train/update.h"
#include "dynet-like/train/update_loops.h"
#include "tests/train/rules.h"

namespace parts_test {

using namespace dynet;
using Floats = std::vector<float>;

namespace {

// w <- (w - g), and state counts the steps.
void count_steps(const TrainerSlice& s) {
  each_value<1>(s, [](float w, float g, float* state) {
    state[0] += 1;
    return w - g;
  });
}
const TrainerRule kCounting = {1, count_steps, DeviceRule::never("a test")};

/// The first value of a slice counts its slices.
void count_slices(const TrainerSlice& s) { s.w[0] += 1; }
const TrainerRule kWhole = {0, count_slices, DeviceRule::never("a test"), true};

/// Values, gradients and state of one parameter.
struct Numbers {
  explicit Numbers(std::size_t n) : w(n, 10), g(n, 1), state(n, 0) {}
  UpdatePart part(float decay = 1) {
    return {.n = w.size(),
            .decay_factor = decay,
            .w = w.data(),
            .g = g.data(),
            .state = {state.data()}};
  }
  Floats w, g, state;
};

class Counters : public UpdateCounters {
 public:
  using UpdateCounters::count_clip, UpdateCounters::count_skip, UpdateCounters::count_update,
      UpdateCounters::take_status, UpdateCounters::uncount_update;
};

}  // namespace

TEST_CASE("host updater: steps by the rule, then decays, then averages") {
  Numbers a(3), b(2);
  Floats average = {0, 0, 0};
  Update u;
  u.steps = {a.part(0.5f)};
  u.decays = {{.n = 2, .decay_factor = 0.5f, .w = b.w.data()}};
  u.averages = {{.n = 3, .decay_factor = 1, .w = a.w.data(), .state = {average.data()}}};
  u.average = 0.5f;
  u.scale = 2;
  HostUpdater updater(kCounting);
  updater.update(u);
  CHECK(a.w == Floats{4, 4, 4});  // (10 - 2) / 2
  CHECK(a.state == Floats{1, 1, 1});
  CHECK(b.w == Floats{5, 5});
  CHECK(average == Floats{2, 2, 2});
}

TEST_CASE("host updater: a parameter without values is left alone") {
  Numbers other(1);  // lies there
  UpdatePart none = other.part(0.5f);
  none.n = 0;
  Floats average = {3};
  for (const TrainerRule* rule : {&kCounting, &kWhole}) {
    Update u;
    u.steps = u.decays = {none};
    none.state[0] = average.data();
    u.averages = {none};
    u.average = 0.5f;
    HostUpdater(*rule).update(u);
    CHECK(other.w == Floats{10});
    CHECK(other.state == Floats{0});
    CHECK(average == Floats{3});
  }
}

TEST_CASE("host updater: values that depend on each other are one slice, row by row in a table") {
  Floats w(6, 0.0f), g(6, 1.0f);
  Update u;
  u.steps = {{.n = 2, .decay_factor = 1, .w = w.data(), .g = g.data(), .count = 3}};
  Workers workers(2);
  HostUpdater updater(kWhole);
  updater.set_workers(&workers);
  updater.update(u);
  CHECK(w == Floats{1, 0, 1, 0, 1, 0});
}

TEST_CASE("counters: in all, and since the last status") {
  Counters c;
  c.count_update();
  c.count_update();
  c.count_clip();
  c.count_skip();
  std::ostringstream first, second;
  c.take_status(first);
  CHECK(first.str() == " clips=1 updates=2 skipped=1");
  c.uncount_update();  // of before
  CHECK(c.updates == 1);
  CHECK(c.updates_since_status == 0);
  c.take_status(second);
  CHECK(second.str() == " clips=0 updates=0");
  CHECK(c.clips == 1);
  CHECK(c.skipped == 1);
}

TEST_CASE("an update that is left out takes back only what was new for it") {
  for (const bool table : {false, true})
    for (const bool sparse : {false, true}) {
      CAPTURE(table, sparse);
      ParameterCollection pc;
      const Parameter p = pc.add_parameters({2}, ParameterInitConst(1), "p");
      const LookupParameter e = pc.add_lookup_parameters(3, {2}, ParameterInitConst(1), "e");
      const auto give = [&](const Floats& g) { table ? plant_row(e, 1, g) : plant(p, g); };
      MomentumSGDTrainer trainer(pc, 0.1f, 0.9f);
      trainer.skip_non_finite = true;
      trainer.sparse_updates_enabled = sparse;
      give({std::numeric_limits<float>::infinity(), 0});
      CHECK_FALSE(trainer.update());
      CHECK(trainer.state_views().empty());  // as before the first gradient
      give({1, 1});
      CHECK(trainer.update());
      trainer.exponential_moving_average(0.5f);
      give({std::numeric_limits<float>::infinity(), 0});
      CHECK_FALSE(trainer.update());
      REQUIRE(trainer.state_views().size() == 1);
      CHECK(trainer.state_views()[0].arrays.size() == 1);  // no average, but the momentum
      CHECK(trainer.state_views()[0].arrays[0][table ? 2 : 0] != 0);
    }
}

}  // namespace parts_test
