// The translator as its user meets it: the program itself, in processes of its own.

#include <string>
#include <vector>

#include "dynet-like/io/contents.h"
#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace translate_run_test {

namespace {

const Program kTranslate{"translate", TRANSLATE_BINARY};

/// Digits and how they are called, of which the last comes first.
std::string pairs(unsigned count, unsigned seed) {
  static const std::vector<std::string> kNames = {"zero", "one", "two", "three", "four"};
  Dice dice(seed);
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    std::string digits, names;
    for (unsigned k = 1 + dice.below(4); k > 0; --k) {
      const unsigned digit = dice.below(kNames.size());
      digits += std::to_string(digit) + (k > 1 ? " " : "");
      names = kNames[digit] + (names.empty() ? "" : " ") + names;
    }
    all += digits + '\t' + names + '\n';
  }
  return all;
}

}  // namespace

TEST_CASE("Translate: train, score in a fresh process, translate") {
  const TemporaryFolder folder;
  const std::string train = folder.write("train", pairs(400, 1)),
                    dev = folder.write("dev", pairs(40, 2)),
                    test = folder.write("test", pairs(40, 3));
  for (const std::string network : {"lstm", "transformer"}) {
    INFO(network);
    const std::string model = folder.path(network);
    const Result trained = kTranslate.run(
        folder,
        {"train", "--train",   train,   "--dev",    dev,  "--test",          test,   "--model",
         model,   "--network", network, "--hidden", "32", "--feed-forward",  "64",   "--dropout",
         "0.05",  "--batch",   "16",    "--epochs", "12", "--learning-rate", "0.005"});
    INFO(trained.out + trained.err);
    REQUIRE(trained.code == 0);
    CHECK(contains(trained.out, "train: 400 pairs, "));
    CHECK(contains(trained.out, "vocabularies of 7 and 7\n"));
    CHECK(contains(trained.out, "model: " + network + ", 1 layer of 32, "));
    CHECK(contains(trained.err, "tokens/s"));

    const Result scored =
        kTranslate.run(folder, {"eval", "--model", model, "--data", test, "--beam", "1"});
    REQUIRE(scored.code == 0);
    const std::string wanted = line_with(from(trained.out, "\ntest:"), "  translation");
    CHECK(line_with(scored.out, "  translation") == wanted);
    CHECK(numbers_of(wanted).at(2) > 60);  // exact

    const std::string picture = folder.path("picture.svg");
    const std::vector<std::string> draw = {
        "eval", "--model", model, "--data", test, "--show", "2", "--show-attention", picture};
    if (network == "lstm") {
      REQUIRE(kTranslate.run(folder, draw).code == 0);
      CHECK(contains(read_file(picture), "</svg>"));
    } else {
      kTranslate.check_refused(kTranslate.run(folder, draw), "needs a model of --network lstm");
    }

    const Result lines = kTranslate.run(folder, {"translate", "--model", model}, "3 1\n\n2\n");
    REQUIRE(lines.code == 0);
    CHECK(lines.out == "one three\n\ntwo\n");
    const Result best =
        kTranslate.run(folder, {"translate", "--model", model, "--nbest", "2"}, "2\n");
    REQUIRE(best.code == 0);
    const std::vector<std::string> two = nlp::split_fields(best.out, '\n');
    REQUIRE(two.size() == 3);
    CHECK(nlp::split_fields(two[0], '\t').at(1) == "two");
    CHECK(numbers_of(two[0]).at(0) >= numbers_of(two[1]).at(0));
  }
}

TEST_CASE("Translate: a resumed run with a mean of the weights ends where an unbroken one does") {
  const TemporaryFolder folder;
  const std::string data = folder.write("data", pairs(60, 1));
  const auto train = [&](const std::string& model, const std::string& epochs,
                         const std::string& average, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "train",    "--train", data,       "--batch", "10",        "--model", folder.path(model),
        "--hidden", "8",       "--epochs", epochs,    "--average", average,   "--patience",
        "0",        "--copy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = kTranslate.run(folder, arguments);
    INFO(result.out + result.err);
    REQUIRE(result.code == 0);
  };
  const auto weights = [&](const std::string& model) {
    std::string all;
    for (const dynet::NamedTensor& t : dynet::read_tensors(folder.path(model))) all += t.bytes;
    return all;
  };
  train("unbroken", "4", "0.5", {});
  train("broken", "2", "0.5", {});
  train("broken", "4", "0.5", {"--resume"});
  CHECK(weights("broken") == weights("unbroken"));
  train("own", "4", "0.5", {"--own-tokens", "0.5"});
  CHECK(weights("own") != weights("unbroken"));
  train("last", "4", "0", {});
  CHECK(weights("last") != weights("unbroken"));
}

