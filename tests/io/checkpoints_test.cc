#include "dynet-like/io/checkpoints.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <random>

#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace checkpoints_test {

using namespace dynet;

namespace {

// Everything that a run of training consists of. A step depends on all of it.
template <class SomeTrainer>
struct Training {
  Model model{1};
  SomeTrainer trainer{model.pc};
  std::mt19937 engine{7};
  std::vector<int> order;
  int at = 0, steps = 0;

  Training() : order(12) {
    std::iota(order.begin(), order.end(), 0);
    trainer.exponential_moving_average(0.9f, 2);
    trainer.set_schedule(LearningRateSchedule::cosine(0.1f, 60, 0.001f));
  }
  void step() {
    if (at == 0) std::shuffle(order.begin(), order.end(), engine);
    const float x = static_cast<float>(order[static_cast<std::size_t>(at)]) - 5.5f;
    const float noise = static_cast<float>(engine() % 1000) / 1000.0f;
    std::vector<float> g;
    for (const float w : as_vector(model.w.values())) g.push_back((w - 0.1f * x) + noise);
    plant(model.w, g);
    const auto row = static_cast<unsigned>(order[static_cast<std::size_t>(at)] % 6);
    plant_row(model.e, row, {0.1f * x, noise});
    trainer.update();
    at = (at + 1) % static_cast<int>(order.size());
    ++steps;
  }
  template <class Action>
  auto with(Action action) {
    return action(model.pc, trainer, engine, order, at, steps);
  }
  std::vector<float> state() {
    std::vector<float> all = model.values(), kept = state_of(trainer);
    all.insert(all.end(), kept.begin(), kept.end());
    all.push_back(static_cast<float>(engine() % 65536));
    return all;
  }
};

constexpr int kSteps = 60;

// A process that goes on where the last checkpoint is, and ends when it is killed or done.
template <class SomeTrainer>
[[noreturn]] void run(const Checkpoints& checkpoints) {
  try {
    Training<SomeTrainer> t;
    t.with([&](auto&... things) { checkpoints.load(things...); });
    while (t.steps < kSteps) {
      t.step();
      t.with([&](auto&... things) { checkpoints.save(things...); });
      usleep(300);
    }
    _exit(0);
  } catch (...) {
    _exit(1);
  }
}

template <class SomeTrainer>
void check_resuming(const char* name) {
  const TemporaryFolder folder;
  // Saves as often: that brings rows of tables up to date, which may round.
  const Checkpoints undisturbed(folder / "undisturbed");
  Training<SomeTrainer> whole;
  while (whole.steps < kSteps) {
    whole.step();
    whole.with([&](auto&... things) { undisturbed.save(things...); });
  }
  const Checkpoints checkpoints(folder / "run", 2);
  int kills = 0;
  std::uint64_t random = 3;
  for (bool done = false; !done;) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) run<SomeTrainer>(checkpoints);
    random = mix_bits(random);
    // Longer and longer, so that a slow machine comes to an end as well.
    usleep(static_cast<useconds_t>(3000 + random % (20000 + 200 * static_cast<unsigned>(kills))));
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    done = WIFEXITED(status);
    if (done) REQUIRE(WEXITSTATUS(status) == 0);
    kills += !done;
    REQUIRE(kills < 2000);
  }
  Training<SomeTrainer> resumed;
  REQUIRE(resumed.with([&](auto&... things) { return checkpoints.load(things...); }));
  CHECK(resumed.steps == kSteps);
  CHECK(resumed.order == whole.order);
  CHECK(same_bits(resumed.state(), whole.state()));
  std::printf("%s: the same bits after %d steps and %d kills\n", name, kSteps, kills);
}

}  // namespace

TEST_CASE("training that is killed and resumed ends with the same bits") {
  check_resuming<SimpleSGDTrainer>("SimpleSGDTrainer");
  check_resuming<MomentumSGDTrainer>("MomentumSGDTrainer");
  check_resuming<AdamTrainer>("AdamTrainer");
  check_resuming<AdagradTrainer>("AdagradTrainer");
  check_resuming<RMSPropTrainer>("RMSPropTrainer");
}

TEST_CASE("the newest checkpoints are kept") {
  const TemporaryFolder folder;
  const Checkpoints checkpoints((folder / "a") + "/b", 3);
  int i = -1;
  CHECK_FALSE(checkpoints.load(i));
  std::vector<std::string> saved;
  for (int k = 0; k < 7; ++k) saved.push_back(checkpoints.save(k));
  CHECK(checkpoints.paths() == std::vector<std::string>(saved.end() - 3, saved.end()));
  CHECK(saved.back() == (folder / "a") + "/b/checkpoint-00000000000000000007.dynet");
  CHECK(checkpoints.load(i));
  CHECK(i == 6);
  write_file(saved.back(), "damaged");
  CHECK_THROWS_AS(checkpoints.load(i), FileError);
  load(saved[5], i);
  CHECK(i == 5);
  write_file((folder / "a") + "/b/checkpoint-1.dynet", "not ours");
  checkpoints.save(8);
  CHECK(checkpoints.paths().size() == 3);
  CHECK(checkpoints.load(i));
  CHECK(i == 8);
  write_file(folder / "file", "x");
  CHECK_THROWS_AS(Checkpoints((folder / "file") + "/sub"), FileError);
}

TEST_CASE("after the last number there is no other checkpoint") {
  const auto path = [](const TemporaryFolder& folder, const std::string& digits) {
    return folder / ("checkpoint-" + digits + ".dynet");
  };
  {
    const TemporaryFolder folder;
    const Checkpoints checkpoints(folder.path().string());
    save(path(folder, "18446744073709551614"), 1);
    CHECK(checkpoints.save(2) == path(folder, "18446744073709551615"));
  }
  for (const std::string last :
       {"18446744073709551615", "18446744073709551616", "99999999999999999999"}) {
    const TemporaryFolder folder;
    const Checkpoints checkpoints(folder.path().string());
    save(path(folder, last), 3);
    CHECK(message_of<FileError>([&] { checkpoints.save(4); }) ==
          "no number follows " + path(folder, last));
    CHECK(checkpoints.paths() == std::vector<std::string>{path(folder, last)});
    int i = 0;
    CHECK(checkpoints.load(i));
    CHECK(i == 3);
  }
}

}  // namespace checkpoints_test
