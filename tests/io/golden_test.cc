// Files of each released version of the format load for ever. They are never written again.

#include <cstdlib>
#include <filesystem>

#include "dynet-like/io/checkpoints.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace golden_test {

using namespace dynet;

namespace {

// Content of the files, made of numbers that every machine computes alike.
template <class SomeTrainer = AdamTrainer>
struct Golden {
  ParameterCollection pc{0.25f};
  Parameter w = pc.add_parameters({3, 4}, ParameterInitConst(0), "W");
  ParameterCollection layer = pc.add_subcollection("layer", 0.5f);
  Parameter b = layer.add_parameters({5}, ParameterInitConst(0), "b");
  LookupParameter e = layer.add_lookup_parameters(6, {2}, ParameterInitConst(0), "E");
  SomeTrainer trainer{pc};
  Dict words;
  std::vector<std::string> list;
  int number = 0;
  double real_number = 0;

  void fill() {
    w.set_value({1, -2, 0.5, -0.25, 1e30f, -1e-30f, 0, -0.0f, 3, 4, 5, 6});
    b.set_value({1, 2, 3, 4, 5});
    b.set_updated(false);
    for (unsigned i = 0; i < 6; ++i) e.initialize(i, {static_cast<float>(i), -0.5f});
    trainer.learning_rate = 0.125f;
    trainer.clip_threshold = 2;
    plant(w, std::vector<float>(12, 0.0f));
    trainer.update();
    words = Dict({"one", "two", "<unk>"});
    words.freeze();
    words.set_unk("<unk>");
    list = {"x", "", "z"};
    number = 42;
    real_number = 0.1;
  }
  template <class Action>
  void with(Action action) {
    action(pc, trainer, words, list, number, real_number);
  }
};

// Trainer of an imagined later version, with more fields.
struct LaterTrainer : AdamTrainer {
  using AdamTrainer::AdamTrainer;
  real warmth = 0.5f;
  bool hurries = false;
  std::uint64_t rests = 3;

 protected:
  std::vector<Field> fields() override {
    return with(AdamTrainer::fields(),
                {{"warmth", &warmth, 0.75}, {"hurries", &hurries, 1}, {"rests", &rests, 0}});
  }
};

const std::filesystem::path kFolder = std::filesystem::path(__FILE__).parent_path() / "golden";

}  // namespace

TEST_CASE("a file of version 1 loads") {
  const std::string path = (kFolder / "version-1.dynet").string();
  Golden<> made, read;
  made.fill();
  if (const char* to = std::getenv("DYNET_WRITE_GOLDEN"))
    made.with([&](auto&... things) { save(to, things...); });
  read.with([&](auto&... things) { load(path, things...); });
  CHECK(same_bits(as_vector(read.w.values()), as_vector(made.w.values())));
  CHECK(same_bits(as_vector(read.b.values()), as_vector(made.b.values())));
  CHECK(same_bits(table_values(read.e), table_values(made.e)));
  CHECK_FALSE(read.b.is_updated());
  CHECK(read.w.weight_decay_lambda() == 0.25f);
  CHECK(read.b.weight_decay_lambda() == 0.5f);
  CHECK(read.trainer.learning_rate == 0.125f);
  CHECK(read.trainer.clip_threshold == 2);
  CHECK(read.trainer.updates == 1);
  CHECK(read.trainer.state_views().size() == 1);
  CHECK(read.words.get_words() == made.words.get_words());
  CHECK(read.words.get_unk_id() == 2);
  CHECK(read.list == made.list);
  CHECK(read.number == 42);
  CHECK(read.real_number == 0.1);
}

TEST_CASE("settings that a later version added have their defaults in an old file") {
  Golden<LaterTrainer> read;
  read.with([&](auto&... things) { load((kFolder / "version-1.dynet").string(), things...); });
  CHECK(read.trainer.learning_rate == 0.125f);
  CHECK(read.trainer.warmth == 0.75f);
  CHECK(read.trainer.hurries);
  CHECK(read.trainer.rests == 0);
}

TEST_CASE("settings that are unknown here are refused by their names") {
  const TemporaryFolder folder;
  Golden<LaterTrainer> later;
  Golden<> here;
  save(folder / "m", later.trainer);
  CHECK(failed_load(folder / "m", here.trainer) ==
        misfit(folder / "m") +
            "AdamTrainer has an unknown setting hurries; AdamTrainer has an "
            "unknown setting rests; AdamTrainer has an unknown setting warmth");
}

TEST_CASE("settings that are missing or impossible are refused by their names") {
  const Golden<> golden;
  TrainerSnapshot good{"AdamTrainer", golden.trainer.numbers(), {}};
  CHECK(golden.trainer.differences(good).empty());
  const auto check = [&](const char* name, double x, const std::string& why) {
    TrainerSnapshot s{"AdamTrainer", good.numbers, {}};
    s.numbers[name] = x;
    CHECK(golden.trainer.differences(s) == std::vector<std::string>{"AdamTrainer " + why});
  };
  check("updates", -1, "cannot have a setting updates of -1.000000");
  check("updates", 0.5, "cannot have a setting updates of 0.500000");
  check("updates", std::nan(""), "cannot have a setting updates of nan");
  check("clipping_enabled", 2, "cannot have a setting clipping_enabled of 2.000000");
  good.numbers.erase("beta_1");
  CHECK(golden.trainer.differences(good) ==
        std::vector<std::string>{"AdamTrainer has no setting beta_1"});
}

}  // namespace golden_test
