// The program digits as its user meets it: in processes of its own.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "examples/nlp/common/text.h"
#include "tests/examples/digits_data.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace digits_run_test {

namespace {

const Program kDigits{"digits", DIGITS_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return kDigits.run(folder, arguments);
}

void check_refused(const Result& result, const std::string& message) {
  kDigits.check_refused(result, message);
}

/// Shades of a picture of 8x8 with a line somewhere: 0 is upright, 1 lies, 3 is oblique.
std::vector<unsigned> shades(unsigned label, Dice& dice) {
  std::vector<unsigned> all(64);
  for (unsigned& shade : all) shade = dice.below(60);
  const unsigned at = 2 + dice.below(4);
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned row = label == 0 ? k : label == 1 ? at : k;
    const unsigned column = label == 0 ? at : label == 1 ? k : (k + at) % 8;
    all[row * 8 + column] = 180 + dice.below(70);
  }
  return all;
}

const unsigned kLabels[] = {0, 1, 3};

/// A pair of IDX files, as --train has them.
std::string pictures(const TemporaryFolder& folder, const std::string& name, unsigned count,
                     unsigned seed) {
  Dice dice(seed);
  std::vector<unsigned> all, labels;
  for (unsigned i = 0; i < count; ++i) {
    labels.push_back(kLabels[i % 3]);
    for (const unsigned shade : shades(labels.back(), dice)) all.push_back(shade);
  }
  return folder.write(name + "-images", idx({count, 8, 8}, all)) + ":" +
         folder.write(name + "-labels", idx({count}, labels));
}

std::string pgm(unsigned label, unsigned seed, bool inverted = false) {
  Dice dice(seed);
  std::string text = "P5 8 8 255\n";
  for (const unsigned shade : shades(label, dice))
    text += static_cast<char>(inverted ? 255 - shade : shade);
  return text;
}

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = pictures(folder, "train", 240, 1);
  std::string dev = pictures(folder, "dev", 60, 2);
  std::string test = pictures(folder, "test", 60, 3);

  std::vector<std::string> train_command(const std::string& model,
                                         const std::string& epochs) const {
    return {"train",
            "--train",
            train,
            "--dev",
            dev,
            "--model",
            folder.path(model),
            "--channels",
            "4",
            "--batch",
            "16",
            "--learning-rate",
            "0.01",
            "--dropout",
            "0.1",
            "--shift",
            "1",
            "--epochs",
            epochs};
  }
};

}  // namespace

