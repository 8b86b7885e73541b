#include "dynet-like/io/save.h"

#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace save_test {

using namespace dynet;

namespace {

struct Settings {
  unsigned layers = 0;
  std::string language;
  std::map<std::string, double> scores;
  int not_saved = 0;

  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& layers& language& scores;
  }
};

// A type of the user's with everything inside.
struct Tagger {
  Settings settings;
  Dict words;
  ParameterCollection pc;
  std::vector<int> numbers;

  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& settings& pc& words& numbers;
  }
};

// One that cannot be copied.
struct Unique {
  std::unique_ptr<int> owned = std::make_unique<int>(0);

  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar&* owned;
  }
};

// Other layouts than Settings.
struct Longer : Settings {
  unsigned more = 0;
  template <class Archive>
  void serialize(Archive& ar, const unsigned version) {
    Settings::serialize(ar, version);
    ar& more;
  }
};

struct Shorter {
  unsigned layers = 0;
  std::string language;
  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& layers& language;
  }
};

struct Bad {
  template <class Archive>
  void serialize(Archive&, const unsigned) {
    throw ArgumentError("no");
  }
};

}  // namespace

TEST_CASE("parameters are found by name, whatever their order and place") {
  const TemporaryFolder folder;
  Model one(1);
  save(folder / "m", one.pc);
  ParameterCollection pc;
  auto model = pc.add_subcollection("model");
  auto other = pc.add_parameters({2}, ParameterInitConst(1.0f));
  auto layer = model.add_subcollection("layer");
  auto e = layer.add_lookup_parameters(6, {2}, "E");
  auto b = layer.add_parameters({5, 1}, "b");  // the same shape as {5}
  auto w = model.add_parameters({3, 4}, "W");
  load(folder / "m", model);
  CHECK(as_vector(w.values()) == as_vector(one.w.values()));
  CHECK(as_vector(b.values()) == as_vector(one.b.values()));
  CHECK(table_values(e) == table_values(one.e));
  CHECK(as_vector(other.values()) == std::vector<float>{1, 1});
}

TEST_CASE("all that does not fit is told at once and nothing changes") {
  const TemporaryFolder folder;
  Model one(1);
  save(folder / "m", one.pc);
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 3}, ParameterInitConst(1.0f), "W");
  auto layer = pc.add_subcollection("layer");
  auto b = layer.add_parameters({5}, ParameterInitConst(1.0f), "b");
  layer.add_parameters({7}, "more");
  layer.add_parameters({6, 2}, "E");
  pc.add_lookup_parameters(3, {2}, "T");
  CHECK(
      failed_load(folder / "m", pc) ==
      misfit(folder / "m") +
          "/W is {3,4} in the file and {4,3} here; /layer/E is a table of 6 rows {2} in the file "
          "and "
          "{6,2} here; /layer/more {7} is missing in the file; /T a table of 3 rows {2} is missing "
          "in the file");
  CHECK(as_vector(b.values()) == std::vector<float>(5, 1.0f));
  CHECK(as_vector(w.values()) == std::vector<float>(12, 1.0f));

  for (const unsigned rows : {5u, 7u}) {
    ParameterCollection other;
    other.add_parameters({3, 4}, "W");
    other.add_subcollection("layer").add_lookup_parameters(rows, {2}, "E");
    CHECK(failed_load(folder / "m", other) ==
          misfit(folder / "m") +
              "/layer/b {5} is in the file only; /layer/E is a table of 6 rows {2} in the file and "
              "a table of " +
              std::to_string(rows) + " rows {2} here");
  }
}

