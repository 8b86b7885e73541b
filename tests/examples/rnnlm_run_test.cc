// The language model as its user meets it: the program itself, in processes of its own.

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/learners.h"
#include "tests/support/catch.h"

namespace rnnlm_run_test {

namespace {

/// The settings in the report of a short run.
nlohmann::json settings_of(const Workshop& shop, const std::string& train) {
  shop.must("p train -m model --force --report report --max-seconds 1e-6 --train " + train);
  return nlohmann::json::parse(line_with(shop.read("report"), "settings")).at("settings");
}

void check_settings(const nlohmann::json& settings, const nlohmann::json& wanted) {
  INFO(settings);
  for (const auto& [name, value] : wanted.items()) CHECK(settings.at(name) == value);
}

}  // namespace

TEST_CASE("Rnnlm: train, evaluate in a fresh process, score and sample") {
  for (const std::string kind : {"", "sinusoidal", "learned", "rotary"}) {
    INFO(kind);
    const Workshop shop(kind.empty() ? "rnnlm" : "rnnlm transformer");
    const Result trained = shop.done("train -m model --epochs 15 --test $test --patience 0" +
                                     (kind.empty() ? kind : " --positions " + kind));
    CHECK(contains(trained.out, "train: 400 sentences, "));
    CHECK(contains(trained.out, ", vocabulary 20\n"));
    CHECK(contains(trained.out, "model: transformer, 2 layers of 24, 4 heads, full softmax, ") ==
          !kind.empty());
    CHECK(contains(trained.out, "epoch 15: perplexity "));
    CHECK(contains(trained.out, "3-gram"));
    CHECK(contains(trained.err, "epoch 1: 27 % ("));
    CHECK(contains(trained.err, "tokens/s"));

    const std::string scored = shop.must("p eval --model model --data $test");
    const std::string wanted = line_with(from(trained.out, "\ntest:"), "  rnnlm");
    CHECK(line_with(scored, "  rnnlm") == wanted);
    CHECK(first_figure(wanted) < 0.95 * first_figure(line_with(scored, "  3-gram")));
    // The language itself: ln 2 for the number, ln 4 for a noun, 0.562 for whether there is a
    // clause, ln 8 for its noun in three of four sentences, ln 3 for the verb: 5.30 nats for 8
    // tokens.
    CHECK(first_figure(wanted) == Approx(std::exp(5.30 / 8)).epsilon(0.07));

    // A verb that agrees with the first noun is likelier than one that agrees with the second.
    shop.write("in",
               "the cats that the dog saw sleep .\nthe cats that the dog saw sleeps .\n\n"
               "the zebra sleeps .\n");
    const std::vector<std::string> lines = lines_of(shop.must("p score --model model -i in"));
    REQUIRE(lines.size() == 4);
    const double right = first_figure("x " + lines[0]), wrong = first_figure("x " + lines[1]);
    CHECK(right > wrong + 1);
    const std::vector<std::string> fields = nlp::split_fields(lines[0], '\t');
    REQUIRE(fields.size() == 3);
    CHECK(fields[1] == "9");
    CHECK(std::stod(fields[2]) == Approx(std::exp(-right / 9)).margin(0.006));
    CHECK(nlp::split_fields(lines[2], '\t')[1] == "1");
    CHECK(std::stod(lines[3]) < right);
    CHECK(lines_of(shop.must("p score --model model --threads 3 -i in")) == lines);
    CHECK(contains(shop.must("p eval --model model -d in"), "; 4.35 % of the tokens unknown\n"));

    const std::string sample = "p sample -m model -n 30 --prefix 'the cats that' ";
    const std::string drawn = shop.must(sample);
    const std::vector<std::string> texts = lines_of(drawn);
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
    CHECK(shop.must(sample + "--threads 2") == drawn);
    CHECK(shop.must(sample + "--seed 2") != drawn);
    const std::vector<std::string> greedy = lines_of(shop.must(sample + "--temperature 0"));
    for (const std::string& text : greedy) CHECK(text == greedy[0]);
    CHECK(shop.must(sample + "-o out; cat out") == drawn);
    shop.refuses("p sample -m model --prefix 'the unicorn'", "the model does not know 'unicorn'");
  }
}

TEST_CASE("Rnnlm: the sampled softmax learns the language as well") {
  const std::string out = Workshop("rnnlm").must(
      "train -m model --epochs 15 --loss sampled --samples 10 --patience 0 --test $test");
  CHECK(contains(out, "sampled softmax"));
  CHECK(contains(out, "epoch 15: sampled loss "));
  const std::string test = from(out, "\ntest:");
  CHECK(first_figure(line_with(test, "  rnnlm")) < first_figure(line_with(test, "  3-gram")));
}

TEST_CASE("Rnnlm: characters, several layers, and sgd") {
  const Workshop shop("rnnlm");
  const std::string out = shop.must(
      "p train --train $train --dev $dev -m model --word 16 --hidden 24 --dropout 0.1 --decay 0.9 "
      "--learning-rate 1 --epochs 10 --level char --layers 2 --optimizer sgd --ngram 2 --batch 4 "
      "--truncate 20 --test $test");
  CHECK(contains(out, "2 layers of 24"));
  const std::string test = from(out, "\ntest:");
  CHECK(first_figure(line_with(test, "  rnnlm")) < first_figure(line_with(test, "  2-gram")));
  for (const std::string& text : lines_of(shop.must("p sample -m model -n 3 --prefix 'the d'")))
    CHECK(text.rfind("the d", 0) == 0);
}

TEST_CASE("Rnnlm: verses, a split, and texts put together again") {
  const Workshop shop("rnnlm");
  shop.write("verses.txt", verses());
  const std::string trained = shop.must(
      "p train --train verses.txt --split 80/10/10 -m model --word 16 --hidden 16 --epochs 12 "
      "--learning-rate 0.03");
  CHECK(line_with(shop.must("p eval -m model -d verses.txt --part test"), "  rnnlm") ==
        line_with(from(trained, "\ntest:"), "  rnnlm"));
  CHECK(shop.must("p sample -m model -n 1 --temperature 0 --prefix 'But the LORD'") ==
        "But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  // With or without its reference, a verse has the same score.
  const std::vector<std::string> scores =
      lines_of(shop.must("printf 'Ge1:2 And God said,\\nAnd God said,\\n' | p score -m model"));
  CHECK(scores[0] == scores[1]);
}

TEST_CASE("Rnnlm: data and options that cannot be are refused in a sentence") {
  const Workshop shop("rnnlm");
  shop.write("bad", "Ge1:1 In the\nbeginning\n");
  shop.refuses("p train --train bad -m never", "bad:2: expected a verse");
  for (const auto& [options, message] :
       {std::pair("--loss half", "unknown loss 'half': expected full or sampled"),
        {"--optimizer x", "unknown optimizer 'x': expected adam or sgd"},
        {"--level byte", "unknown level 'byte': expected word or char"},
        {"--format xml", "unknown format 'xml': expected auto, text or bible"},
        {"--network gru", "unknown network 'gru': expected lstm or transformer"},
        {"--network transformer --hidden 24 --heads 5",
         "--heads must divide --hidden, got 5 and 24"},
        {"--network transformer --hidden 24 --word 16",
         "--word must be as large as --hidden in a transformer, got 16 and 24"},
        {"--network transformer --hidden 24 --positions rotary --heads 8",
         "--positions rotary needs a --hidden of an even number for each of --heads"},
        {"--network transformer --positions none",
         "unknown positions 'none': expected sinusoidal, learned or rotary"},
        {"--heads 0", "--heads"},
        {"--feed-forward 0", "--feed-forward"},
        {"--context 0", "--context"}})
    shop.refuses(std::string("p train --train $dev -m never ") + options, message);
}

TEST_CASE(
    "Rnnlm: little data get more epochs, of smaller updates, unless the user says otherwise") {
  const Workshop shop("rnnlm");
  const auto settings = [&](std::size_t lines, const std::string& more = "") {
    shop.must("yes 'a b c d e f g h i' | head -n " + std::to_string(lines) + " > data");
    return settings_of(shop, "data --word 1 --hidden 1 " + more);
  };
  const auto little = settings(1000);  // 10,000 words and ends of sentences
  check_settings(little, {{"batch-tokens", 100}, {"epochs", 12}, {"dropout", 0.5}});
  CHECK(little.at("decay").get<double>() == Approx(std::pow(0.05, 1.0 / 12)).epsilon(1e-4));
  check_settings(settings(6000), {{"batch-tokens", 200}, {"epochs", 8}});
  check_settings(settings(60000), {{"batch-tokens", 1500}, {"epochs", 6}, {"dropout", 0.3}});
  check_settings(
      settings(6000, "--level char"),  // 108,000
      {{"batch-tokens", 360}, {"epochs", 25}, {"dropout", 0.3}, {"learning-rate", 0.02}});
  check_settings(settings(12000, "--level char"), {{"dropout", 0.1}});
  check_settings(settings(1000,
                          "--epochs 3 --decay 0.7 --dropout 0.1 --batch-tokens 1000 "
                          "--learning-rate 0.03"),
                 {{"batch-tokens", 1000},
                  {"epochs", 3},
                  {"decay", 0.7},
                  {"dropout", 0.1},
                  {"learning-rate", 0.03}});
  // How long a run is does not decide how it begins, so that it may be prolonged.
  CHECK(settings(1000, "--epochs 3").at("decay") == little.at("decay"));
}

TEST_CASE("Rnnlm transformer: a sentence beyond the context is read in pieces") {
  const Workshop shop("rnnlm transformer");
  shop.must("train -m model --epochs 1 --context 3 --positions learned");
  std::string text;
  for (int i = 0; i < 50; ++i) text += "the cat that the dog saw sleeps . ";
  const std::vector<std::string> fields =
      nlp::split_fields(lines_of(shop.must("echo '" + text + "' | p score -m model")).at(0), '\t');
  CHECK(fields[1] == "401");
  CHECK(std::isfinite(std::stod(fields[0])));
  const std::string drawn =
      shop.must("p sample -m model -n 1 --longest 410 --prefix '" + text + "'");
  CHECK(nlp::split_words(drawn).size() >= 400);
}

TEST_CASE("Rnnlm transformer: another run begins with its weights, and its shape") {
  const Workshop shop("rnnlm transformer");
  shop.must("train -m old --epochs 1 --positions learned --heads 2");
  const std::string train = "p train --train $test --dev $dev --init old --epochs 1 ";
  CHECK(contains(shop.must(train + "-m new --report report"),
                 "model: transformer, 2 layers of 24, 2 heads"));
  check_settings(nlohmann::json::parse(line_with(shop.read("report"), "settings")).at("settings"),
                 {{"network", "transformer"}, {"positions", "learned"}, {"warmup", 200}});
  shop.refuses(train + "-m other --network lstm", "--network");
  shop.refuses(train + "-m other --heads 4", "--heads");
}

TEST_CASE("Rnnlm transformer: the learning rate grows for as many updates as --warmup says") {
  const Workshop shop("rnnlm transformer");
  const auto perplexity = [&](const std::string& warmup) {
    return first_figure(line_with(
        shop.must("train -m model --epochs 1 --force --batch-tokens 100 --warmup " + warmup),
        "  rnnlm"));
  };
  const double none = perplexity("0"), one = perplexity("1"), most = perplexity("1000000");
  CHECK(one == none);      // the first update has the whole rate already
  CHECK(most > 2 * none);  // hardly a step yet
}

TEST_CASE("Rnnlm transformer: what the user leaves open fits its size") {
  const Workshop shop("rnnlm transformer");
  const auto check = [&](const std::string& options, const nlohmann::json& wanted) {
    INFO(options);
    check_settings(settings_of(shop, "$train " + options), wanted);
  };
  check("--network transformer --hidden 16", {{"word", 16},
                                              {"feed-forward", 64},
                                              {"layers", 2},
                                              {"warmup", 200},
                                              {"learning-rate", 0.005},
                                              {"dropout", 0.2},
                                              {"positions", "rotary"}});
  check(
      "--network transformer --hidden 16 --layers 1 --feed-forward 7 --warmup 3 --word 16 "
      "--learning-rate 0.004 --level char --dropout 0.4",
      {{"dropout", 0.4},
       {"layers", 1},
       {"feed-forward", 7},
       {"warmup", 3},
       {"learning-rate", 0.004}});
  check("--network transformer --hidden 8 --optimizer sgd", {{"learning-rate", 1}});
  check("--hidden 4",
        {{"network", "lstm"}, {"layers", 1}, {"word", 256}, {"warmup", 0}, {"dropout", 0.5}});
  check("--network transformer --hidden 8 --level char", {{"word", 8}, {"learning-rate", 0.005}});
}

}  // namespace rnnlm_run_test