TEST_CASE("Digits: train, score in a fresh process, draw, classify") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const std::string model = folder.path("model");
  const Result trained = run(folder, with(shop.train_command("model", "8"), {"--test", shop.test}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 240 pictures of 8x8, 3 labels\n"));
  CHECK(contains(trained.out, "dev: 60 pictures\n"));
  CHECK(contains(trained.out, "model: ten convolutions of 4 and 8 channels, "));
  CHECK(contains(trained.err, "pictures/s"));

  const std::string svg = folder.path("drawing.svg");
  const Result scored = run(folder, {"eval", "--model", model, "--data", shop.test, "--confusion",
                                     "--per-label", "--pictures", svg});
  INFO(scored.out + scored.err);
  REQUIRE(scored.code == 0);
  const std::string wanted = line_with(from(trained.out, "\ntest:"), "  digits");
  CHECK(line_with(scored.out, "  digits") == wanted);
  CHECK(numbers_of(wanted).at(0) > 90);
  CHECK(numbers_of(line_with(scored.out, "most frequent label")).at(0) == Approx(33.33));
  const std::string drawing = read_file(svg);
  CHECK(drawing.rfind("<svg ", 0) == 0);
  CHECK(contains(drawing, "</svg>"));
  const Result json = run(folder, {"eval", "-m", model, "-d", shop.test, "--json"});
  CHECK(contains(json.out, "\"accuracy\""));

  std::vector<std::string> command = {"classify", "--model", model};
  for (const unsigned label : kLabels)
    command.push_back(folder.write(std::to_string(label) + ".pgm", pgm(label, 7)));
  const Result labelled = run(folder, command);
  INFO(labelled.out + labelled.err);
  REQUIRE(labelled.code == 0);
  const std::vector<std::string> lines = nlp::split_fields(labelled.out, '\n');
  REQUIRE(lines.size() == 4);
  for (unsigned i = 0; i < 3; ++i) {
    const std::vector<std::string> fields = nlp::split_fields(lines[i], '\t');
    REQUIRE(fields.size() == 3);
    CHECK(fields[0] == std::to_string(kLabels[i]));
    CHECK(fields[2] == command[3 + i]);
    double sum = 0, last = 1;
    for (const std::string& each : nlp::split_words(fields[1])) {
      const double p = std::strtod(each.c_str() + 2, nullptr);
      CHECK(p <= last);
      sum += last = p;
    }
    CHECK(sum == Approx(1).margin(0.0016));
  }
  CHECK(run(folder, with(command, {"--threads", "2"})).out == labelled.out);
  CHECK(run(folder, with(command, {"-o", folder.path("out")})).code == 0);
  CHECK(read_file(folder.path("out")) == labelled.out);
  const std::string ink = folder.write("1.pgm", pgm(1, 7, true));
  const Result inverted = run(folder, {"classify", "-m", model, "--invert", "--json", ink});
  CHECK(contains(inverted.out, "\"label\":\"1\""));
}

TEST_CASE("Digits: the same options give the same run, others another one") {
  const Workshop shop;
  const auto losses = [&](const std::string& model, const std::vector<std::string>& more) {
    return losses_of(
        run(shop.folder, with({"train", "--train", shop.dev, "--channels", "4", "--model",
                               shop.folder.path(model), "--epochs", "2", "--batch", "8"},
                              more)),
        2);
  };
  const std::string plain = losses("a", {});
  CHECK(losses("b", {"--seed", "1"}) == plain);
  CHECK((read_file(shop.folder.path("a")) == read_file(shop.folder.path("b"))));
  const std::vector<std::vector<std::string>> others = {
      {"--seed", "2"},   {"--clip", "0.01"}, {"--shift", "0"},     {"--dropout", "0.5"},
      {"--mirror"},      {"--size", "9x7"},  {"--split", "8/1/1"}, {"--learning-rate", "0.001"},
      {"--decay", "0.5"}};
  for (const std::vector<std::string>& other : others) {
    INFO(nlp::join(other, " "));
    CHECK(losses("c", with(other, {"--force"})) != plain);
  }
}

TEST_CASE("Digits: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  const auto train = [&](const std::string& model, const std::string& epochs) {
    return run(shop.folder, with(shop.train_command(model, epochs), {"--size", "9x10"}));
  };
  REQUIRE(train("whole", "3").code == 0);
  REQUIRE(train("parts", "2").code == 0);
  // Options that are left out, such as --size, come from the checkpoint.
  const std::vector<std::string> go_on = {
      "train",    "--train", shop.train, "--dev", shop.dev, "--model", shop.folder.path("parts"),
      "--epochs", "3",       "--resume"};
  const Result resumed = run(shop.folder, go_on);
  INFO(resumed.out + resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(contains(resumed.out, "resuming after epoch 2\n"));
  CHECK(contains(resumed.out, "pictures of 9x10"));
  CHECK((read_file(shop.folder.path("parts")) == read_file(shop.folder.path("whole"))));
  check_refused(run(shop.folder, with(go_on, {"--channels", "5"})),
                "began with --channels 4: it cannot go on with 5");
  check_refused(run(shop.folder, replaced(go_on, "--train", shop.test)),
                "began with other training data");
}

TEST_CASE("Digits: a cross-validation scores each picture once") {
  const Workshop shop;
  std::vector<std::string> command = {
      "train",      "--train", shop.train, "--folds", "3",        "--model", shop.folder.path("m"),
      "--channels", "4",       "--batch",  "16",      "--epochs", "3"};
  const Result result = run(shop.folder, command);
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "fold 3 of 3\ntrain: 160 pictures"));
  const std::string all = from(result.out, "\nall folds: 240 pictures\n");
  double mean = 0;
  std::istringstream lines(result.out.substr(0, result.out.find("all folds")));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  digits", 0) == 0) mean += numbers_of(line).at(0) / 3;
  }
  CHECK(numbers_of(line_with(all, "  digits")).at(0) == Approx(mean).margin(0.02));
  for (const char* fold : {"m.1", "m.2", "m.3"})
    CHECK(run(shop.folder, {"eval", "-m", shop.folder.path(fold), "-d", shop.test}).code == 0);
  CHECK_FALSE(std::ifstream(shop.folder.path("m")).good());
  check_refused(run(shop.folder, command), "m.1 exists: ");
  check_refused(run(shop.folder, with(command, {"--dev", shop.dev})), "--folds");
  check_refused(run(shop.folder, with(replaced(command, "--folds", "1000"), {"--force"})),
                "too few for 1000 folds");
}

TEST_CASE("Digits: a model learns more, of pictures in another size") {
  const Workshop shop;
  REQUIRE(run(shop.folder, shop.train_command("old", "2")).code == 0);
  const std::filesystem::path pictures = shop.folder.path("folder");
  for (const unsigned label : kLabels) {
    std::filesystem::create_directories(pictures / std::to_string(label));
    shop.folder.write("folder/" + std::to_string(label) + "/one.pgm", "P2 2 2 9\n1 2 3 4");
  }
  const Result more =
      run(shop.folder, {"train", "--train", pictures.string(), "--model", shop.folder.path("new"),
                        "--init", shop.folder.path("old"), "--epochs", "1"});
  INFO(more.out + more.err);
  REQUIRE(more.code == 0);
  CHECK(contains(more.out, "train: 3 pictures of 8x8, 3 labels"));
  std::filesystem::create_directories(pictures / "x");
  shop.folder.write("folder/x/one.pgm", "P2 2 2 9\n1 2 3 4");
  check_refused(run(shop.folder, {"train", "--train", pictures.string(), "--model",
                                  shop.folder.path("never"), "--init", shop.folder.path("old")}),
                "the model has no label 'x'");
}

