// The language model as its user meets it: the program itself, in processes of its own.

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/examples/small_language.h"
#include "tests/support/catch.h"

namespace rnnlm_run_test {

namespace {

const Program kRnnlm{"rnnlm", RNNLM_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kRnnlm.run(folder, arguments, input);
}

void check_refused(const Result& result, const std::string& message) {
  kRnnlm.check_refused(result, message);
}

}  // namespace

TEST_CASE("Rnnlm: train, evaluate in a fresh process, score and sample") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  const Result trained =
      run(shop.folder, with(replaced(shop.train_command("model"), "--epochs", "15"),
                            {"--test", shop.test, "--patience", "0"}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 400 sentences, "));
  CHECK(contains(trained.out, ", vocabulary 20\n"));
  CHECK(contains(trained.out, "epoch 15: perplexity "));
  CHECK(contains(trained.out, " (3-gram: "));
  CHECK(contains(trained.err, "epoch 1: 27 % ("));
  CHECK(contains(trained.err, "tokens/s"));

  const Result scored = run(shop.folder, {"eval", "--model", model, "--data", shop.test});
  REQUIRE(scored.code == 0);
  const std::string wanted = line_with(from(trained.out, "\ntest:"), "  rnnlm");
  CHECK(line_with(scored.out, "  rnnlm") == wanted);
  const double perplexity = first_figure(wanted);
  const double trigram = first_figure(line_with(scored.out, "  3-gram"));
  CHECK(perplexity < 0.95 * trigram);
  // The language itself: ln 2 for the number, ln 4 for a noun, 0.562 for whether there is a clause,
  // ln 8 for its noun in three of four sentences, ln 3 for the verb: 5.30 nats for 8 tokens.
  CHECK(perplexity == Approx(std::exp(5.30 / 8)).epsilon(0.07));

  // A verb that agrees with the first noun is likelier than one that agrees with the second.
  const std::string input =
      "the cats that the dog saw sleep .\nthe cats that the dog saw sleeps .\n\n"
      "the zebra sleeps .\n";
  const Result score = run(shop.folder, {"score", "--model", model}, input);
  REQUIRE(score.code == 0);
  const std::vector<std::string> lines = lines_of(score.out);
  REQUIRE(lines.size() == 4);
  const double right = first_figure("x " + lines[0]), wrong = first_figure("x " + lines[1]);
  CHECK(right > wrong + 1);
  const std::vector<std::string> fields = nlp::split_fields(lines[0], '\t');
  REQUIRE(fields.size() == 3);
  CHECK(fields[1] == "9");
  CHECK(std::stod(fields[2]) == Approx(std::exp(-right / 9)).margin(0.006));
  CHECK(nlp::split_fields(lines[2], '\t')[1] == "1");
  CHECK(std::stod(lines[3]) < right);

  const std::vector<std::string> sample = {"sample", "-m",       model,          "-n",
                                           "30",     "--prefix", "the cats that"};
  const Result drawn = run(shop.folder, sample);
  REQUIRE(drawn.code == 0);
  const std::vector<std::string> texts = lines_of(drawn.out);
  REQUIRE(texts.size() == 30);
  std::size_t like_the_language = 0;
  for (const std::string& text : texts) {
    CHECK(text.rfind("the cats that", 0) == 0);
    const std::vector<std::string> words = nlp::split_words(text);
    const bool whole = words.size() == 8 && words[3] == "the" && words[5] == "saw" &&
                       words[6].back() != 's' && words[7] == ".";
    like_the_language += whole ? 1 : 0;
  }
  CHECK(like_the_language >= 24);
  CHECK(run(shop.folder, sample).out == drawn.out);
  CHECK(run(shop.folder, with(sample, {"--seed", "2"})).out != drawn.out);
  const Result greedy = run(shop.folder, with(sample, {"--temperature", "0"}));
  for (const std::string& text : lines_of(greedy.out)) CHECK(text == lines_of(greedy.out)[0]);

  const std::string out = shop.folder.path("out.txt");
  CHECK(run(shop.folder, with(sample, {"-o", out})).code == 0);
  CHECK(read_file(out) == drawn.out);
}

TEST_CASE("Rnnlm: the sampled softmax learns the language as well") {
  const Workshop shop;
  const Result result =
      run(shop.folder,
          with(replaced(shop.train_command("model"), "--epochs", "15"),
               {"--loss", "sampled", "--samples", "10", "--patience", "0", "--test", shop.test}));
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "sampled softmax"));
  CHECK(contains(result.out, "epoch 15: sampled loss "));
  const std::string test = from(result.out, "\ntest:");
  CHECK(first_figure(line_with(test, "  rnnlm")) < first_figure(line_with(test, "  3-gram")));
}

