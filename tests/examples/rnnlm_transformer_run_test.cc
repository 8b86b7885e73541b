// The language model with a transformer as its user meets it, in processes of its own.

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/examples/small_language.h"
#include "tests/support/catch.h"

namespace rnnlm_transformer_run_test {

namespace {

const Program kRnnlm{"rnnlm", RNNLM_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kRnnlm.run(folder, arguments, input);
}

/// The same, of what must succeed.
std::string must(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                 const std::string& input = "") {
  const Result result = run(folder, arguments, input);
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  return result.out;
}

/// A small transformer.
std::vector<std::string> train_command(const Workshop& shop, const std::string& model) {
  return {"train",
          "--train",
          shop.train,
          "--dev",
          shop.dev,
          "--model",
          shop.folder.path(model),
          "--network",
          "transformer",
          "--hidden",
          "24",
          "--epochs",
          "4",
          "--learning-rate",
          "0.01",
          "--dropout",
          "0.1",
          "--decay",
          "0.9"};
}

bool same_file(const Workshop& shop, const std::string& a, const std::string& b) {
  return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
}

}  // namespace

TEST_CASE("Rnnlm transformer: train, evaluate in a fresh process, score and sample") {
  const Workshop shop;
  for (const std::string positions : {"sinusoidal", "learned", "rotary"}) {
    INFO(positions);
    const std::string model = shop.folder.path(positions);
    const std::string trained =
        must(shop.folder, with(replaced(train_command(shop, positions), "--epochs", "15"),
                               {"--positions", positions, "--test", shop.test, "--patience", "0"}));
    CHECK(contains(trained, "model: transformer, 2 layers of 24, 4 heads, full softmax, "));
    const std::string wanted = line_with(from(trained, "\ntest:"), "  rnnlm");
    CHECK(line_with(must(shop.folder, {"eval", "-m", model, "-d", shop.test}), "  rnnlm") ==
          wanted);
    // As in the test of the LSTM: 5.30 nats are what the language has.
    CHECK(first_figure(wanted) == Approx(std::exp(5.30 / 8)).epsilon(0.07));

    const std::string right = "the cats that the dog saw sleep .";
    const std::string input = right + "\nthe cats that the dog saw sleeps .\n\n";
    const std::vector<std::string> lines =
        lines_of(must(shop.folder, {"score", "-m", model}, input));
    REQUIRE(lines.size() == 3);
    CHECK(first_figure("x " + lines[0]) > first_figure("x " + lines[1]) + 1);
    CHECK(nlp::split_fields(lines[2], '\t')[1] == "1");
    CHECK(lines_of(must(shop.folder, {"score", "-m", model, "--threads", "3"}, input)) == lines);

    const std::vector<std::string> sample = {"sample", "-m",       model,           "-n",
                                             "30",     "--prefix", "the cats that", "--threads"};
    const std::string drawn = must(shop.folder, with(sample, {"1"}));
    std::size_t like_the_language = 0;
    for (const std::string& text : lines_of(drawn)) {
      const std::vector<std::string> words = nlp::split_words(text);
      const bool whole = words.size() == 8 && words[3] == "the" && words[5] == "saw" &&
                         words[6].back() != 's' && words[7] == ".";
      like_the_language += whole ? 1 : 0;
    }
    CHECK(like_the_language >= 24);
    CHECK(must(shop.folder, with(sample, {"2"})) == drawn);
  }
}

TEST_CASE("Rnnlm transformer: a sentence beyond the context is read in pieces") {
  const Workshop shop;
  must(shop.folder, with(replaced(train_command(shop, "model"), "--epochs", "1"),
                         {"--context", "3", "--positions", "learned"}));
  const std::string model = shop.folder.path("model");
  std::string text;
  for (int i = 0; i < 50; ++i) text += "the cat that the dog saw sleeps . ";
  const std::vector<std::string> fields = nlp::split_fields(
      lines_of(must(shop.folder, {"score", "-m", model}, text + "\n")).at(0), '\t');
  CHECK(fields[1] == "401");
  CHECK(std::isfinite(std::stod(fields[0])));
  const std::string drawn =
      must(shop.folder, {"sample", "-m", model, "-n", "1", "--prefix", text, "--longest", "410"});
  CHECK(nlp::split_words(drawn).size() >= 400);
}

TEST_CASE("Rnnlm transformer: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  std::vector<std::string> command;
  for (const std::string loss : {"full", "sampled"}) {
    // An epoch has fewer updates than the warm-up, so the rate still grows when the run goes on.
    const std::vector<std::string> more = {
        "--loss", loss,      "--samples", "8",         "--warmup", "150",         "--context",
        "5",      "--parts", "2",         "--threads", "2",        "--positions", "rotary"};
    must(shop.folder, with(train_command(shop, "whole"), with(more, {"--force"})));
    command = with(train_command(shop, "parts"), more);
    must(shop.folder, with(replaced(command, "--epochs", "2"), {"--force"}));
    const std::string resumed =
        must(shop.folder, replaced(with(command, {"--resume"}), "--threads", "1"));
    CHECK(contains(resumed, "resuming after epoch 2\n"));
    CHECK(same_file(shop, "parts", "whole"));
    CHECK(same_file(shop, "parts.checkpoint", "whole.checkpoint"));
  }
  command.push_back("--resume");
  const auto refused = [&](const std::vector<std::string>& changed, const std::string& message) {
    kRnnlm.check_refused(run(shop.folder, changed), message);
  };
  refused(replaced(command, "--network", "lstm"),
          "began with --network transformer: it cannot go on with lstm");
  refused(replaced(command, "--positions", "learned"),
          "began with --positions rotary: it cannot go on with learned");
  refused(replaced(command, "--context", "7"), "began with --context 5: it cannot go on with 7");
  refused(replaced(command, "--warmup", "7"), "began with --warmup 150: it cannot go on with 7");
  refused(with(command, {"--heads", "2"}), "began with --heads 4: it cannot go on with 2");
  refused(with(command, {"--feed-forward", "7"}),
          "began with --feed-forward 96: it cannot go on with 7");
}

TEST_CASE("Rnnlm transformer: a run stopped by the clock goes on where it was") {
  const Workshop shop;
  check_stopped_by_clock(
      [&](const std::string& model, const std::vector<std::string>& more) {
        return run(shop.folder, with(train_command(shop, model), more));
      },
      [&](const std::string& model) {
        return run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.dev}).out;
      });
}

