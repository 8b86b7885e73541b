// The tree-LSTM as its user meets it: the program itself, in processes of its own.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "examples/nlp/treelstm/trees.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace treelstm_run_test {

namespace {

const Program kTreeLstm{"treelstm", TREELSTM_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kTreeLstm.run(folder, arguments, input);
}

void check_refused(const Result& result, const std::string& message) {
  kTreeLstm.check_refused(result, message);
}

/// Trees of a small language: "not" turns what it stands before into its opposite, "very" makes it
/// stronger, and of two other phrases the second one counts, unless it is neutral.
class Language : Dice {
 public:
  explicit Language(unsigned seed) : Dice(seed) {}

  std::string trees(unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) text += phrase(4).text + "\n";
    return text;
  }

 private:
  struct Phrase {
    unsigned label;
    std::string text;
  };

  static Phrase joined(unsigned label, const std::string& left, const std::string& right) {
    return {label, "(" + std::to_string(label) + " " + left + " " + right + ")"};
  }

  Phrase phrase(unsigned depth) {
    static const std::vector<Phrase> kWords = {{4, "(4 great)"}, {3, "(3 good)"}, {3, "(3 nice)"},
                                               {1, "(1 bad)"},   {1, "(1 dull)"}, {0, "(0 awful)"},
                                               {2, "(2 film)"},  {2, "(2 the)"}};
    if (depth == 0) return one_of(kWords);
    switch (below(4)) {
      case 0: {
        const Phrase rest = phrase(depth - 1);
        return joined(4 - rest.label, "(2 not)", rest.text);
      }
      case 1: {
        const Phrase rest = phrase(depth - 1);
        return joined(rest.label > 2 ? 4 : rest.label < 2 ? 0 : 2, "(2 very)", rest.text);
      }
      default: {
        const Phrase left = phrase(depth - 1), right = phrase(below(depth));
        return joined(right.label == 2 ? left.label : right.label, left.text, right.text);
      }
    }
  }
};

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = folder.write("train.txt", Language(1).trees(300));
  std::string dev = folder.write("dev.txt", Language(2).trees(60));
  std::string test = folder.write("test.txt", Language(3).trees(60));

  std::vector<std::string> train_command(const std::string& model) const {
    return {"train",  "--train", train,      "--dev",   dev,         "--model", folder.path(model),
            "--word", "12",      "--hidden", "16",      "--dropout", "0.1",     "--learning-rate",
            "0.01",   "--batch", "4",        "--epochs"};
  }
  std::vector<std::string> train_command(const std::string& model,
                                         const std::string& epochs) const {
    return with(train_command(model), {epochs});
  }
};

}  // namespace

