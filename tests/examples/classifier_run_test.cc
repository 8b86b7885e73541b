// The classifier as its user meets it: the program itself, in processes of its own.

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace classifier_run_test {

namespace {

const Program kClassifier{"classifier", CLASSIFIER_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kClassifier.run(folder, arguments, input);
}

void check_refused(const Result& result, const std::string& message) {
  kClassifier.check_refused(result, message);
}

/// Texts of which only the order of two words tells the label: "do you" asks, "you do" says.
std::string texts(unsigned count, unsigned seed) {
  static const std::vector<std::string> kOthers = {"now", "then", "here", "there", "well", "so"};
  Dice dice(seed);
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    const bool asks = dice.below(5) < 3;
    std::vector<std::string> words;
    for (unsigned k = dice.below(4); k > 0; --k) words.push_back(dice.one_of(kOthers));
    words.push_back(asks ? "Do you" : "you do");
    for (unsigned k = dice.below(4); k > 0; --k) words.push_back(dice.one_of(kOthers));
    all += (asks ? "question\t" : "plain statement\t") + nlp::join(words, " ") + "\n";
  }
  return all;
}

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = folder.write("train.txt", texts(300, 1));
  std::string dev = folder.write("dev.txt", texts(60, 2));
  std::string test = folder.write("test.txt", texts(60, 3));

  std::vector<std::string> train_command(const std::string& model,
                                         const std::string& epochs) const {
    return {"train",
            "--train",
            train,
            "--dev",
            dev,
            "--model",
            folder.path(model),
            "--word",
            "8",
            "--hidden",
            "8",
            "--filters",
            "8",
            "--batch",
            "8",
            "--learning-rate",
            "0.01",
            "--dropout",
            "0.1",
            "--epochs",
            epochs};
  }
};

}  // namespace

TEST_CASE("Classifier: train, score in a fresh process, classify") {
  const Workshop shop;
  for (const std::string encoder : {"lstm", "cnn", "both"}) {
    INFO(encoder);
    const std::string model = shop.folder.path(encoder);
    const Result trained = run(shop.folder, with(shop.train_command(encoder, "8"),
                                                 {"--test", shop.test, "--encoder", encoder}));
    INFO(trained.out + trained.err);
    REQUIRE(trained.code == 0);
    CHECK(contains(trained.out, "train: 300 texts, "));
    CHECK(contains(trained.out, " words, 2 labels\n"));
    CHECK(contains(trained.out, "dev: 60 texts, "));
    CHECK(contains(trained.out, "model: 9 words of 8, "));
    CHECK(contains(trained.out, "LSTM of 2 x 8") == (encoder != "cnn"));
    CHECK(contains(trained.out, "convolutions of 3 x 8") == (encoder != "lstm"));
    CHECK(contains(trained.out, "epoch 1: loss "));
    CHECK(contains(trained.err, "texts/s"));

    const Result scored =
        run(shop.folder, {"eval", "--model", model, "--data", shop.test, "--show", "2"});
    REQUIRE(scored.code == 0);
    const std::string wanted = line_with(from(trained.out, "\ntest:"), "  classifier");
    CHECK(line_with(scored.out, "  classifier") == wanted);
    CHECK(numbers_of(wanted).at(0) > 95);
    const double trivial = numbers_of(line_with(scored.out, "most frequent label")).at(0);
    CHECK(trivial > 45);
    CHECK(trivial < 75);
    CHECK(contains(scored.out, "  right:     ") == (numbers_of(wanted).at(0) < 100));

    const std::string input = "so  do you  here\r\n\nYOU do, well\n";
    const Result labelled = run(shop.folder, {"classify", "--model", model}, input);
    REQUIRE(labelled.code == 0);
    const std::vector<std::string> lines = nlp::split_fields(labelled.out, '\n');
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].rfind("question\tquestion:", 0) == 0);
    CHECK(nlp::split_fields(lines[0], '\t').back() == "so do you here");
    CHECK(lines[1].empty());
    const std::vector<std::string> fields = nlp::split_fields(lines[2], '\t');
    REQUIRE(fields.size() == 3);
    CHECK(fields[2] == "YOU do, well");
    const std::string in = shop.folder.write("in.txt", input), out = shop.folder.path("out.txt");
    CHECK(run(shop.folder, {"classify", "-m", model, "-i", in, "-o", out}).code == 0);
    CHECK(read_file(out) == labelled.out);
  }
}

