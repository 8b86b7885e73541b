// The program emoji as its user meets it: the program itself, in processes of its own.

#ifdef EMOJI_BINARY

#include <regex>

#include "tests/examples/learners.h"

/// The accuracies of groups and subgroups in the line of a choice of inputs.
std::vector<double> accuracies(const std::string& out, const std::string& inputs) {
  return numbers_of(line_with(out, "  " + inputs + " "));
}

const std::string kLarger = "{\"image\": \"" + std::string(std::size_t{16} * 16 * 8, '0') + "\"}\n";

TEST_CASE("Emoji: train, score every choice of inputs in a fresh process, predict") {
  const Workshop shop("emoji");
  shop.must("train -m model --epochs 12");
  const std::string test = shop.must("p eval -m model -d $test");
  // Words tell the group where they are, in two thirds; the row tells the age.
  const std::vector<double> all = accuracies(test, "image,text,table");
  const std::vector<double> text = accuracies(test, "text"), table = accuracies(test, "table");
  const std::vector<double> trivial = accuracies(test, "most frequent");
  REQUIRE(all.size() == 2);
  CHECK(text[0] > 70);
  CHECK(all[0] > 70);
  CHECK(all[1] > text[1] + 5);
  CHECK(all[1] > table[1] + 5);
  CHECK(text[0] > table[0] + 10);
  CHECK(trivial[0] < 65);
  CHECK(trivial[1] < 45);

  const std::string some = line_with(test, "  text,table ");
  const std::string less = shop.must("p eval -m model -d $test --inputs table,text");
  CHECK(line_with(less, "  text,table ") == some);
  CHECK_FALSE(contains(less, "image"));
  const std::string json = shop.must("p eval -m model -d $test --json --per-label");
  CHECK(contains(json, "\"group accuracy\":0."));
  CHECK(contains(json, "\"Animals\":{"));

  shop.write("in",
             "{\"words\": [\"fox\"], \"row\": {\"age\": 9}}\n\n"
             "{\"emoji\": \"x\", \"words\": [\"axe\"], \"row\": {\"age\": 2}}\n");
  const std::regex answers(
      "\\tAnimals\\t[\\d.]+\\tAnimals-old\\t[\\d.]+\n"
      "x\\tTools\\t[\\d.]+\\tTools-new\\t[\\d.]+\n");
  const std::string answered = shop.must("p predict -m model < in");
  INFO(answered);
  CHECK(std::regex_match(answered, answers));
  CHECK(shop.must("p predict -m model < /dev/null").empty());

  const std::string drawn =
      shop.must("p predict -m model -i $test --sheet sheet.svg --json --threads 2");
  CHECK(std::count(drawn.begin(), drawn.end(), '\n') == 80);
  CHECK(contains(drawn, "{\"emoji\":\"3000\",\"group\":\""));
  const std::string svg = shop.read("sheet.svg");
  CHECK(contains(svg, "<svg "));
  CHECK(contains(svg, ">3079</text>"));

  shop.write("larger", kLarger);
  shop.refuses("p predict -m model -i larger", "has 16 lines, those that the model knows have 8");
  shop.refuses("p predict -m model -i $test --sheet $test", "--sheet");
}

TEST_CASE("Emoji: answers come as emoji do, and those before an error are kept") {
  const Workshop shop("emoji");
  shop.must("train -m model --epochs 1; p predict -m model -i $test --json > whole");
  // The second emoji comes when the first one has been answered, or after ten seconds.
  for (const std::string options : {"", "--threads 2", "--json", "-i /dev/stdin"}) {
    const std::string talk = shop.must(
        "rm -f answer late; (head -n 1 test; for i in $(seq 200); do test -s answer && break; "
        "sleep 0.05; done; test -s answer || touch late; head -n 1 test) | p predict -m model " +
        options + " > answer; cat answer; ! test -e late");
    CHECK(std::count(talk.begin(), talk.end(), '\n') == 2);
  }
  // Each gets the answer that it gets in other company.
  shop.must("p predict -m model -i test --json --threads 3 | cmp - whole");
  shop.must(
      "while read -r line; do echo \"$line\" | p predict -m model --json; done < test | cmp - "
      "whole");
  for (const std::string& wrong : {std::string("[]\n"), kLarger}) {
    shop.write("wrong", wrong);
    const Result broken = shop.sh("(head -n 40 test; cat wrong) | p predict -m model --json");
    shop.program().check_refused(broken, "standard input:41: ");
    CHECK(broken.out == shop.must("head -n 40 whole"));
  }
}

TEST_CASE("Emoji: threads share out the parts of an update, and change nothing") {
  Workshop("emoji").must(
      "train -m one --epochs 2 --parts 3 && train -m two --epochs 2 --parts 3 --threads 2 && "
      "cmp one two");
}

TEST_CASE("Emoji: as many predictions for a part of the data as it has emoji") {
  const Workshop shop("emoji");
  for (const std::string split : {"", "--split 50/20/30 --split-seed 7"}) {
    shop.must("p train --train $train -m model --force --filters 2 --epochs 1 " + split);
    const std::string said = shop.must("p predict -m model -i $train --part test");
    CHECK(numbers_of(shop.must("p eval -m model -d $train --part test")).at(0) ==
          static_cast<double>(std::count(said.begin(), said.end(), '\n')));
  }
}

TEST_CASE("Emoji: learned from the packages, the whole beats each part (slow)") {
  if (!emoji_packages_are_there()) return;
  const Workshop shop("emoji");
  shop.must("p gather --size 16 --out emoji.jsonl");
  const std::string trained =
      shop.must("p train --train emoji.jsonl -m model --filters 8 --epochs 20");
  const std::string test = from(trained, "\ntest: ");
  const std::vector<double> all = accuracies(test, "image,text,table");
  for (const char* part : {"image", "text", "table", "most frequent"}) {
    CHECK(all.at(0) > accuracies(test, part).at(0) + 5);
    CHECK(all.at(1) > accuracies(test, part).at(1) + 5);
  }
}

#else

TEST_CASE("Emoji: the program") {
  skip("the program emoji is not built without FreeType, HarfBuzz and pugixml");
}

#endif
