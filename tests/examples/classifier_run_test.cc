// The classifier as its user meets it: the program itself, in processes of its own.

#include <array>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/learners.h"
#include "tests/support/catch.h"

namespace classifier_run_test {

TEST_CASE("Classifier: train, score in a fresh process, classify") {
  const Workshop shop("classifier");
  for (const std::string encoder : {"lstm", "cnn", "both"}) {
    INFO(encoder);
    const Result trained =
        shop.done("train -m model --force --epochs 8 --test $test --encoder " + encoder);
    CHECK(contains(trained.out, "train: 300 texts, "));
    CHECK(contains(trained.out, " words, 2 labels\n"));
    CHECK(contains(trained.out, "dev: 60 texts, "));
    CHECK(contains(trained.out, "model: 9 words of 8, "));
    CHECK(contains(trained.out, "LSTM of 2 x 8") == (encoder != "cnn"));
    CHECK(contains(trained.out, "convolutions of 3 x 8") == (encoder != "lstm"));
    CHECK(contains(trained.out, "epoch 1: loss "));
    CHECK(contains(trained.err, "texts/s"));

    const std::string scored = shop.must("p eval --model model --data $test --show 2");
    const std::string wanted = line_with(from(trained.out, "\ntest:"), "  classifier");
    CHECK(line_with(scored, "  classifier") == wanted);
    CHECK(numbers_of(wanted).at(0) > 95);
    const double trivial = numbers_of(line_with(scored, "most frequent label")).at(0);
    CHECK(trivial > 45);
    CHECK(trivial < 75);
    CHECK(contains(scored, "  right:     ") == (numbers_of(wanted).at(0) < 100));

    shop.write("in", "so  do you  here\r\n\nYOU do, well\n");
    const std::string labelled = shop.must("p classify --model model < in");
    const std::vector<std::string> lines = nlp::split_fields(labelled, '\n');
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].rfind("question\tquestion:", 0) == 0);
    CHECK(nlp::split_fields(lines[0], '\t').back() == "so do you here");
    CHECK(lines[1].empty());
    const std::vector<std::string> fields = nlp::split_fields(lines[2], '\t');
    REQUIRE(fields.size() == 3);
    CHECK(fields[2] == "YOU do, well");
    CHECK(shop.must("p classify -m model -i in -o out; cat out") == labelled);
    shop.write("new", "question\tdo you\nnew\tx\n");
    CHECK(contains(shop.must("p eval -m model -d new"),
                   "2 texts, 1 with a label that training did not have\n"));
  }
}

TEST_CASE("Classifier: all probabilities, the most probable label first") {
  const Workshop shop("classifier");
  shop.write("three", "a\tx\nb\ty\nc\tz\nc\tz\nc\tz\n");
  shop.must("p train --train three -m model --epochs 20");
  const std::vector<std::string> fields =
      nlp::split_fields(shop.must("echo z | p classify -m model"), '\t');
  REQUIRE(fields.size() == 3);
  CHECK(fields[0] == "c");
  check_probabilities(fields[1]);
  CHECK(fields[1].rfind("c:0.", 0) == 0);
}

TEST_CASE("Classifier: data and options that cannot be are refused in a sentence") {
  const Workshop shop("classifier");
  shop.must("train -m model --epochs 1");
  for (const auto& [name, text, message] :
       {std::array{"bad", "a\tfine\nno tab\n",
                   "bad:2: expected a label, a tab and a text, found no tab in 'no tab'"},
        {"no-label", "a\tfine\n\tx\n", "no-label:2: "},
        {"no-text", "a\tfine\nb\t\n", "no-text:2: "},
        {"one", "a\tx\na\ty\n", "one has no label but 'a': there is nothing to tell apart"}}) {
    shop.write(name, text);
    shop.refuses(std::string("p train -m never --train ") + name, message);
  }
  shop.refuses("p train --train $train --dev bad -m never", "bad:2: expected a label");
  shop.refuses("p eval -m model -d bad", "bad:2: ");
  shop.refuses("train -m m --encoder bert", "unknown encoder 'bert': expected lstm, cnn or both");
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

}  // namespace classifier_run_test