TEST_CASE("many things of many kinds come back") {
  const TemporaryFolder folder;
  Dict words({"a", "b", "<unk>"});
  words.freeze();
  words.set_unk("<unk>");
  const Settings settings{3, "english", {{"dev", 0.5}, {"test", 0.25}}, 7};
  const std::vector<std::string> list{"x", "", "z"};
  save(folder / "m", words, settings, list, 42, 0.1, std::string("text\0null", 9), true);

  Dict dict({"other"});
  Settings s;
  s.not_saved = 5;
  std::vector<std::string> l{"old"};
  int i = 0;
  double d = 0;
  std::string text;
  bool yes = false;
  load(folder / "m", dict, s, l, i, d, text, yes);
  CHECK(dict.get_words() == words.get_words());
  CHECK(dict.is_frozen());
  CHECK(dict.convert("unseen") == 2);
  CHECK(s.layers == 3);
  CHECK(s.language == "english");
  CHECK(s.scores == settings.scores);
  CHECK(s.not_saved == 5);  // keeps what the file does not hold
  CHECK(l == list);
  CHECK(i == 42);
  CHECK(d == 0.1);
  CHECK(text.size() == 9);
  CHECK(yes);
}

TEST_CASE("a failed load changes none of the things") {
  const TemporaryFolder folder;
  Model one(1), two(2), three(3);
  Dict words({"a"});
  const Settings settings{3, "english", {}, 0};
  AdamTrainer adam(one.pc);
  one.step(adam, 1.0f);
  save(folder / "m", settings, words, one.pc, adam, 7);

  Settings s{1, "old", {}, 0};
  Dict dict({"old", "words"});
  AdamTrainer mine(two.pc, 0.5f);
  two.step(mine, 2.0f);
  const auto values = two.values();
  const auto numbers = mine.numbers();
  float wrong_kind = 0.5f;
  int right_kind = 0;
  SimpleSGDTrainer sgd(two.pc);
  const auto unchanged = [&] {
    CHECK(s.layers == 1);
    CHECK(dict.size() == 2);
    CHECK(same_bits(two.values(), values));
    CHECK(mine.numbers() == numbers);
    CHECK(wrong_kind == 0.5f);
  };
  const std::string start = "cannot load " + (folder / "m") + ": ";
  CHECK(failed_load(folder / "m", s, dict, two.pc, mine, wrong_kind) ==
        start + "thing 5 of 5 is of kind int32, not float32");
  unchanged();
  CHECK(failed_load(folder / "m", s, dict, two.pc, mine) == start + "it holds 5 things, not 4");
  unchanged();
  CHECK(failed_load(folder / "m", s, dict, two.pc, sgd, right_kind) ==
        start + "thing 4 of 5 is of kind AdamTrainer, not SimpleSGDTrainer");
  unchanged();
  std::string bytes = read_file(folder / "m");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(folder / "m", bytes);
  CHECK_THROWS_AS(load(folder / "m", s, dict, two.pc, mine, right_kind), FileError);
  unchanged();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(folder / "m", bytes);
  load(folder / "m", s, dict, two.pc, mine, right_kind);
  CHECK(same_bits(two.values(), one.values()));
  CHECK(right_kind == 7);
}

TEST_CASE("another layout in the same kind is noticed") {
  const TemporaryFolder folder;
  const Settings settings{3, "english", {}, 0};
  save(folder / "m", settings);
  Longer longer;
  longer.language = "kept";
  CHECK(failed_load(folder / "m", longer) ==
        "cannot load " + (folder / "m") +
            ": thing 1 of 1 (object) cannot be read: input stream error");
  CHECK(longer.language == "kept");
  Shorter shorter{1, "kept"};
  CHECK_SAYS(FileError, load(folder / "m", shorter), "bytes are left over");
  CHECK(shorter.language == "kept");
}