TEST_CASE("Rnnlm transformer: another run begins with its weights, and its shape") {
  const Workshop shop;
  must(shop.folder, with(train_command(shop, "old"), {"--positions", "learned", "--heads", "2"}));
  const std::vector<std::string> command = {"train",
                                            "--train",
                                            shop.test,
                                            "--dev",
                                            shop.dev,
                                            "--init",
                                            shop.folder.path("old"),
                                            "--model",
                                            shop.folder.path("new"),
                                            "--epochs",
                                            "1",
                                            "--report",
                                            shop.folder.path("report")};
  CHECK(contains(must(shop.folder, command), "model: transformer, 2 layers of 24, 2 heads"));
  const auto settings =
      nlohmann::json::parse(line_with(read_file(shop.folder.path("report")), "settings"))
          .at("settings");
  CHECK(settings.at("network") == "transformer");
  CHECK(settings.at("positions") == "learned");
  CHECK(settings.at("warmup") == 200);  // of a transformer
  const std::vector<std::string> other =
      replaced(replaced(command, "--model", shop.folder.path("other")), "--report",
               shop.folder.path("its report"));
  kRnnlm.check_refused(run(shop.folder, with(other, {"--network", "lstm"})), "--network");
  kRnnlm.check_refused(run(shop.folder, with(other, {"--heads", "4"})), "--heads");
}

TEST_CASE("Rnnlm transformer: the learning rate grows for as many updates as --warmup says") {
  const Workshop shop;
  const auto perplexity = [&](const std::string& warmup) {
    const std::vector<std::string> command =
        with(replaced(train_command(shop, "model"), "--epochs", "1"),
             {"--force", "--batch-tokens", "100", "--warmup", warmup});
    const std::string out = must(shop.folder, command);
    return first_figure(line_with(out, "  rnnlm"));
  };
  const double none = perplexity("0"), one = perplexity("1"), most = perplexity("1000000");
  CHECK(one == none);      // the first update has the whole rate already
  CHECK(most > 2 * none);  // hardly a step yet
}