TEST_CASE("Classifier: all probabilities, the most probable label first") {
  const Workshop shop;
  const std::string data = shop.folder.write("three", "a\tx\nb\ty\nc\tz\nc\tz\nc\tz\n");
  const std::string model = shop.folder.path("model");
  REQUIRE(run(shop.folder, {"train", "--train", data, "--model", model, "--epochs", "20"}).code ==
          0);
  const std::string line = run(shop.folder, {"classify", "-m", model}, "z\n").out;
  const std::vector<std::string> fields = nlp::split_fields(line, '\t');
  REQUIRE(fields.size() == 3);
  CHECK(fields[0] == "c");
  double sum = 0, last = 1;
  for (const std::string& each : nlp::split_words(fields[1])) {
    const double p = std::strtod(each.c_str() + 2, nullptr);
    CHECK(p <= last);
    sum += last = p;
  }
  CHECK(sum == Approx(1).margin(0.0016));
  CHECK(fields[1].rfind("c:0.", 0) == 0);
}

TEST_CASE("Classifier: the same options give the same run, others another one") {
  const Workshop shop;
  const auto losses = [&](const std::string& model, const std::vector<std::string>& more) {
    return losses_of(run(shop.folder, with({"train", "--train", shop.dev, "--model",
                                            shop.folder.path(model), "--epochs", "2"},
                                           more)),
                     2);
  };
  const std::string plain = losses("a", {});
  CHECK(losses("b", {"--seed", "1"}) == plain);
  CHECK((read_file(shop.folder.path("a")) == read_file(shop.folder.path("b"))));
  const std::vector<std::vector<std::string>> others = {
      {"--seed", "2"},      {"--word", "90"},
      {"--hidden", "60"},   {"--filters", "60"},
      {"--batch", "15"},    {"--clip", "0.01"},
      {"--dropout", "0.4"}, {"--decay", "0.5"},
      {"--unknown", "10"},  {"--keep-case"},
      {"--encoder", "cnn"}, {"--encoder", "lstm"},
      {"--split", "8/1/1"}, {"--learning-rate", "0.001"}};
  for (const std::vector<std::string>& other : others) {
    INFO(nlp::join(other, " "));
    CHECK(losses("c", with(other, {"--force"})) != plain);
  }
}

TEST_CASE("Classifier: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  REQUIRE(run(shop.folder, with(shop.train_command("whole", "4"), {"--decay", "0.9"})).code == 0);
  REQUIRE(run(shop.folder, with(shop.train_command("parts", "2"), {"--decay", "0.9"})).code == 0);
  const auto same_file = [&](const std::string& a, const std::string& b) {
    return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
  };
  CHECK_FALSE(same_file("parts.checkpoint", "whole.checkpoint"));
  // Options that are left out come from the checkpoint.
  const std::vector<std::string> go_on = {
      "train",    "--train", shop.train, "--dev", shop.dev, "--model", shop.folder.path("parts"),
      "--epochs", "4",       "--resume"};
  const Result resumed = run(shop.folder, go_on);
  INFO(resumed.out + resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(contains(resumed.out, "resuming after epoch 2\n"));
  CHECK_FALSE(contains(resumed.out, "epoch 2: loss"));
  CHECK(same_file("parts", "whole"));
  CHECK(same_file("parts.checkpoint", "whole.checkpoint"));

  check_refused(run(shop.folder, with(go_on, {"--encoder", "cnn"})),
                "began with --encoder both: it cannot go on with cnn");
  check_refused(run(shop.folder, with(go_on, {"--filters", "9"})),
                "began with --filters 8: it cannot go on with 9");
  check_refused(run(shop.folder, replaced(go_on, "--train", shop.test)),
                "began with other training data");
}

TEST_CASE("Classifier: a run stopped by the clock goes on where it was") {
  const Workshop shop;
  check_stopped_by_clock(
      [&](const std::string& model, const std::vector<std::string>& more) {
        return run(shop.folder, with(shop.train_command(model, "3"), more));
      },
      [&](const std::string& model) {
        return run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.dev}).out;
      });
}

