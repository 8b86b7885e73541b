// The program emoji as its user meets it: the program itself, in processes of its own.

#ifdef EMOJI_BINARY

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "examples/mixed/emoji/gather.h"
#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace emoji_run_test {

namespace {

const Program kEmoji{"emoji", EMOJI_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kEmoji.run(folder, arguments, input);
}

/// A picture of 8 x 8 that is bright on the left, or on the right.
std::string picture(bool left, Dice& dice) {
  emoji::Sample sample;
  sample.image = emoji::Picture{8, {}};
  for (unsigned i = 0; i < 64 * emoji::Picture::kChannels; ++i) {
    const bool bright = (i / emoji::Picture::kChannels % 8 < 4) == left;
    sample.image->points.push_back(
        static_cast<std::uint8_t>(dice.below(60) + (bright ? 190u : 0u)));
  }
  const std::string line = emoji::line_of(sample);
  return line.substr(1, line.size() - 2);  // "image": "..." alone
}

/// Things of two groups with two subgroups each. The group is in the words, the subgroup in the
/// row; a third of them lacks words, a third the row, and all have a picture that says nothing.
std::string things(unsigned count, unsigned seed) {
  Dice dice(seed);
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    const bool animal = dice.below(2) == 0, old = dice.below(5) < 2;
    const std::string group = animal ? "Animals" : "Tools";
    std::string line = "{\"emoji\":\"" + std::to_string(seed * 1000 + i) + "\",\"group\":\"" +
                       group + "\",\"subgroup\":\"" + group + (old ? "-old" : "-new") + "\"";
    const unsigned lacks = dice.below(3);
    if (lacks != 0) {
      const std::vector<std::string> words = animal ? std::vector<std::string>{"cat", "dog", "fox"}
                                                    : std::vector<std::string>{"saw", "axe", "awl"};
      line += ",\"words\":[\"" + dice.one_of(words) + "\",\"" + dice.one_of(words) + "\"]";
    }
    if (lacks != 1)
      line += std::string(",\"row\":{\"age\":") + (old ? "9" : "2") + ",\"colour\":\"" +
              (dice.below(2) ? "red" : "blue") + "\"}";
    all += line + "," + picture(dice.below(2) == 0, dice) + "}\n";
  }
  return all;
}

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = folder.write("train.jsonl", things(240, 1));
  std::string dev = folder.write("dev.jsonl", things(60, 2));
  std::string test = folder.write("test.jsonl", things(80, 3));

  std::vector<std::string> train_command(const std::string& model,
                                         const std::string& epochs) const {
    return {"train",
            "--train",
            train,
            "--dev",
            dev,
            "--model",
            folder.path(model),
            "--filters",
            "2",
            "--word",
            "8",
            "--hidden",
            "16",
            "--batch",
            "8",
            "--dropout",
            "0.1",
            "--learning-rate",
            "0.01",
            "--epochs",
            epochs};
  }
};

/// The accuracies of groups and subgroups in the line of a choice of inputs.
std::vector<double> accuracies(const std::string& out, const std::string& inputs) {
  return numbers_of(line_with(out, "  " + inputs + " "));
}

}  // namespace