TEST_CASE("Rnnlm transformer: what the user leaves open fits its size") {
  const Workshop shop;
  const auto settings = [&](const std::vector<std::string>& more) {
    const std::string report = shop.folder.path("report");
    must(shop.folder, with({"train", "--train", shop.train, "--model", shop.folder.path("model"),
                            "--force", "--report", report, "--max-seconds", "1e-6"},
                           more));
    return nlohmann::json::parse(line_with(read_file(report), "settings")).at("settings");
  };
  const auto usual = settings({"--network", "transformer", "--hidden", "16"});
  CHECK(usual.at("word") == 16);
  CHECK(usual.at("feed-forward") == 64);
  CHECK(usual.at("layers") == 2);
  CHECK(usual.at("warmup") == 200);
  CHECK(usual.at("learning-rate") == 0.005);
  CHECK(usual.at("dropout") == 0.2);
  CHECK(usual.at("positions") == "rotary");
  const auto chosen = settings({"--network", "transformer", "--hidden", "16", "--layers", "1",
                                "--feed-forward", "7", "--warmup", "3", "--word", "16",
                                "--learning-rate", "0.004", "--level", "char", "--dropout", "0.4"});
  CHECK(chosen.at("dropout") == 0.4);
  CHECK(chosen.at("layers") == 1);
  CHECK(chosen.at("feed-forward") == 7);
  CHECK(chosen.at("warmup") == 3);
  CHECK(chosen.at("learning-rate") == 0.004);
  const auto sgd = settings({"--network", "transformer", "--hidden", "8", "--optimizer", "sgd"});
  CHECK(sgd.at("learning-rate") == 1);
  const auto lstm = settings({"--hidden", "4"});
  CHECK(lstm.at("network") == "lstm");
  CHECK(lstm.at("layers") == 1);
  CHECK(lstm.at("word") == 256);
  CHECK(lstm.at("warmup") == 0);
  CHECK(lstm.at("dropout") == 0.5);
  const auto characters =
      settings({"--network", "transformer", "--hidden", "8", "--level", "char"});
  CHECK(characters.at("word") == 8);
  CHECK(characters.at("learning-rate") == 0.005);
}

TEST_CASE("Rnnlm transformer: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
    kRnnlm.check_refused(run(shop.folder, with(train_command(shop, "never"), more)), message);
    CHECK_FALSE(std::filesystem::exists(shop.folder.path("never")));
  };
  refused({"--heads", "5"}, "--heads must divide --hidden, got 5 and 24");
  refused({"--word", "16"}, "--word must be as large as --hidden in a transformer, got 16 and 24");
  refused({"--positions", "rotary", "--heads", "8"},
          "--positions rotary needs a --hidden of an even number for each of --heads");
  refused({"--positions", "none"},
          "unknown positions 'none': expected sinusoidal, learned or rotary");
  for (const char* option : {"--heads", "--feed-forward", "--context", "--warmup"}) {
    for (const char* wrong : {"nan", "-1", "1e99", "", "0.5x"}) refused({option, wrong}, option);
  }
  for (const char* option : {"--heads", "--feed-forward", "--context"})
    refused({option, "0"}, option);
  kRnnlm.check_refused(run(shop.folder, replaced(train_command(shop, "never"), "--network", "gru")),
                       "unknown network 'gru': expected lstm or transformer");
}

TEST_CASE("Rnnlm: files from before there was a transformer load, and their run goes on") {
  const TemporaryFolder folder;
  std::string data;
  for (int i = 0; i < 4; ++i) data += "the cat sleeps\n";
  const std::string file = folder.write("data", data);
  const std::filesystem::path golden = std::filesystem::path(__FILE__).parent_path() / "golden";
  const std::string model =
      folder.write("model", read_file((golden / "rnnlm-lstm.model").string()));
  folder.write("model.checkpoint", read_file((golden / "rnnlm-lstm.model.checkpoint").string()));
  // Output of the version that wrote the files.
  CHECK(contains(must(folder, {"eval", "-m", model, "-d", file}),
                 "  rnnlm             4.81         1.5200          0.6041\n"));
  const std::string resumed = must(folder, {"train", "--train", file, "--dev", file, "--model",
                                            model, "--resume", "--epochs", "3", "--patience", "0"});
  CHECK(contains(resumed, "resuming after epoch 2\n"));
  CHECK(contains(resumed, "epoch 3: perplexity 4.91, dev perplexity 4.80"));
  CHECK(must(folder, {"score", "-m", model}, "the cat sleeps\n") == "-6.2722\t4\t4.80\n");
}

}  // namespace rnnlm_transformer_run_test
