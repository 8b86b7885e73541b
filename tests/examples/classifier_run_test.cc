// The classifier as its user meets it: the program itself, in processes of its own.

#include <regex>

#include "tests/examples/learners.h"

TEST_CASE("Classifier: train, score in a fresh process, classify") {
  const Workshop shop("classifier");
  for (const std::string encoder : {"lstm", "cnn", "both"}) {
    INFO(encoder);
    const std::string trained = shop.must("train -m model --force --epochs 8 --encoder " + encoder);
    CHECK(contains(trained, "LSTM of 2 x 8") == (encoder != "cnn"));
    CHECK(contains(trained, "convolutions of 3 x 8") == (encoder != "lstm"));

    const std::string scored = shop.must("p eval --model model --data $test --show 2");
    const double good = numbers_of(line_with(scored, "  classifier")).at(0),
                 trivial = numbers_of(line_with(scored, "most frequent label")).at(0);
    CHECK(good > 95);
    CHECK(trivial > 45);
    CHECK(trivial < 75);
    CHECK(contains(scored, "  right:     ") == (good < 100));

    shop.write("in", "so  do you  here\r\n\nYOU do, well\n");
    const std::regex labelled(
        "question\\tquestion:[^\\t]*\\tso do you here\n\n[^\\t]*\\t[^\\t]*\\tYOU do, well\n");
    CHECK(std::regex_match(shop.must("p classify --model model < in"), labelled));
    shop.write("new", "question\tdo you\nnew\tx\n");
    CHECK(contains(shop.must("p eval -m model -d new"),
                   "2 texts, 1 with a label that training did not have\n"));
  }
}

TEST_CASE("Classifier: all probabilities, the most probable label first") {
  const Workshop shop("classifier");
  shop.write("three", "a\tx\nb\ty\nc\tz\nc\tz\nc\tz\n");
  shop.must("p train --train three -m model --epochs 20");
  const Strings fields = split_fields(shop.must("echo z | p classify -m model"), '\t');
  REQUIRE(fields.size() == 3);
  CHECK(fields[0] == "c");
  check_probabilities(fields[1]);
  CHECK(fields[1].starts_with("c:0."));
}

TEST_CASE("Classifier: intents of voice commands, better than naive Bayes (slow)") {
  const std::string data = data_folder("snips");
  if (data.empty()) return;
  const Workshop shop("classifier");
  const std::string out =
      shop.must("for i in train valid test; do paste '" + data + "'/snips/$i/label '" + data +
                "'/snips/$i/seq.in > $i.tsv; done; p train --train train.tsv "
                "--dev valid.tsv --test test.tsv -m model --epochs 4");
  const std::string test = from(out, "\ntest:");
  CHECK(numbers_of(line_with(test, "  classifier")).at(0) > 96.7);
  CHECK(numbers_of(line_with(test, "most frequent label")).at(0) == Approx(12.29));
}