TEST_CASE("Rnnlm: characters, several layers, and sgd") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  std::vector<std::string> command = replaced(shop.train_command("model"), "--learning-rate", "1");
  command = replaced(command, "--epochs", "10");
  const Result result =
      run(shop.folder,
          with(command, {"--level", "char", "--layers", "2", "--optimizer", "sgd", "--ngram", "2",
                         "--batch", "4", "--truncate", "20", "--test", shop.test}));
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "2 layers of 24"));
  const std::string test = from(result.out, "\ntest:");
  CHECK(first_figure(line_with(test, "  rnnlm")) < first_figure(line_with(test, "  2-gram")));
  const Result drawn = run(shop.folder, {"sample", "-m", model, "-n", "3", "--prefix", "the d"});
  REQUIRE(drawn.code == 0);
  for (const std::string& text : lines_of(drawn.out)) CHECK(text.rfind("the d", 0) == 0);
}

TEST_CASE("Rnnlm: the same seed gives the same run, another seed another one") {
  const Workshop shop;
  const auto train = [&](const std::string& model, const std::string& seed) {
    REQUIRE(run(shop.folder, with(shop.train_command(model), {"--seed", seed})).code == 0);
    return read_file(shop.folder.path(model));
  };
  const std::string first = train("a", "5");
  CHECK(train("b", "5") == first);
  CHECK(train("c", "6") != first);
}

TEST_CASE("Rnnlm: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  const auto same_file = [&](const std::string& a, const std::string& b) {
    return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
  };
  for (const std::string optimizer : {"adam", "sgd"}) {
    for (const std::string loss : {"full", "sampled"}) {
      const std::vector<std::string> more = {"--optimizer", optimizer, "--loss",     loss,
                                             "--samples",   "8",       "--truncate", "4"};
      REQUIRE(run(shop.folder, with(shop.train_command("whole"), with(more, {"--force"}))).code ==
              0);
      const std::vector<std::string> command = with(shop.train_command("parts"), more);
      REQUIRE(run(shop.folder, with(replaced(command, "--epochs", "2"), {"--force"})).code == 0);
      const Result resumed = run(shop.folder, with(command, {"--resume"}));
      INFO(optimizer + " " + loss + "\n" + resumed.out + resumed.err);
      REQUIRE(resumed.code == 0);
      CHECK(contains(resumed.out, "resuming after epoch 2\n"));
      CHECK_FALSE(contains(resumed.out, "epoch 2: "));
      CHECK(contains(resumed.out, "epoch 3: "));
      CHECK(same_file("parts", "whole"));
      CHECK(same_file("parts.checkpoint", "whole.checkpoint"));
    }
  }
  const std::vector<std::string> command = with(shop.train_command("parts"), {"--resume"});
  check_refused(run(shop.folder, with(command, {"--seed", "9"})),
                "began with --seed 1: it cannot go on with 9");
  check_refused(run(shop.folder, with(command, {"--optimizer", "adam"})),
                "began with --optimizer sgd: it cannot go on with adam");
  check_refused(run(shop.folder, replaced(command, "--train", shop.dev)),
                "began with other training data");
}

TEST_CASE("Rnnlm: a run stopped by the clock goes on where it was") {
  const Workshop shop;
  check_stopped_by_clock(
      [&](const std::string& model, const std::vector<std::string>& more) {
        return run(shop.folder, with(shop.train_command(model), more));
      },
      [&](const std::string& model) {
        return run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.dev}).out;
      });
}

