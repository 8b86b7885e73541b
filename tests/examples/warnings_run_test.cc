// Warnings of training for data from which nothing can be learned.

#include "tests/examples/programs.h"

/// The lines that begin with "warning: ".
std::string warnings(const Result& result) {
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  std::string all;
  std::istringstream in(result.err);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("warning: ")) all += line + '\n';
  return all;
}

/// `data` with words that it does not have, in a file `odd`.
const std::string kMakeOdd =
    "sed 's/the/qa/g; s/cat/qb/g; s/sleeps/qc/g; s/rises/qd/g; s/good/qe/g; s/film/qf/g' data "
    "> odd; ";

TEST_CASE("Warnings: a line for dev or test data that are the training data, none for others") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.write("some", each.sentence);
    CHECK(warnings(desk.sh("train --model model --dev some --test some")).empty());
    CHECK(warnings(desk.sh("cp data copy; train --model other --dev data --test copy")) ==
          "warning: data is the same as the training data: its scores say nothing of other data\n"
          "warning: copy is the same as the training data: its scores say nothing of other data\n");
  });
}

TEST_CASE("Warnings: data whose words the model does not know") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    const std::string unknown = "warning: odd: the model knows 0.00 % of the words";
    const Result as_dev = desk.sh(kMakeOdd + "train --model model --dev odd");
    CHECK(contains(warnings(as_dev), unknown));
    CHECK(contains(warnings(desk.sh("DATA=odd train --init model --model more")), unknown));
  });
}

TEST_CASE("Warnings: parts of a split that hold nothing") {
  on_desks(4, "", [](const AnyProgram& each, const Desk& desk) {
    if (each.program.name == "parser" || each.program.name == "treelstm") return;
    CHECK(warnings(desk.sh("train --model model --split 1000/1/1")) ==
          "warning: the dev part of data is empty: nothing says which epoch is best\n"
          "warning: the test part of data is empty: nothing says how good the model is\n");
  });
}

TEST_CASE("Warnings: a list of words, each of which comes once") {
  std::string words;
  for (char c = 'a'; c <= 'z'; ++c) words += std::string(3, c) + '\n';
  const Desk desk(all_programs()[1]);
  desk.write("data", words);
  CHECK(warnings(desk.sh("train --model model")) ==
        "warning: data: the model knows 0.00 % of the words, as training has the others less than "
        "2 times: a smaller --min-count or --level char helps\n");
  CHECK(warnings(desk.sh("train --model other --min-count 1")).empty());
  CHECK(warnings(desk.sh("train --model char --level char")).empty());
}