TEST_CASE("Tree-LSTM: train, score in a fresh process, classify") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  const Result trained =
      run(shop.folder, with(shop.train_command("model", "12"), {"--test", shop.test}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 300 trees, "));
  CHECK(contains(trained.out, "dev: 60 trees, "));
  CHECK(contains(trained.out, "model: 11 words of 12, hidden 16, "));
  CHECK(contains(trained.out, "epoch 1: loss "));
  CHECK(contains(trained.err, "epoch 1: 50 % ("));
  CHECK(contains(trained.err, "trees/s"));

  const Result scored = run(
      shop.folder, {"eval", "--model", model, "--data", shop.test, "--confusion", "--show", "2"});
  REQUIRE(scored.code == 0);
  const std::string wanted = line_with(from(trained.out, "\ntest:"), "  tree-LSTM");
  CHECK(line_with(scored.out, "  tree-LSTM") == wanted);
  const std::vector<double> good = numbers_of(wanted);
  const std::vector<double> trivial = numbers_of(line_with(scored.out, "most frequent label"));
  REQUIRE(good.size() == 4);
  REQUIRE(trivial.size() == 4);
  CHECK(good[0] > 90);
  CHECK(good[2] > 95);
  CHECK(trivial[0] < 50);
  CHECK(trivial[2] < 60);

  // Rows of the matrix add up to the trees of a label, its diagonal to the right ones. No tree is
  // neutral, and none is taken for that.
  double right = 0, trees = 0;
  const std::vector<std::string> names = {"0 very negative", "1 negative", "3 positive",
                                          "4 very positive"};
  for (std::size_t label = 0; label < names.size(); ++label) {
    const std::string& name = names[label];
    const std::string row = from(line_with(from(scored.out, "roots: "), "  " + name), name);
    const std::vector<double> counts = numbers_of(row.substr(name.size()));
    REQUIRE(counts.size() == names.size() + 1);
    for (std::size_t i = 0; i < names.size(); ++i) trees += counts[i];
    right += counts[label];
  }
  CHECK_FALSE(contains(from(scored.out, "roots: "), "  2 neutral"));
  CHECK(trees == 60);
  CHECK(100 * right / trees == Approx(good[0]).margin(0.01));
  CHECK(contains(scored.out, "\n  right:     "));
  CHECK(contains(scored.out, "\n  predicted: "));

  // The same words in two trees: the bracket decides what "not" stands before.
  const std::string input =
      "(0 (0 not) (0 (0 good) (0 bad)))\r\n"
      "(0 (0 (0 not) (0 good)) (0 bad))\n"
      "\n"
      "not  very GOOD\n";
  const Result right_shape =
      run(shop.folder, {"classify", "--model", model, "--shape", "right"}, input);
  INFO(right_shape.out);
  REQUIRE(right_shape.code == 0);
  const std::vector<std::string> lines = nlp::split_fields(right_shape.out, '\n');
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].rfind("3\tpositive\t", 0) == 0);
  CHECK(lines[1].rfind("1\tnegative\t", 0) == 0);
  CHECK(lines[2].empty());
  CHECK(lines[3].rfind("0\tvery negative\t", 0) == 0);
  const std::vector<std::string> fields = nlp::split_fields(lines[3], '\t');
  REQUIRE(fields.size() == 4);
  CHECK(fields[3] == "not very GOOD");
  const std::vector<double> probabilities = numbers_of(fields[2]);
  REQUIRE(probabilities.size() == 5);
  double sum = 0;
  for (const double p : probabilities) sum += p;
  CHECK(sum == Approx(1).margin(0.0026));
  CHECK(probabilities[0] > 0.5);

  const std::string in = shop.folder.write("in.txt", input);
  const std::string out = shop.folder.path("out.txt");
  CHECK(run(shop.folder, {"classify", "-m", model, "-i", in, "-o", out, "--shape", "right"}).code ==
        0);
  CHECK(read_file(out) == right_shape.out);
  const std::string as_trees =
      run(shop.folder, {"classify", "-m", model, "--trees", "--shape", "right"}, input).out;
  CHECK(contains(as_trees, "\t(3 (2 not) (1 (3 good) (1 bad)))\n"));
  CHECK(contains(as_trees, "\t(0 (2 not) (4 (2 very) (3 GOOD)))\n"));
}

