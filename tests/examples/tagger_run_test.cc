// The tagger as its user meets it: the program itself, in processes of its own.

#include "tests/examples/learners.h"

TEST_CASE("Tagger: default features depend on the format") {
  const Workshop shop("tagger");
  shop.write("text", "The cat sat on the mat.\nA dog ran.\n");
  for (const auto& [options, features] : {std::pair("$train", "word:128,suffix3:32,shape:16, "),
                                          {"$train --features word", "word:128, "},
                                          {"text --format text", "word:64, "}})
    CHECK(contains(
        shop.must("p train -m new --force --hidden 4 --epochs 1 --train " + std::string(options)),
        "model: " + std::string(features)));
}

TEST_CASE("Tagger: train, score in a fresh process, tag") {
  const Workshop shop("tagger");
  CHECK(contains(shop.done("train -m model --epochs 4").err, "epoch 1: 25 % ("));
  const std::string scored = shop.must("p eval --model model --data $test");
  CHECK(contains(line_with(scored, "  tagger"), "100.00 %"));
  CHECK_FALSE(contains(line_with(scored, "most frequent"), "100.00 %"));

  shop.write("in", "the old watch watch a red yak .\n\n  a  big tree\n");
  CHECK(shop.must("p tag --model model < in") ==
        "the|DET old|ADJ watch|NOUN watch|VERB a|DET red|ADJ yak|NOUN .|PUNCT\n\n"
        "a|DET big|ADJ tree|NOUN\n");
}

TEST_CASE("Tagger: training stops when the dev score stays the same") {
  CHECK(contains(Workshop("tagger").must("train -m model --epochs 100 --patience 1"),
                 "stopped: no better dev score in 1 epochs"));
}

TEST_CASE("Tagger: a CRF keeps to the scheme of the tags") {
  // A kind of span begins with "in" or "by"; its second word may be any.
  Dice dice(11);
  const Strings words = {"rome", "paris", "milk", "bread", "blue"};
  std::string data;
  for (int i = 0; i < 120; ++i) {
    const bool place = dice.one_of<std::string>({"a", "b"}) == "a";
    const std::string kind = place ? "PLACE" : "WAY";
    data += "we|O go|O " + std::string(place ? "in" : "by") + "|B-" + kind + ' ' +
            dice.one_of(words) + "|I-" + kind + ' ' + dice.one_of(words) + "|I-" + kind +
            " now|O\n";
  }
  const Workshop shop("tagger");
  shop.write("spans", data);
  const std::string trained = shop.must(
      "p train --train spans --split 80/10/10 -m crf --features word:8 --hidden 8 --epochs 6 "
      "--learning-rate 0.02 --crf");
  CHECK(contains(line_with(trained, "model: "), "CRF with constraints"));
  CHECK(contains(trained, "span precision"));
  CHECK(contains(line_with(from(trained, "\ntest:"), "  tagger"), "100.00 %"));
  const std::string tagged =
      shop.must("echo we go by blue milk now | p tag -m crf --format json --probabilities");
  CHECK(contains(tagged, R"("tags":["O","O","B-WAY","I-WAY","I-WAY","O"])"));
  CHECK(contains(tagged, R"("probabilities":[)"));
  // Nothing that begins inside a span, whatever the words are.
  const std::string strange =
      shop.must("printf 'milk bread\\nin\\n' | p tag -m crf --format columns");
  CHECK_FALSE(contains(strange.substr(0, strange.find('\n')), "I-"));
  // Training goes on from such a model.
  CHECK(contains(
      line_with(shop.must("p train --train spans --init crf -m next --epochs 1"), "model: "),
      "CRF with constraints"));
}