TEST_CASE("Digits: labels come as pictures do, however many there are") {
  const Workshop shop;
  REQUIRE(run(shop.folder, shop.train_command("model", "1")).code == 0);
  shop.folder.write("0.pgm", pgm(0, 7));
  // The last one of them is a pipe that is filled once there are labels, or after ten seconds.
  const Result talk = Program{"sh", "/bin/sh"}.run(
      shop.folder,
      {"-c", "cd '" + shop.folder.path("") + "'; mkfifo last; '" + kDigits.binary +
                 "' classify -m model $(yes ./0.pgm | head -n 3000) last > labels & "
                 "for i in $(seq 200); do test -s labels && break; sleep 0.05; done; "
                 "test -s labels || touch late; cat 0.pgm > last; wait; wc -l < labels; "
                 "! test -e late"});
  CHECK(talk.code == 0);
  CHECK(talk.out == "3001\n");
}

TEST_CASE("Digits: data from which nothing can be learned are warned of") {
  const Workshop shop;
  const auto err = [&](const std::vector<std::string>& arguments) {
    const Result result = run(shop.folder, with(arguments, {"--force"}));
    INFO(result.out + result.err);
    REQUIRE(result.code == 0);
    return result.err;
  };
  CHECK_FALSE(contains(err(shop.train_command("m", "1")), "warning"));
  CHECK(contains(err(replaced(shop.train_command("m", "1"), "--shift", "8")),
                 "warning: --shift 8 moves pictures of 8x8 out of sight\n"));
  CHECK(contains(err(replaced(shop.train_command("m", "1"), "--dev", shop.train)),
                 " is the same as the training data: "));
  const std::string same = shop.folder.write("i", idx({4, 1, 1}, {5, 5, 5, 5})) + ":" +
                           shop.folder.write("l", idx({4}, {1, 2, 1, 2}));
  CHECK(contains(err({"train", "--train", same, "--model", shop.folder.path("m"), "--size", "8x8",
                      "--epochs", "1"}),
                 " are the same: there is nothing to tell apart\n"));
}

TEST_CASE("Digits: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto train_on = [&](const std::string& file) {
    return run(folder, {"train", "--train", file, "--model", folder.path("never")});
  };
  check_refused(train_on("/nowhere"), "cannot open /nowhere: No such file or directory");
  check_refused(train_on(folder.write("bad", "1 2 3\n")), "bad:1: expected 64 or 256 pixels");
  check_refused(
      train_on(folder.write("i", idx({1, 1, 1}, {5})) + ":" + folder.write("l", idx({1}, {4}))),
      "has no label but '4': there is nothing to tell apart");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());
  check_refused(run(folder, {}), "no command: expected train, eval or classify");
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--format", "jpeg"})),
                "unknown format 'jpeg': expected auto, idx, semeion, optdigits or folder");
  for (const char* option :
       {"--dropout", "--channels", "--shift", "--size", "--folds", "--batch"}) {
    for (const char* wrong : {"nan", "-1", "1e9", "", "0.5x"}) {
      const std::vector<std::string> plain = {"train", "--train", shop.dev, "--model",
                                              folder.path("m")};
      check_refused(run(folder, with(plain, {option, wrong})), option);
    }
  }
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--encoding", "latin1"})),
                "--encoding");
  REQUIRE(run(folder, shop.train_command("good", "1")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kDigits, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", shop.test});
  });
  check_refused(run(folder, {"eval", "-m", good, "-d", shop.test, "--part", "test"}),
                "--part test needs a model trained with --split");
  check_refused(run(folder, {"classify", "-m", good}), "FILE");
  check_refused(run(folder, {"classify", "-m", good, folder.write("x", "x")}),
                "x is no picture in the format ");
  check_refused(run(folder, {"classify", "-m", good, folder.path("x"), "-o", folder.path("x")}),
                "x");
  check_refused(run(folder, {"eval", "-m", good, "-d", shop.test, "--pictures", good}), "good");
}

TEST_CASE("Digits: handwriting of people whose digits it has not seen (slow)") {
  const char* const data = std::getenv("DYNET_DATA");
  if (data == nullptr) {
    skip("DYNET_DATA names no folder with optdigits");
    return;
  }
  const TemporaryFolder folder;
  const std::string files = std::string(data) + "/optdigits/optdigits.";
  const Result result = run(
      folder, {"train", "--train", files + "tra", "--test", files + "tes", "--batch", "32",
               "--shift", "1", "--epochs", "6", "--decay", "0.6", "--model", folder.path("model")});
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  CHECK(numbers_of(line_with(from(result.out, "\ntest:"), "  digits")).at(0) > 96.5);
}

}  // namespace digits_run_test