TEST_CASE("Tree-LSTM: what is a tree, and what a sentence") {
  const Workshop shop;
  REQUIRE(run(shop.folder, shop.train_command("model", "1")).code == 0);
  const auto classify = [&](const std::string& line, const std::vector<std::string>& more) {
    return run(shop.folder, with({"classify", "-m", shop.folder.path("model"), "--trees"}, more),
               line);
  };
  const auto shape_of = [&](const std::string& line, const std::vector<std::string>& more) {
    std::string tree = classify(line, more).out;
    tree = tree.substr(tree.rfind('\t') + 1);
    for (char& c : tree) c = c >= '0' && c <= '4' ? '.' : c;
    return tree;
  };
  const std::string tree = "(2 (2 a) (2 (2 b) (2 c)))";
  CHECK(shape_of(tree, {}) == "(. (. a) (. (. b) (. c)))\n");
  CHECK(shape_of("a b c", {}) == "(. (. (. a) (. b)) (. c))\n");
  CHECK(shape_of("a b c", {"--shape", "right"}) == "(. (. a) (. (. b) (. c)))\n");
  CHECK(shape_of("(so) b", {}) == "(. (. -LRB-so-RRB-) (. b))\n");
  CHECK(shape_of("(2 a)", {"--format", "text"}) == "(. (. -LRB-.) (. a-RRB-))\n");
  check_refused(classify("a b\n(2 a b)\n", {}),
                "standard input:2: expected ')' behind the word 'a', found the word 'b'");
  check_refused(classify("a b", {"--format", "trees"}), "standard input:1: expected '('");
  check_refused(classify("a", {"--format", "xml"}), "unknown format 'xml'");
  check_refused(classify("a", {"--shape", "round"}), "unknown shape 'round'");

  std::string many;
  for (int i = 0; i < 3000; ++i) many += "good ";
  for (const char* shape : {"left", "right", "balanced"}) {
    const Result result = classify(many, {"--shape", shape});
    CHECK(result.code == 0);
    CHECK(nlp::split_fields(result.out, '\t').size() == 4);
  }
}

TEST_CASE("Tree-LSTM: the same options give the same run, others another one") {
  const Workshop shop;
  const auto losses = [&](const std::string& model, const std::vector<std::string>& more) {
    return losses_of(run(shop.folder, with({"train", "--train", shop.train, "--model",
                                            shop.folder.path(model), "--epochs", "2"},
                                           more)),
                     2);
  };
  const std::string plain = losses("a", {});
  CHECK(losses("b", {"--seed", "1"}) == plain);
  CHECK((read_file(shop.folder.path("a")) == read_file(shop.folder.path("b"))));
  const std::vector<std::vector<std::string>> others = {
      {"--seed", "2"},           {"--word", "100"},   {"--hidden", "100"},
      {"--batch", "15"},         {"--clip", "0.01"},  {"--dropout", "0.4"},
      {"--decay", "0.5"},        {"--unknown", "10"}, {"--learning-rate", "0.002"},
      {"--weight-decay", "0.01"}};
  for (const std::vector<std::string>& other : others) {
    INFO(other[0]);
    CHECK(losses("c", with(other, {"--force"})) != plain);
  }
}

TEST_CASE("Tree-LSTM: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  const std::vector<std::string> more = {"--decay", "0.9", "--weight-decay", "0.001"};
  REQUIRE(run(shop.folder, with(shop.train_command("whole", "4"), more)).code == 0);

  const auto same_file = [&](const std::string& a, const std::string& b) {
    return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
  };
  REQUIRE(run(shop.folder, with(shop.train_command("parts", "2"), more)).code == 0);
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
  CHECK(contains(resumed.out, "epoch 3: loss"));
  CHECK(same_file("parts", "whole"));
  CHECK(same_file("parts.checkpoint", "whole.checkpoint"));

  check_refused(run(shop.folder, with(go_on, {"--weight-decay", "0.002"})),
                "began with --weight-decay 0.001: it cannot go on with 0.002");
  check_refused(run(shop.folder, with(go_on, {"--keep-case"})),
                "began with --keep-case off: it cannot go on with on");
  std::vector<std::string> other = go_on;
  other[2] = shop.dev;
  check_refused(run(shop.folder, other), "began with other training data");
}

TEST_CASE("Tree-LSTM: a run stopped by the clock goes on where it was") {
  const Workshop shop;
  check_stopped_by_clock(
      [&](const std::string& model, const std::vector<std::string>& more) {
        return run(shop.folder, with(shop.train_command(model, "3"), more));
      },
      [&](const std::string& model) {
        return run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.dev}).out;
      });
}

