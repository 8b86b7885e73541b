// The program digits as its user meets it: in processes of its own.

#include "tests/examples/learners.h"

std::string pgm(unsigned label, unsigned seed, bool inverted = false) {
  Dice dice(seed);
  std::string text = "P5 8 8 255\n";
  for (const unsigned shade : learners_detail::shades(label, dice))
    text += static_cast<char>(inverted ? 255 - shade : shade);
  return text;
}

TEST_CASE("Digits: train, score in a fresh process, draw, classify") {
  const Workshop shop("digits");
  shop.must("train -m model --epochs 8");
  const std::string scored =
      shop.must("p eval -m model -d $test --confusion --per-label --pictures drawing.svg");
  CHECK(numbers_of(line_with(scored, "  digits")).at(0) > 90);
  CHECK(numbers_of(line_with(scored, "most frequent label")).at(0) == Approx(33.33));
  const std::string drawing = shop.read("drawing.svg");
  CHECK(drawing.starts_with("<svg "));
  CHECK(contains(drawing, "</svg>"));
  CHECK(contains(shop.must("p eval -m model -d $test --json"), "\"accuracy\""));

  for (const unsigned label : learners_detail::kDigits)
    shop.write(std::to_string(label) + ".pgm", pgm(label, 7));
  const std::string classify = "p classify -m model 0.pgm 1.pgm 3.pgm ";
  const std::string labelled = shop.must(classify);
  INFO(labelled);
  const Strings lines = split_fields(labelled, '\n');
  REQUIRE(lines.size() == 4);
  for (unsigned i = 0; i < 3; ++i) {
    const Strings fields = split_fields(lines[i], '\t');
    REQUIRE(fields.size() == 3);
    CHECK(fields[0] == std::to_string(learners_detail::kDigits[i]));
    CHECK(fields[2] == fields[0] + ".pgm");
    check_probabilities(fields[1]);
  }
  CHECK(shop.must(classify + "--threads 2") == labelled);
  CHECK(shop.must(classify + "-o out; cat out") == labelled);
  shop.write("ink.pgm", pgm(1, 7, true));
  CHECK(contains(shop.must("p classify -m model --invert --json ink.pgm"), "\"label\":\"1\""));
}

TEST_CASE("Digits: a cross-validation scores each picture once") {
  const Workshop shop("digits");
  const std::string train = "p train --train $train --channels 4 --batch 16 --epochs 3 -m m ";
  const std::string out = shop.must(train + "--folds 3");
  CHECK(contains(out, "fold 3 of 3\ntrain: 160 pictures"));
  const std::string all = from(out, "\nall folds: 240 pictures\n");
  double mean = 0;
  std::istringstream lines(out.substr(0, out.find("all folds")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  digits")) mean += numbers_of(line).at(0) / 3;
  }
  CHECK(numbers_of(line_with(all, "  digits")).at(0) == Approx(mean).margin(0.02));
  shop.must("for i in 1 2 3; do p eval -m m.$i -d $test || exit 1; done; ! test -e m");
  shop.refuses(train + "--folds 3", "m.1 exists: ");
  shop.refuses(train + "--folds 3 --dev $dev", "--folds");
  shop.refuses(train + "--folds 1000 --force", "too few for 1000 folds");
}

TEST_CASE("Digits: a model learns more, of pictures in another size") {
  const Workshop shop("digits");
  shop.must("train -m old --epochs 2");
  const std::string picture = "echo 'P2 2 2 9 1 2 3 4' > folder/$i/one.pgm; done; ";
  CHECK(contains(shop.must("for i in 0 1 3; do mkdir -p folder/$i; " + picture +
                           "p train --train folder -m new --init old --epochs 1"),
                 "train: 3 pictures of 8x8, 3 labels"));
  shop.must("for i in x; do mkdir folder/x; " + picture);
  shop.refuses("p train --train folder -m never --init old", "the model has no label 'x'");
}

TEST_CASE("Digits: labels come as pictures do, however many there are") {
  const Workshop shop("digits");
  shop.must("train -m model --epochs 1");
  shop.write("0.pgm", pgm(0, 7));
  // The last one of them is a pipe that is filled once there are labels, or after ten seconds.
  CHECK(shop.must("mkfifo last; p classify -m model $(yes ./0.pgm | head -n 3000) last > labels & "
                  "for i in $(seq 200); do test -s labels && break; sleep 0.05; done; "
                  "test -s labels || touch late; cat 0.pgm > last; wait; wc -l < labels; "
                  "! test -e late") == "3001\n");
}

TEST_CASE("Digits: data from which nothing can be learned are warned of") {
  const Workshop shop("digits");
  shop.write("i", idx({4, 1, 1}, {5, 5, 5, 5}));
  shop.write("l", idx({4}, {1, 2, 1, 2}));
  CHECK(
      contains(shop.done("p train -m m --force --channels 4 --epochs 1 --size 8x8 --train i:l").err,
               " are the same: there is nothing to tell apart\n"));
  shop.write("one", idx({4}, {1, 1, 1, 1}));
  shop.refuses("p train --train i:one -m never",
               "has no label but '1': there is nothing to tell apart");
}

TEST_CASE("Digits: handwriting of people whose digits it has not seen (slow)") {
  const std::string data = data_folder("optdigits");
  if (data.empty()) return;
  const std::string files = data + "/optdigits/optdigits.";
  const std::string out = Workshop("digits").must(
      "p train --batch 32 --shift 1 --epochs 6 --decay 0.6 -m model --train " + files +
      "tra --test " + files + "tes");
  CHECK(numbers_of(line_with(from(out, "\ntest:"), "  digits")).at(0) > 96.5);
}