TEST_CASE("Emoji: train, score every choice of inputs in a fresh process, predict") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  const Result trained =
      run(shop.folder, with(shop.train_command("model", "12"), {"--test", shop.test}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 240 emoji, 240 with a picture, "));
  CHECK(
      contains(trained.out, "model: image,text,table; 7 words, 2 columns, 2 groups, 4 subgroups"));
  CHECK(contains(trained.err, "emoji/s"));
  const std::string test = from(trained.out, "\ntest: 80 emoji\n");
  // Words tell the group where they are, in two thirds; the row tells the age.
  const std::vector<double> all = accuracies(test, "image,text,table");
  const std::vector<double> text = accuracies(test, "text"), table = accuracies(test, "table");
  const std::vector<double> trivial = accuracies(test, "most frequent");
  REQUIRE(all.size() == 2);
  CHECK(text[0] > 70);
  CHECK(all[0] > 70);
  CHECK(all[1] > text[1] + 5);
  CHECK(all[1] > table[1] + 5);
  CHECK(text[0] > table[0] + 10);
  CHECK(trivial[0] < 65);
  CHECK(trivial[1] < 45);

  const Result scored = run(shop.folder, {"eval", "-m", model, "-d", shop.test});
  REQUIRE(scored.code == 0);
  CHECK(line_with(scored.out, "  text,table ") == line_with(test, "  text,table "));
  const Result less =
      run(shop.folder, {"eval", "-m", model, "-d", shop.test, "--inputs", "table,text"});
  CHECK(line_with(less.out, "  text,table ") == line_with(test, "  text,table "));
  CHECK_FALSE(contains(less.out, "image"));
  const Result json =
      run(shop.folder, {"eval", "-m", model, "-d", shop.test, "--json", "--per-label"});
  CHECK(contains(json.out, "\"group accuracy\":0."));
  CHECK(contains(json.out, "\"Animals\":{"));

  const Result said = run(shop.folder, {"predict", "-m", model},
                          "{\"words\": [\"fox\"], \"row\": {\"age\": 9}}\n\n"
                          "{\"emoji\": \"x\", \"words\": [\"axe\"], \"row\": {\"age\": 2}}\n");
  INFO(said.out + said.err);
  REQUIRE(said.code == 0);
  const std::vector<std::string> lines = nlp::split_fields(said.out, '\n');
  REQUIRE(lines.size() == 3);
  const std::vector<std::string> first = nlp::split_fields(lines[0], '\t'),
                                 second = nlp::split_fields(lines[1], '\t');
  REQUIRE(first.size() == 5);
  CHECK(first[0].empty());
  CHECK(first[1] == "Animals");
  CHECK(first[3] == "Animals-old");
  REQUIRE(second.size() == 5);
  CHECK(second[0] == "x");
  CHECK(second[1] == "Tools");
  CHECK(second[3] == "Tools-new");
  CHECK(run(shop.folder, {"predict", "-m", model}).out.empty());

  const std::string sheet = shop.folder.path("sheet.svg");
  const Result drawn = run(shop.folder, {"predict", "-m", model, "-i", shop.test, "--sheet", sheet,
                                         "--json", "--threads", "2"});
  REQUIRE(drawn.code == 0);
  CHECK(std::count(drawn.out.begin(), drawn.out.end(), '\n') == 80);
  CHECK(contains(drawn.out, "{\"emoji\":\"3000\",\"group\":\""));
  const std::string svg = read_file(sheet);
  CHECK(contains(svg, "<svg "));
  CHECK(contains(svg, ">3079</text>"));
}

TEST_CASE("Emoji: answers come as emoji do, and those before an error are kept") {
  const Workshop shop;
  REQUIRE(run(shop.folder, shop.train_command("model", "1")).code == 0);
  const auto sh = [&](const std::string& script) {
    return Program{"sh", "/bin/sh"}.run(
        shop.folder, {"-c", "cd '" + shop.folder.path("") + "'; p() { '" + kEmoji.binary +
                                "' predict -m model \"$@\"; }; " + script});
  };
  // The second emoji comes when the first one has been answered, or after ten seconds.
  for (const std::string options : {"", "--threads 2", "--json", "-i /dev/stdin"}) {
    const Result talk =
        sh("rm -f answer late; (head -n 1 test.jsonl; for i in $(seq 200); do test -s answer && "
           "break; sleep 0.05; done; test -s answer || touch late; head -n 1 test.jsonl) | p " +
           options + " > answer; cat answer; ! test -e late");
    INFO(options << talk.err);
    CHECK(talk.code == 0);
    CHECK(std::count(talk.out.begin(), talk.out.end(), '\n') == 2);
  }
  // Each gets the answer that it gets in other company.
  const std::string whole = sh("p -i test.jsonl --json").out;
  CHECK(sh("p -i test.jsonl --json --threads 3").out == whole);
  CHECK(sh("while read -r line; do echo \"$line\" | p --json; done < test.jsonl").out == whole);
  const std::string larger = "{\"image\": \"" + std::string(std::size_t{16} * 16 * 8, '0') + "\"}";
  for (const std::string& wrong : {std::string("[]"), larger}) {
    shop.folder.write("wrong", wrong + "\n");
    const Result broken = sh("(head -n 40 test.jsonl; cat wrong) | p --json");
    kEmoji.check_refused(broken, "standard input:41: ");
    CHECK(broken.out == sh("head -n 40 test.jsonl | p --json").out);
  }
}

TEST_CASE("Emoji: data from which nothing can be learned are warned of") {
  const Workshop shop;
  const auto warned = [&](const std::string& data, const std::vector<std::string>& more,
                          const std::string& message) {
    const Result result =
        run(shop.folder,
            with({"train", "--train", shop.folder.write("data", data), "--filters", "2", "--epochs",
                  "1", "--force", "--dev", shop.dev, "--model", shop.folder.path("m")},
                 more));
    INFO(result.out + result.err);
    CHECK(result.code == 0);
    CHECK(contains(result.err, message));
  };
  const std::string one = "{\"group\": \"g\", \"subgroup\": \"s\", \"words\": [\"saw\"]}\n",
                    other = "{\"group\": \"g\", \"subgroup\": \"t\", \"words\": [\"fox\"]}\n";
  warned(one, {}, "data has no subgroup but 's': there is nothing to tell apart\n");
  warned(one + other, {}, "data has no group but 'g': there is nothing to tell apart\n");
  warned(one + other, {"--inputs", "image,table"}, "data has any of image,table: ");
  warned(things(60, 2), {}, " is the same as the training data: ");
}

TEST_CASE("Emoji: a model of one part is told nothing by the others") {
  const Workshop shop;
  const Result trained = run(shop.folder, with(shop.train_command("table", "6"),
                                               {"--inputs", "table", "--test", shop.test}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "model: table; "));
  const std::string test = from(trained.out, "\ntest: ");
  CHECK_FALSE(contains(test, "text"));
  CHECK(accuracies(test, "table")[0] < 70);
  kEmoji.check_refused(run(shop.folder, {"eval", "-m", shop.folder.path("table"), "-d", shop.test,
                                         "--inputs", "text"}),
                       "the model knows nothing but table");
}

TEST_CASE("Emoji: the same options give the same run, others another one") {
  const Workshop shop;
  const auto losses = [&](const std::string& model, const std::vector<std::string>& more) {
    return losses_of(run(shop.folder, with({"train", "--train", shop.dev, "--filters", "2",
                                            "--model", shop.folder.path(model), "--epochs", "2"},
                                           more)),
                     2);
  };
  const std::string plain = losses("a", {});
  CHECK(losses("b", {"--seed", "1"}) == plain);
  CHECK((read_file(shop.folder.path("a")) == read_file(shop.folder.path("b"))));
  // Threads share out the parts of an update, and change nothing.
  const std::string parts = losses("d", {"--parts", "3"});
  CHECK(losses("e", {"--parts", "3", "--threads", "2"}) == parts);
  CHECK((read_file(shop.folder.path("d")) == read_file(shop.folder.path("e"))));
  const std::vector<std::vector<std::string>> others = {
      {"--seed", "2"},       {"--word", "90"},     {"--hidden", "60"},
      {"--batch", "15"},     {"--clip", "0.01"},   {"--dropout", "0.4"},
      {"--drop-parts", "0"}, {"--decay", "0.5"},   {"--unknown", "10"},
      {"--inputs", "text"},  {"--split", "8/1/1"}, {"--learning-rate", "0.001"},
      {"--split-seed", "2"}};
  for (const std::vector<std::string>& other : others) {
    INFO(nlp::join(other, " "));
    CHECK(losses("c", with(other, {"--force"})) != plain);
  }
}

TEST_CASE("Emoji: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  REQUIRE(run(shop.folder, shop.train_command("whole", "4")).code == 0);
  REQUIRE(run(shop.folder, shop.train_command("parts", "2")).code == 0);
  const auto same_file = [&](const std::string& a, const std::string& b) {
    return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
  };
  CHECK_FALSE(same_file("parts.checkpoint", "whole.checkpoint"));
  const std::vector<std::string> go_on = {
      "train",    "--train", shop.train, "--dev", shop.dev, "--model", shop.folder.path("parts"),
      "--epochs", "4",       "--resume"};
  const Result resumed = run(shop.folder, go_on);
  INFO(resumed.out + resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(same_file("parts", "whole"));
  CHECK(same_file("parts.checkpoint", "whole.checkpoint"));
  kEmoji.check_refused(run(shop.folder, with(go_on, {"--drop-parts", "0"})),
                       "began with --drop-parts 0.5: it cannot go on with 0");
  kEmoji.check_refused(run(shop.folder, with(go_on, {"--inputs", "text"})),
                       "began with --inputs image,text,table: it cannot go on with text");
  kEmoji.check_refused(run(shop.folder, replaced(go_on, "--train", shop.test)),
                       "began with other training data");
}

TEST_CASE("Emoji: one file cut in three, and its parts found again") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  for (const std::vector<std::string>& split :
       {std::vector<std::string>{}, {"--split", "50/20/30", "--split-seed", "7", "--force"}}) {
    const Result trained = run(shop.folder, with({"train", "--train", shop.train, "--model", model,
                                                  "--filters", "2", "--epochs", "1"},
                                                 split));
    INFO(trained.out + trained.err);
    REQUIRE(trained.code == 0);
    const Result test = run(shop.folder, {"eval", "-m", model, "-d", shop.train, "--part", "test"});
    CHECK(contains(trained.out, "\n" + test.out));
    CHECK(contains(test.out, "test: "));
    const Result said =
        run(shop.folder, {"predict", "-m", model, "-i", shop.train, "--part", "test"});
    CHECK(numbers_of(test.out).at(0) ==
          static_cast<double>(std::count(said.out.begin(), said.out.end(), '\n')));
  }
}

TEST_CASE("Emoji: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    kEmoji.check_refused(run(folder, arguments), message);
  };
  const auto train_on = [&](const std::string& file) {
    return std::vector<std::string>{"train", "--train", file, "--model", folder.path("never")};
  };
  refused(train_on("/nowhere"), "cannot open /nowhere: No such file or directory");
  refused(train_on(folder.write("empty", "")), "empty holds no sample");
  refused(train_on(folder.write("bad", "{\"group\": 1}\n")), "bad:1: expected a text as \"group\"");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());
  refused({}, "no command: expected gather, train, eval or predict");
  refused(with(shop.train_command("m", "1"), {"--inputs", "sound"}),
          "unknown part 'sound': expected image, text or table");
  refused(with(shop.train_command("m", "1"), {"--split", "8/1/1"}), "--split");
  refused(with(shop.train_command("m", "1"), {"--split-seed", "x"}), "--split-seed");
  for (const char* option : {"--dropout", "--drop-parts", "--filters", "--hidden", "--word"}) {
    for (const char* wrong : {"nan", "-1", "1e9", "", "0.5x"})
      refused(with(shop.train_command("m", "1"), {option, wrong}), option);
  }
  REQUIRE(run(folder, shop.train_command("good", "1")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kEmoji, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", shop.test});
  });
  refused({"eval", "-m", good, "-d", shop.test, "--part", "test"},
          "--part test needs a model trained with --split");
  const std::string larger =
      "{\"image\": \"" + std::string(std::size_t{16} * 16 * 8, '0') + "\"}\n";
  refused({"predict", "-m", good, "-i", folder.write("larger", larger)},
          "has 16 lines, those that the model knows have 8");
  refused({"predict", "-m", good, "-i", shop.test, "--sheet", shop.test}, "--sheet");
  refused({"gather", "--font", "/nowhere.ttf", "--unicode", "/nowhere", "-o", folder.path("x")},
          "there is no file /nowhere/emoji/emoji-test.txt: the Debian package unicode-data has it");
  CHECK_FALSE(std::ifstream(folder.path("x")).good());
}

