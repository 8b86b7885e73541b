// The language model as its user meets it: the program itself, in processes of its own.

#include <regex>

#include "tests/examples/learners.h"

/// The settings in the report of a short run.
Json settings_of(const Workshop& shop, const std::string& train) {
  shop.must("p train -m model --force --report report --max-seconds 1e-6 --train " + train);
  return Json::parse(line_with(shop.read("report"), "settings")).at("settings");
}

TEST_CASE("Rnnlm: train, evaluate in a fresh process, score and sample") {
  for (const std::string kind : {"", "sinusoidal", "learned", "rotary"}) {
    INFO(kind);
    const Workshop shop(kind.empty() ? "rnnlm" : "rnnlm transformer");
    const Result trained = shop.done("train -m model --epochs 15 --patience 0" +
                                     (kind.empty() ? kind : " --positions " + kind));
    CHECK(contains(trained.err, "epoch 1: 27 % ("));

    const std::string scored = shop.must("p eval --model model --data $test");
    const double perplexity = numbers_of(line_with(scored, "  rnnlm")).at(0);
    CHECK(perplexity < 0.95 * numbers_of(line_with(scored, "  3-gram")).at(0));
    // The language itself: ln 2 for the number, ln 4 for a noun, 0.562 for whether there is a
    // clause, ln 8 for its noun in three of four sentences, ln 3 for the verb: 5.30 nats for 8
    // tokens.
    CHECK(perplexity == Approx(std::exp(5.30 / 8)).epsilon(0.07));

    // A verb that agrees with the first noun is likelier than one that agrees with the second.
    shop.write("in",
               "the cats that the dog saw sleep .\nthe cats that the dog saw sleeps .\n\n"
               "the zebra sleeps .\n");
    const Strings lines = lines_of(shop.must("p score --model model -i in"));
    REQUIRE(lines.size() == 4);
    const double right = numbers_of(lines[0]).at(0), wrong = numbers_of(lines[1]).at(0);
    CHECK(right > wrong + 1);
    const Strings fields = split_fields(lines[0], '\t');
    REQUIRE(fields.size() == 3);
    CHECK(fields[1] == "9");
    CHECK(std::stod(fields[2]) == Approx(std::exp(-right / 9)).margin(0.006));
    CHECK(split_fields(lines[2], '\t')[1] == "1");
    CHECK(std::stod(lines[3]) < right);
    CHECK(contains(shop.must("p eval --model model -d in"), "; 4.35 % of the tokens unknown\n"));

    const std::string sample = "p sample -m model -n 30 --prefix 'the cats that' ";
    const std::string drawn = shop.must(sample);
    const Strings texts = lines_of(drawn);
    REQUIRE(texts.size() == 30);
    for (const std::string& text : texts) CHECK(text.starts_with("the cats that"));
    const std::regex like_the_language("the cats that the \\w+ saw \\w*[^s] \\.");
    CHECK(std::count_if(texts.begin(), texts.end(), [&](const std::string& text) {
            return std::regex_match(text, like_the_language);
          }) >= 24);
    CHECK(shop.must(sample + "--seed 2") != drawn);
    const Strings greedy = lines_of(shop.must(sample + "--temperature 0"));
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
  CHECK(numbers_of(line_with(test, "  rnnlm")).at(0) <
        numbers_of(line_with(test, "  3-gram")).at(0));
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
  const Strings scores =
      lines_of(shop.must("printf 'Ge1:2 And God said,\\nAnd God said,\\n' | p score -m model"));
  CHECK(scores[0] == scores[1]);
}

TEST_CASE(
    "Rnnlm: little data get more epochs, of smaller updates, unless the user says otherwise") {
  const Workshop shop("rnnlm");
  const auto settings = [&](std::size_t lines, const std::string& more = "") {
    shop.must("yes 'a b c d e f g h i' | head -n " + std::to_string(lines) + " > data");
    return settings_of(shop, "data --word 1 --hidden 1 " + more);
  };
  const auto little = settings(1000);  // 10,000 words and ends of sentences
  check_fields(little, R"("batch-tokens": 100, "epochs": 12, "dropout": 0.5)");
  CHECK(little.at("decay").get<double>() == Approx(std::pow(0.05, 1.0 / 12)).epsilon(1e-4));
  check_fields(settings(6000), R"("batch-tokens": 200, "epochs": 8)");
  check_fields(settings(60000), R"("batch-tokens": 1500, "epochs": 6, "dropout": 0.3)");
  check_fields(settings(6000, "--level char"),  // 108,000
               R"("batch-tokens": 360, "epochs": 25, "dropout": 0.3, "learning-rate": 0.02)");
  check_fields(settings(12000, "--level char"), R"("dropout": 0.1)");
  check_fields(
      settings(1000,
               "--epochs 3 --decay 0.7 --dropout 0.1 --batch-tokens 1000 "
               "--learning-rate 0.03"),
      R"("batch-tokens": 1000, "epochs": 3, "decay": 0.7, "dropout": 0.1, "learning-rate": 0.03)");
  // How long a run is does not decide how it begins, so that it may be prolonged.
  CHECK(settings(1000, "--epochs 3").at("decay") == little.at("decay"));
}

TEST_CASE("Rnnlm transformer: a sentence beyond the context is read in pieces") {
  const Workshop shop("rnnlm transformer");
  shop.must("train -m model --epochs 1 --context 3 --positions learned");
  std::string text;
  for (int i = 0; i < 50; ++i) text += "the cat that the dog saw sleeps . ";
  const Strings fields =
      split_fields(lines_of(shop.must("echo '" + text + "' | p score -m model")).at(0), '\t');
  CHECK(fields[1] == "401");
  CHECK(std::isfinite(std::stod(fields[0])));
  const std::string drawn =
      shop.must("p sample -m model -n 1 --longest 410 --prefix '" + text + "'");
  CHECK(split_words(drawn).size() >= 400);
}

TEST_CASE("Rnnlm transformer: another run begins with its weights, and its shape") {
  const Workshop shop("rnnlm transformer");
  shop.must("train -m old --epochs 1 --positions learned --heads 2");
  const std::string train = "p train --train $test --dev $dev --init old --epochs 1 ";
  CHECK(contains(shop.must(train + "-m new --report report"),
                 "model: transformer, 2 layers of 24, 2 heads"));
  check_fields(Json::parse(line_with(shop.read("report"), "settings")).at("settings"),
               R"("network": "transformer", "positions": "learned", "warmup": 200)");
  shop.refuses(train + "-m other --network lstm", "--network");
  shop.refuses(train + "-m other --heads 4", "--heads");
}

TEST_CASE("Rnnlm transformer: what the user leaves open fits its size") {
  const Workshop shop("rnnlm transformer");
  const auto check = [&](const std::string& options, const std::string& wanted) {
    INFO(options);
    check_fields(settings_of(shop, "$train " + options), wanted);
  };
  check("--network transformer --hidden 16",
        R"("word": 16, "feed-forward": 64, "layers": 2, "warmup": 200, "learning-rate": 0.005,
               "dropout": 0.2, "positions": "rotary")");
  check(
      "--network transformer --hidden 16 --layers 1 --feed-forward 7 --warmup 3 --word 16 "
      "--learning-rate 0.004 --level char --dropout 0.4",
      R"("dropout": 0.4, "layers": 1, "feed-forward": 7, "warmup": 3, "learning-rate": 0.004)");
  check("--network transformer --hidden 8 --optimizer sgd", R"("learning-rate": 1)");
  check("--hidden 4",
        R"("network": "lstm", "layers": 1, "word": 256, "warmup": 0, "dropout": 0.5)");
  check("--network transformer --hidden 8 --level char", R"("word": 8, "learning-rate": 0.005)");
}