TEST_CASE("Tagger: vectors from a file tell of words that training did not have") {
  // Words have no meaning but their vectors: the tag is the sign of the first number.
  const Workshop shop("tagger");
  std::string vectors = "300 4\n", one, two;
  Dice dice(5);
  for (unsigned i = 0; i < 300; ++i) {
    const bool positive = dice.below(2) == 0;
    const std::string word = "w" + std::to_string(i);
    vectors += word + (positive ? " 1" : " -1");
    for (unsigned k = 0; k < 3; ++k) vectors += " 0." + std::to_string(dice.below(10));
    vectors += "\n";
    const std::string tagged = (i == 7 ? "W7" : word) + (positive ? "|P" : "|N");
    (i < 200 ? one : two) += tagged + (i % 4 == 3 ? "\n" : " ");
  }
  shop.write("v.vec", vectors);
  shop.write("one", one);
  shop.write("two", two);
  const std::string train =
      "p train --train one --test two -m model --hidden 8 --batch 8 --learning-rate 0.02 "
      "--dropout 0 ";
  const std::string trained = shop.must(train + "--features word --vectors v.vec --epochs 40");
  // "W7" has the vector of its lower case; the unknown word has none.
  CHECK(contains(
      trained,
      "vectors: 300 words of 4 numbers, for 100.00 % of the 200 words of the training data"));
  CHECK(contains(line_with(trained, "model: "), "word:4, "));
  CHECK(contains(line_with(from(trained, "\ntest:"), "  tagger"), "100.00 %"));
  shop.must("mv v.vec gone; " + train + "--resume --epochs 41; mv gone v.vec");
  // The unknown word is no word of the training data, and a word that comes twice is one.
  shop.write("small", "w1|P w2|N\n");
  shop.write("twice.vec", "w1 1 2\nw2 3 4\nw1 9 9\n");
  shop.write("other.vec", "x 1\n");
  shop.write("nan.vec", "w1 1\nw2 nan\n");
  const std::string small = "p train --train small -m small.model --hidden 4 --epochs 1 --force ";
  CHECK(
      contains(shop.must(small + "--features word --vectors twice.vec"),
               "vectors: 2 words of 2 numbers, for 100.00 % of the 2 words of the training data"));
  CHECK(contains(shop.done(small + "--vectors other.vec").err,
                 "warning: no word of the training data has a vector in that file\n"));
  NamedTensor numbers, words;
  numbers.name = "vectors";
  numbers.shape = {1, 1};
  numbers.bytes = std::string("\0\0\xc0\x7f", 4);
  words.name = "words";
  words.type = NamedTensor::Type::U8;
  words.shape = {3};
  words.bytes = "w1\n";
  dynet::write_tensors(shop.path("nan.safetensors"), {numbers, words});
  for (const auto& [options, message] :
       {std::pair("nan.vec",
                  "nan.vec: line 2: needs a word and 1 numbers; \"nan\" is not a number"),
        {"nan.safetensors", "a number of the word 'w1' is not finite"},
        {"v.vec --features shape", "--vectors needs the feature word or lower"},
        {"one", "one"},
        {"none", "No such file"}})
    shop.refuses(small + "--vectors " + options, message);
}

TEST_CASE("Tagger: the n best sequences of tags, with probabilities") {
  const Workshop shop("tagger");
  shop.write("in", "the big dog watch a red watch .\nthe\n\n");
  for (const std::string crf : {"", "--crf"}) {
    shop.must("train -m model --force --epochs 4 " + crf);
    const auto tag = [&](const std::string& more) {
      return split_fields(shop.must("p tag -m model < in " + more), '\n');
    };
    const Strings lines = tag("--nbest 3");
    REQUIRE(lines.size() == 10);  // of the last, empty line a blank one too
    for (const std::size_t blank : {3, 7, 8}) CHECK(lines[blank].empty());
    double last = 1, sum = 0;
    for (int i = 0; i < 3; ++i) {
      const std::size_t tab = lines[i].find('\t');
      REQUIRE(tab != std::string::npos);
      const double probability = std::stod(lines[i].substr(0, tab));
      CHECK(probability <= last);
      sum += last = probability;
      for (int k = 0; k < i; ++k)
        CHECK(lines[k].substr(lines[k].find('\t')) != lines[i].substr(tab));
    }
    CHECK(sum <= 1.0001);
    // The first is what is found without a list.
    CHECK(lines[0].substr(lines[0].find('\t') + 1) == tag("")[0]);
    // A sentence of one word has as many sequences as tags: all are listed.
    const Json word = Json::parse(tag("--nbest 100 --format json")[1]);
    INFO(word);
    double total = 0;
    for (const Json& each : word.at("best")) total += each.at("probability").get<double>();
    CHECK(word.at("best").size() == 5);
    CHECK(total == Approx(1).epsilon(1e-5));
    shop.refuses("p tag -m model --nbest 2 --format columns < in", "has no place for --nbest");
    shop.refuses("p tag -m model --nbest 0 < in", "--nbest");
  }
}

TEST_CASE("Tagger: case and punctuation come back") {
  const Workshop shop("tagger");
  shop.write("verses.txt", verses());
  const std::string trained = shop.must(
      "p train --train verses.txt --split 80/10/10 -m model --features word:16 --hidden 16 "
      "--epochs 6 --learning-rate 0.01");
  CHECK(contains(trained, "mark precision"));
  const std::string test = shop.must("p eval -m model -d verses.txt --part test --show 3");
  CHECK(line_with(test, "  tagger") == line_with(from(trained, "\ntest:"), "  tagger"));
  CHECK(contains(test, "  restored: And God said, Let there be light: and there was light.\n"));

  shop.write("bare", "but the lord blessed be he spake unto moses and he heard\n");
  shop.write("dressed", "but The Lord; blessed? be he spake -- unto moses AND he heard\n");
  for (const std::string in : {"bare", "dressed"})
    CHECK(shop.must("p tag -m model -i " + in) ==
          "But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  CHECK(contains(shop.must("p tag -m model --tags -i bare"),
                 "but|Title the|lower lord|UPPER blessed|(lower be|lower he|lower)"));
}