TEST_CASE("a trainer's state needs its parameters") {
  const TemporaryFolder folder;
  Model one(1);
  AdamTrainer adam(one.pc);
  one.step(adam, 1.0f);
  save(folder / "m", adam);
  ParameterCollection pc;
  auto w = pc.add_parameters({4, 4}, "W");
  AdamTrainer other(pc, 0.5f);
  CHECK(failed_load(folder / "m", other) ==
        misfit(folder / "m") +
            "AdamTrainer state of /W is {3,4} in the file and {4,4} here; "
            "AdamTrainer state of /layer/E fits no parameter");
  CHECK(other.learning_rate == 0.5f);
  const LoadReport report =
      load(folder / "m", LoadOptions{.allow_extra = true, .allow_reshaped = true}, other);
  CHECK(report.left_out ==
        std::vector<std::string>{"AdamTrainer state of /W is reshaped",
                                 "AdamTrainer state of /layer/E is in the file only"});
  CHECK(other.updates == 1);
}

TEST_CASE("parameters and dictionaries inside a type of the user's") {
  const TemporaryFolder folder;
  Tagger one, two;
  one.settings = {2, "french", {}, 0};
  one.words.convert("le");
  one.numbers = {1, 2, 3};
  auto p = one.pc.add_parameters({2}, ParameterInitConst(5.0f), "p");
  auto q = two.pc.add_parameters({2}, ParameterInitConst(1.0f), "p");
  save(folder / "m", one, 1);

  float wrong = 0;
  CHECK_THROWS_AS(load(folder / "m", two, wrong), FileError);
  CHECK(as_vector(q.values()) == std::vector<float>{1, 1});  // not even the parameters inside
  CHECK(two.settings.layers == 0);
  int right = 0;
  load(folder / "m", two, right);
  CHECK(as_vector(q.values()) == as_vector(p.values()));
  CHECK(two.pc.parameters_list().at(0) == q);
  CHECK(two.words.contains("le"));
  CHECK(two.settings.language == "french");
  CHECK(two.numbers == one.numbers);
}

TEST_CASE("things that cannot be copied are read in place") {
  const TemporaryFolder folder;
  Unique one, two;
  *one.owned = 5;
  save(folder / "m", one, 3);
  float wrong = 0;
  CHECK_THROWS_AS(load(folder / "m", two, wrong), FileError);
  CHECK(*two.owned == 0);
  int right = 0;
  load(folder / "m", two, right);
  CHECK(*two.owned == 5);
}

TEST_CASE("a failed save leaves the old file") {
  const TemporaryFolder folder;
  save(folder / "m", 1);
  CHECK_THROWS_AS(save(folder / "m", 2, Bad()), ArgumentError);
  CHECK_THROWS_AS(save((folder / "no") + "/m", 2), FileError);
  int i = 0;
  load(folder / "m", i);
  CHECK(i == 1);
  CHECK(folder.names() == std::vector<std::string>{"m"});
}

TEST_CASE("collections and dictionaries in archives of the user's own") {
  Model one(1);
  Dict words({"a"}), dict;
  std::stringstream binary;
  boost::archive::binary_oarchive(binary) << words;
  boost::archive::binary_iarchive(binary) >> dict;
  CHECK(dict.get_words() == words.get_words());
  std::stringstream again;
  boost::archive::binary_oarchive(again) << one.pc;
  ParameterCollection less;
  auto w = less.add_parameters({3, 4}, ParameterInitConst(1.0f), "W");
  boost::archive::binary_iarchive in(again);
  CHECK_SAYS(FileError, in >> less, "/layer/b {5} is in the file only");
  CHECK(as_vector(w.values()) == std::vector<float>(12, 1.0f));
}

TEST_CASE("an archive of one thing is not read as another") {
  Model model(1);
  const auto check = [](const auto& written, auto& read, const char* why) {
    std::stringstream bytes;
    boost::archive::binary_oarchive(bytes) << written;
    boost::archive::binary_iarchive in(bytes);
    CHECK_SAYS(FileError, in >> read, why);
  };
  check(model.w, model.pc, "a Parameter was saved, not a ParameterCollection");
  check(model.pc, model.w, "a ParameterCollection was saved, not a Parameter");
  check(model.w, model.e, "a Parameter was saved, not a LookupParameter");
}

}  // namespace save_test