TEST_CASE("Translate: a list of words is cut into characters, unless an option says otherwise") {
  const TemporaryFolder folder;
  // Words that come once, and the same backwards.
  std::string words;
  for (unsigned i = 0; i < 120; ++i) {
    std::string word;
    for (unsigned k = 0, n = 100 + i * 7; k < 3; ++k, n /= 10) word += char('a' + n % 10);
    words += word + '\t' + std::string(word.rbegin(), word.rend()) + '\n';
  }
  const std::string list = folder.write("list", words), model = folder.path("model");
  const auto train = [&](const std::string& data, const std::vector<std::string>& more) {
    const Result result =
        kTranslate.run(folder, with({"train", "--train", data, "--model", model, "--hidden", "32",
                                     "--batch", "8", "--learning-rate", "0.01", "--dropout", "0"},
                                    more));
    INFO(result.out + result.err);
    REQUIRE(result.code == 0);
    return result.err;
  };
  const std::string taken = train(list, {"--epochs", "12"});
  CHECK(contains(taken,
                 "taking --source-unit char: 100.00 % of the texts are one word, and "
                 "100.00 % of their words come only once\n"));
  CHECK(contains(taken, "taking --target-unit char: 100.00 % of the translations are one word"));
  CHECK_FALSE(contains(taken, "warning"));
  const Result scored = kTranslate.run(folder, {"eval", "--model", model, "--data", list});
  CHECK(numbers_of(line_with(scored.out, "  translation")).at(2) > 80);  // exact
  train(list, {"--epochs", "13", "--resume"});
  const std::string overruled =
      train(list, {"--epochs", "1", "--force", "--source-unit", "word", "--target-unit", "char"});
  CHECK_FALSE(contains(overruled, "taking"));
  CHECK(
      contains(overruled, "warning: " + list +
                              ": the model knows 0.00 % of the words of the texts, as "
                              "training has the others less than 2 times: a smaller --min-count or "
                              "--source-unit char helps\n"));
  const std::string sentences =
      train(folder.write("data", pairs(100, 1)), {"--epochs", "1", "--force"});
  CHECK(contains(sentences, "taking --source-unit word: "));
  CHECK(contains(sentences, "taking --target-unit word: "));
  CHECK_FALSE(contains(sentences, "warning"));
}

TEST_CASE("Translate: an error is of the file that has it") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& texts, const std::string& translations,
                           const std::string& message) {
    const std::string files = folder.write("one", texts) + "," + folder.write("two", translations);
    kTranslate.check_refused(kTranslate.run(folder, {"train", "--train", files, "--format",
                                                     "parallel", "--model", folder.path("m")}),
                             message);
  };
  std::string many;
  for (int i = 0; i < 10001; ++i) many += "a ";
  refused("a\nb\n", "a\n\n", "two:2: there is no translation");
  refused("a\n\n", "a\nb\n", "one:2: there is no text to translate");
  refused("a\nb\n", "a\n" + many + "\n", "two:2: a sentence of 10,001 words");
  refused("a\n" + many + "\n", "a\nb\n", "one:2: a sentence of 10,001 words");
}

TEST_CASE("Translate: unfit data and options are refused in a sentence") {
  const TemporaryFolder folder;
  const std::string data = folder.write("data", "a\tb\n"), model = folder.path("model");
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    kTranslate.check_refused(kTranslate.run(folder, arguments), message);
  };
  refused({"train", "--train", folder.write("bad", "a b\n"), "--model", model},
          "expected a text, a tab and its translation");
  refused(
      {"train", "--train", data, "--model", model, "--network", "transformer", "--hidden", "10"},
      "--heads must divide --hidden, got 4 and 10");
  refused({"train", "--train", data, "--model", model, "--network", "transformer", "--copy"},
          "--copy is for --network lstm");
  refused({"train", "--train", data, "--model", model, "--format", "both"},
          "unknown format 'both': expected tab or parallel");
  refused({"train", "--train", data, "--model", model, "--format", "parallel"},
          "takes two files, as in source.txt,target.txt");
  REQUIRE(kTranslate
              .run(folder, {"train", "--train", data, "--model", model, "--hidden", "4", "--epochs",
                            "1", "--min-count", "1"})
              .code == 0);
  refused({"translate", "--model", model, "--beam", "2", "--nbest", "3"},
          "--nbest must not exceed --beam, got 3 and 2");
}

}  // namespace translate_run_test