TEST_CASE("Emoji: learned from the packages, the whole beats each part (slow)") {
  const emoji::Sources s;
  if (!std::filesystem::exists(s.unicode + "/emoji/emoji-test.txt") ||
      !std::filesystem::exists(s.cldr + "/common/annotations/en.xml") ||
      !std::filesystem::exists(s.font)) {
    skip("needs unicode-data, unicode-cldr-core and fonts-noto-color-emoji");
    return;
  }
  const TemporaryFolder folder;
  const std::string data = folder.path("emoji.jsonl");
  const Result gathered = run(folder, {"gather", "--size", "16", "--out", data});
  INFO(gathered.err);
  REQUIRE(gathered.code == 0);
  const Result trained = run(folder, {"train", "--train", data, "--model", folder.path("model"),
                                      "--filters", "8", "--epochs", "20"});
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  const std::string test = from(trained.out, "\ntest: ");
  const std::vector<double> all = accuracies(test, "image,text,table");
  for (const char* part : {"image", "text", "table", "most frequent"}) {
    CHECK(all.at(0) > accuracies(test, part).at(0) + 5);
    CHECK(all.at(1) > accuracies(test, part).at(1) + 5);
  }
}

}  // namespace emoji_run_test

#else

#include "tests/support/catch.h"

TEST_CASE("Emoji: the program") {
  skip("the program emoji is not built without FreeType, HarfBuzz and pugixml");
}

#endif