TEST_CASE("Tree-LSTM: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto train_on = [&](const std::string& file) {
    return run(folder, {"train", "--train", file, "--model", folder.path("never")});
  };
  check_refused(train_on("/nowhere.txt"), "cannot open /nowhere.txt: No such file or directory");
  check_refused(train_on(folder.write("empty", "")), "empty holds no tree");
  check_refused(train_on(folder.write("bad", "(2 fine)\n(7777 bad)\n")),
                "bad:2: expected a label from 0 to 999 behind '(', found '7777' (column 2)");
  check_refused(train_on(folder.write("one", "(2 fine)\n(2 bad)\n")), "one has one label only");
  check_refused(train_on("/"), "is it a directory?");
  check_refused(run(folder, {"train", "--train", shop.train, "--dev", folder.path("bad"), "--model",
                             folder.path("never")}),
                "bad:2: expected a label");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());

  check_refused(run(folder, {}), "no command: expected train, eval or classify");
  check_refused(run(folder, {"fly"}), "unknown command 'fly': expected train, eval or classify");
  check_refused(run(folder, {"train", "--train", shop.train}), "--model");
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--wings", "2"})), "--wings");
  // An option that is given twice is refused as well, so these go to a command without them.
  const std::vector<std::string> plain = {"train",          "--train",  shop.dev, "--model",
                                          folder.path("m"), "--epochs", "1"};
  for (const char* option :
       {"--dropout", "--weight-decay", "--patience", "--batch", "--word", "--device"}) {
    for (const char* wrong : {"nan", "-1", "1e9", "", "0.5x"}) {
      check_refused(run(folder, with(plain, {option, wrong})), option);
    }
  }
  CHECK(run(folder, with(plain, {"--dropout", "0.5", "--word", "4", "--batch", "9"})).code == 0);
  check_refused(run(folder, {"train", "--train", shop.train, "--model", folder.path("")}),
                "is a directory, not a model");
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--resume"})), "m.checkpoint");

  REQUIRE(run(folder, shop.train_command("good", "1")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kTreeLstm, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", shop.test});
  });
  check_refused(run(folder, {"eval", "-m", good, "-d", folder.path("bad")}), "bad:2: ");
  check_refused(run(folder, {"classify", "-m", good, "-i", "/nowhere.txt"}),
                "cannot open /nowhere.txt");
  check_refused(run(folder, {"classify", "-m", good, "-i", folder.path("bad")}), "bad:2: ");
  check_refused(run(folder, {"classify", "-m", good, "-o", "/nowhere/out"}, "a\n"),
                "cannot save /nowhere/out");
  if (std::ifstream("/dev/full").good()) {
    check_refused(run(folder, {"classify", "-m", good, "-o", "/dev/full"}, "a\n"),
                  "cannot write /dev/full");
  }
}

TEST_CASE("Tree-LSTM: five epochs reach what random vectors can on real trees (slow)") {
  const char* const data = std::getenv("DYNET_DATA");
  if (data == nullptr) {
    skip("DYNET_DATA names no folder with sst");
    return;
  }
  const TemporaryFolder folder;
  const std::string sst = std::string(data) + "/sst/";
  const Result result =
      run(folder, {"train", "--train", sst + "train.txt", "--dev", sst + "dev.txt", "--test",
                   sst + "test.txt", "--model", folder.path("model"), "--epochs", "5"});
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  const std::vector<double> scores =
      numbers_of(line_with(from(result.out, "\ntest:"), "  tree-LSTM"));
  REQUIRE(scores.size() == 4);
  CHECK(scores[0] > 41);
  CHECK(scores[1] > 80);
  CHECK(scores[2] > 78);
}

TEST_CASE("Tree-LSTM: help") {
  const TemporaryFolder folder;
  const Result help = run(folder, {"--help"});
  CHECK(help.code == 0);
  CHECK(contains(help.out, "classify"));
  CHECK(contains(run(folder, {"train", "--help"}).out, "--weight-decay"));
}

}  // namespace treelstm_run_test
