// The translator as its user meets it: the program itself, in processes of its own.

#include "tests/examples/learners.h"

TEST_CASE("Translate: train, score in a fresh process, translate") {
  const Workshop shop("translate");
  for (const std::string network : {"lstm", "transformer"}) {
    INFO(network);
    const std::string trained = shop.must(
        "p train --train $train --dev $dev -m model --force --hidden 32 "
        "--feed-forward 64 --dropout 0.05 --batch 16 --epochs 12 --learning-rate 0.005 --network " +
        network);
    CHECK(contains(trained, "model: " + network + ", 1 layer of 32, "));
    const std::string scored = shop.must("p eval -m model -d $test --beam 1");
    CHECK(numbers_of(line_with(scored, "  translation")).at(2) > 60);  // exact

    const std::string draw = "p eval -m model -d $test --show 2 --show-attention picture.svg";
    if (network == "lstm") {
      shop.must(draw);
      CHECK(contains(shop.read("picture.svg"), "</svg>"));
    } else {
      shop.refuses(draw, "needs a model of --network lstm");
    }

    CHECK(shop.must("printf '3 1\\n\\n2\\n' | p translate -m model") == "one three\n\ntwo\n");
    const Strings two = split_fields(shop.must("echo 2 | p translate -m model --nbest 2"), '\n');
    REQUIRE(two.size() == 3);
    CHECK(split_fields(two[0], '\t').at(1) == "two");
    CHECK(numbers_of(two[0]).at(0) >= numbers_of(two[1]).at(0));
    shop.refuses("echo 2 | p translate -m model --beam 2 --nbest 3",
                 "--nbest must not exceed --beam, got 3 and 2");
  }
}

TEST_CASE("Translate: a list of words is cut into characters, unless an option says otherwise") {
  const Workshop shop("translate");
  // Words that come once, and the same backwards.
  std::string words;
  for (unsigned i = 0; i < 120; ++i) {
    std::string word;
    for (unsigned k = 0, n = 100 + i * 7; k < 3; ++k, n /= 10) word += char('a' + n % 10);
    words += word + '\t' + std::string(word.rbegin(), word.rend()) + '\n';
  }
  shop.write("list", words);
  const auto train = [&](const std::string& options) {
    return shop
        .done("p train -m model --hidden 32 --batch 8 --learning-rate 0.01 --dropout 0 --train " +
              options)
        .err;
  };
  const std::string taken = train("list --epochs 12");
  CHECK(contains(taken,
                 "taking --source-unit char: 100.00 % of the texts are one word, and "
                 "100.00 % of their words come only once\n"));
  CHECK(contains(taken, "taking --target-unit char: 100.00 % of the translations are one word"));
  CHECK_FALSE(contains(taken, "warning"));
  const std::string scored = shop.must("p eval -m model -d list");
  CHECK(numbers_of(line_with(scored, "  translation")).at(2) > 80);  // exact
  train("list --epochs 13 --resume");
  const std::string overruled =
      train("list --epochs 1 --force --source-unit word --target-unit char");
  CHECK_FALSE(contains(overruled, "taking"));
  CHECK(contains(overruled,
                 "warning: list: the model knows 0.00 % of the words of the texts, as training has "
                 "the others less than 2 times: a smaller --min-count or --source-unit char "
                 "helps\n"));
  const std::string sentences = train("$train --epochs 1 --force");
  CHECK(contains(sentences, "taking --source-unit word: "));
  CHECK(contains(sentences, "taking --target-unit word: "));
  CHECK_FALSE(contains(sentences, "warning"));
}

TEST_CASE("Translate: an error is of the file that has it") {
  const Workshop shop("translate");
  std::string many;
  for (int i = 0; i < 10001; ++i) many += "a ";
  const std::array<std::string, 3> cases[] = {
      {"a\nb\n", "a\n\n", "two:2: there is no translation"},
      {"a\n\n", "a\nb\n", "one:2: there is no text to translate"},
      {"a\nb\n", "a\n" + many + "\n", "two:2: a sentence of 10,001 words"},
      {"a\n" + many + "\n", "a\nb\n", "one:2: a sentence of 10,001 words"}};
  for (const auto& [texts, translations, message] : cases) {
    shop.write("one", texts);
    shop.write("two", translations);
    shop.refuses("p train --train one,two --format parallel -m m", message);
  }
}