TEST_CASE("Classifier: one file cut in three, and its parts found again") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  const Result trained = run(shop.folder, {"train", "--train", shop.train, "--split", "80/10/10",
                                           "--model", model, "--epochs", "1"});
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  const Result test = run(shop.folder, {"eval", "-m", model, "-d", shop.train, "--part", "test"});
  CHECK(contains(trained.out, "\n" + test.out));
  CHECK(contains(test.out, "test: "));
}

TEST_CASE("Classifier: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto train_on = [&](const std::string& file) {
    return run(folder, {"train", "--train", file, "--model", folder.path("never")});
  };
  check_refused(train_on("/nowhere.txt"), "cannot open /nowhere.txt: No such file or directory");
  check_refused(train_on(folder.write("empty", "")), "empty holds no sample");
  check_refused(train_on(folder.write("bad", "a\tfine\nno tab\n")),
                "bad:2: expected a label, a tab and a text, found no tab in 'no tab'");
  check_refused(train_on(folder.write("no-label", "a\tfine\n\tx\n")), "no-label:2: ");
  check_refused(train_on(folder.write("no-text", "a\tfine\nb\t\n")), "no-text:2: ");
  check_refused(train_on(folder.write("one", "a\tx\na\ty\n")),
                "one has no label but 'a': there is nothing to tell apart");
  check_refused(train_on("/"), "is it a directory?");
  check_refused(
      run(folder, replaced(shop.train_command("never", "1"), "--dev", folder.path("bad"))),
      "bad:2: expected a label");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());

  check_refused(run(folder, {}), "no command: expected train, eval or classify");
  check_refused(run(folder, {"fly"}), "unknown command 'fly': expected train, eval or classify");
  check_refused(run(folder, {"train", "--train", shop.train}), "--model");
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--encoder", "bert"})),
                "unknown encoder 'bert': expected lstm, cnn or both");
  const std::vector<std::string> plain = {"train",          "--train",  shop.dev, "--model",
                                          folder.path("m"), "--epochs", "1"};
  for (const char* option : {"--dropout", "--filters", "--hidden", "--word", "--batch"}) {
    for (const char* wrong : {"nan", "-1", "1e9", "", "0.5x"}) {
      check_refused(run(folder, with(plain, {option, wrong})), option);
    }
  }
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--resume"})), "m.checkpoint");
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--split", "8/1/1"})), "--split");

  REQUIRE(run(folder, shop.train_command("good", "1")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kClassifier, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", shop.test});
  });
  check_refused(run(folder, {"eval", "-m", good, "-d", folder.path("bad")}), "bad:2: ");
  check_refused(run(folder, {"eval", "-m", good, "-d", shop.test, "--part", "test"}),
                "--part test needs a model trained with --split");
  check_refused(run(folder, {"classify", "-m", good, "-i", "/nowhere.txt"}),
                "cannot open /nowhere.txt");
  check_refused(run(folder, {"classify", "-m", good, "-o", "/nowhere/out"}, "a\n"),
                "cannot save /nowhere/out");
  const Result unknown =
      run(folder, {"eval", "-m", good, "-d", folder.write("new", "question\tdo you\nnew\tx\n")});
  CHECK(contains(unknown.out, "2 texts, 1 with a label that training did not have\n"));
}

TEST_CASE("Classifier: intents of voice commands, better than naive Bayes (slow)") {
  const char* const data = std::getenv("DYNET_DATA");
  if (data == nullptr) {
    skip("DYNET_DATA names no folder with snips");
    return;
  }
  const TemporaryFolder folder;
  std::string files[3];
  const char* const parts[] = {"train", "valid", "test"};
  for (int i = 0; i < 3; ++i) {
    const std::string part = std::string(data) + "/snips/" + parts[i];
    std::ifstream labels(part + "/label"), words(part + "/seq.in");
    std::string text;
    for (std::string label, line; std::getline(labels, label) && std::getline(words, line);)
      text += label + "\t" + line + "\n";
    files[i] = folder.write(parts[i], text);
  }
  const Result result = run(folder, {"train", "--train", files[0], "--dev", files[1], "--test",
                                     files[2], "--model", folder.path("model"), "--epochs", "4"});
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  const std::string test = from(result.out, "\ntest:");
  CHECK(numbers_of(line_with(test, "  classifier")).at(0) > 96.7);
  CHECK(numbers_of(line_with(test, "most frequent label")).at(0) == Approx(12.29));
}

}  // namespace classifier_run_test