TEST_CASE("Rnnlm: verses, a split, and texts put together again") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 1; i <= 200; ++i) {
    text += "Ge1:" + std::to_string(i) +
            (i % 2 == 0 ? " And God said, Let there be light: and there was light.\n"
                        : " But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  }
  const std::string data = folder.write("verses.txt", text);
  const std::string model = folder.path("model");
  const Result result =
      run(folder, {"train", "--train", data, "--split", "80/10/10", "--model", model, "--word",
                   "16", "--hidden", "16", "--epochs", "12", "--learning-rate", "0.03"});
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  const Result test = run(folder, {"eval", "-m", model, "-d", data, "--part", "test"});
  REQUIRE(test.code == 0);
  CHECK(line_with(test.out, "  rnnlm") == line_with(from(result.out, "\ntest:"), "  rnnlm"));
  CHECK(run(folder,
            {"sample", "-m", model, "-n", "1", "--temperature", "0", "--prefix", "But the LORD"})
            .out == "But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  // With or without its reference, a verse has the same score.
  const Result scores = run(folder, {"score", "-m", model}, "Ge1:2 And God said,\nAnd God said,\n");
  CHECK(lines_of(scores.out)[0] == lines_of(scores.out)[1]);
}

TEST_CASE("Rnnlm: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto train_on = [&](const std::string& file) {
    return run(folder, {"train", "--train", file, "--model", folder.path("never")});
  };
  check_refused(train_on("/nowhere.txt"), "cannot open /nowhere.txt: No such file or directory");
  check_refused(train_on(folder.write("empty", "")), "empty holds no sentence");
  check_refused(train_on(folder.write("bad", "Ge1:1 In the\nbeginning\n")),
                "bad:2: expected a verse");
  check_refused(train_on("/"), "is it a directory?");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());

  check_refused(run(folder, {}), "no command: expected train, eval, score or sample");
  check_refused(run(folder, {"fly"}), "unknown command 'fly'");
  check_refused(run(folder, {"train", "--train", shop.train}), "--model");
  for (const char* option :
       {"--dropout", "--hidden", "--samples", "--truncate", "--batch-tokens", "--device"}) {
    for (const char* wrong : {"nan", "-1", "1e99", "", "0.5x"}) {
      check_refused(run(folder, with(shop.train_command("m"), {option, wrong})), option);
    }
  }
  const auto refused_option = [&](const std::vector<std::string>& more,
                                  const std::string& message) {
    check_refused(run(folder, with(shop.train_command("m"), more)), message);
  };
  refused_option({"--loss", "half"}, "unknown loss 'half': expected full or sampled");
  refused_option({"--optimizer", "x"}, "unknown optimizer 'x': expected adam or sgd");
  refused_option({"--level", "byte"}, "unknown level 'byte': expected word or char");
  refused_option({"--format", "xml"}, "unknown format 'xml': expected auto, text or bible");
  refused_option({"--split", "90/5/5"}, "--split cuts --train into three parts");
  refused_option({"--resume"}, "m.checkpoint");
  check_refused(run(folder, {"train", "--train", shop.train, "--model", folder.path("")}),
                "is a directory, not a model");

  const std::string data = shop.test;
  check_refused(run(folder, {"eval", "-m", "/nowhere.model", "-d", data}), "/nowhere.model");

  REQUIRE(run(folder, replaced(shop.train_command("good"), "--epochs", "1")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kRnnlm, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", data});
  });
  check_refused(run(folder, {"eval", "-m", good, "-d", data, "--part", "test"}),
                "needs a model trained with --split");
  check_refused(run(folder, {"score", "-m", good, "-i", "/nowhere.txt"}),
                "cannot open /nowhere.txt");
  check_refused(run(folder, {"sample", "-m", good, "-o", "/nowhere/out"}),
                "cannot save /nowhere/out");
  check_refused(run(folder, {"sample", "-m", good, "--prefix", "the unicorn"}),
                "the model does not know 'unicorn'");
}

TEST_CASE("Rnnlm: help") {
  const TemporaryFolder folder;
  const Result help = run(folder, {"--help"});
  CHECK(help.code == 0);
  CHECK(contains(help.out, "sample"));
  CHECK(contains(run(folder, {"train", "--help"}).out, "--samples"));
}

TEST_CASE(
    "Rnnlm: little data get more epochs, of smaller updates, unless the user says otherwise") {
  const TemporaryFolder folder;
  const auto settings = [&](std::size_t lines, const std::vector<std::string>& more) {
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) text += "a b c d e f g h i\n";
    const std::string report = folder.path("report");
    const Result trained =
        run(folder, with({"train", "--train", folder.write("data", text), "--model",
                          folder.path("model"), "--force", "--report", report, "--word", "1",
                          "--hidden", "1", "--max-seconds", "1e-6"},
                         more));
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    return nlohmann::json::parse(line_with(read_file(report), "settings")).at("settings");
  };
  const auto little = settings(1000, {});  // 10,000 words and ends of sentences
  CHECK(little.at("batch-tokens") == 100);
  CHECK(little.at("epochs") == 12);
  CHECK(little.at("decay").get<double>() == Approx(std::pow(0.05, 1.0 / 12)).epsilon(1e-4));
  CHECK(little.at("dropout") == 0.5);
  const auto more = settings(6000, {});
  CHECK(more.at("batch-tokens") == 200);
  CHECK(more.at("epochs") == 8);
  const auto most = settings(60000, {});
  CHECK(most.at("batch-tokens") == 1500);
  CHECK(most.at("epochs") == 6);
  CHECK(most.at("dropout") == 0.3);
  const auto characters = settings(6000, {"--level", "char"});  // 108,000
  CHECK(characters.at("batch-tokens") == 360);
  CHECK(characters.at("epochs") == 25);
  CHECK(characters.at("dropout") == 0.3);
  CHECK(settings(12000, {"--level", "char"}).at("dropout") == 0.1);
  CHECK(characters.at("learning-rate") == 0.02);
  const auto chosen = settings(1000, {"--epochs", "3", "--decay", "0.7", "--dropout", "0.1",
                                      "--batch-tokens", "1000", "--learning-rate", "0.03"});
  CHECK(chosen.at("batch-tokens") == 1000);
  CHECK(chosen.at("epochs") == 3);
  CHECK(chosen.at("decay") == 0.7);
  CHECK(chosen.at("dropout") == 0.1);
  CHECK(chosen.at("learning-rate") == 0.03);
  // How long a run is does not decide how it begins, so that it may be prolonged.
  CHECK(settings(1000, {"--epochs", "3"}).at("decay") == little.at("decay"));
}

}  // namespace rnnlm_run_test
