// The parser as its user meets it: the program itself, in processes of its own.

#include "tests/examples/learners.h"

/// The lines without HEAD and DEPREL.
std::string without_trees(const std::string& text) {
  std::string result;
  for (const std::string& line : split_fields(text, '\n')) {
    Strings fields = split_fields(line, '\t');
    if (fields.size() == 10) fields[6] = fields[7] = "_";
    result += join(fields, "\t") + "\n";
  }
  return result;
}

TEST_CASE("Parser: --graph finds the best tree of all, and says how probable arcs are") {
  const Workshop shop("parser");
  for (const std::string crossing : {"", " --crossing --char 8"}) {
    const std::string trained = shop.must(
        "train -m model --force --epochs 8 --test $test --graph --arc 16 --label 8" + crossing);
    CHECK(contains(trained, crossing.empty() ? ", projective trees, " : ", all trees, "));
    CHECK(contains(trained, " characters for 8, ") == !crossing.empty());
    const std::string scores = line_with(from(trained, "\ntest:"), "  parser");
    CHECK(std::stod(scores.substr(scores.find_first_of("0123456789"))) > 97);
    CHECK(contains(shop.must("p parse --model model --probabilities -i $test"), "Prob="));
    CHECK(contains(shop.must("p eval --model model --data $test --compare"),
                   "sentences with another tree when parsed alone: 0\n"));
  }
}

TEST_CASE("Parser: train, score in a fresh process, parse") {
  const Workshop shop("parser");
  shop.must("train -m model --epochs 8");
  const std::string scored = shop.must("p eval --model model --data $test --compare --show 2");
  INFO(scored);
  const std::string wanted = line_with(scored, "  parser");
  CHECK(line_with(shop.must("p eval --model model --data $test --show 0"), "  parser") == wanted);
  const std::vector<double> good = numbers_of(wanted);
  const std::vector<double> trivial = numbers_of(line_with(scored, "  by tag alone"));
  REQUIRE(good.size() == 4);
  REQUIRE(trivial.size() == 4);
  for (const double score : good) CHECK(score > 97);
  for (const double score : trivial) CHECK(score < 80);
  CHECK(contains(scored, "\nsentences with another tree when parsed alone: 0\n"));
  CHECK(contains(scored, "sees: root of the root"));
  // Fewer batches do the work of many, on nearly as many nodes, of which a sentence has hundreds.
  const auto work_of = [&](const std::string& label) {
    std::vector<double> numbers = numbers_of(line_with(scored, label));
    numbers.erase(numbers.begin(), numbers.end() - 2);
    return numbers;
  };
  const std::vector<double> together = work_of("32 together: "), alone = work_of("one at a time: ");
  CHECK(10 * together[0] < alone[0]);
  CHECK(alone[0] < 500);
  CHECK(together[1] == Approx(alone[1]).epsilon(0.1));
  CHECK(alone[1] < 1000);

  // Trees of the input are ignored and replaced; its other columns are copied.
  const std::string text = "# sent_id = 1\n" + shop.read("test"), bare = without_trees(text);
  shop.write("in", text);
  shop.write("bare", bare);
  const std::string parsed = shop.must("p parse --model model < bare");
  CHECK((without_trees(parsed) == bare));
  CHECK((parsed != bare));
  shop.must("p parse -m model -i in -o out --together 1");
  CHECK((shop.read("out") == parsed));
  // The trees it writes are those that it was scored for.
  CHECK(contains(shop.must("p eval -m model -d out"),
                 "  parser         100.00 %   100.00 %   100.00 %   100.00 %\n"));
  // Data to be learned from or to be scored on must have trees.
  shop.refuses("p train --train bare -m never", "bare:2: expected a word number from 0 to ");
  shop.refuses("p train --train $train --dev bare -m never", "bare:2: expected a word number");
  shop.refuses("p eval -m model -d bare", "bare:2: ");
  shop.refuses("p eval -m model -d $test --together 0", "--together");
}

TEST_CASE("Parser: answers come while there is more to be read, and before an error") {
  const Workshop shop("parser");
  const std::string sentence = "1\tking\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n";
  // A word without a known tag waits for one with it; too many of them are refused.
  const std::string odd = "1\tking\t_\tQ\t_\t_\t_\t_\t_\t_\n\n";
  std::string many;
  for (int i = 0; i < 1200; ++i) many += odd;
  shop.write("one", sentence);
  shop.write("broken", sentence + sentence + "1\tx\n\n");
  shop.write("odd", odd);
  shop.write("many", many + "never read");
  for (const std::string graph : {"", "--graph --arc 8 --label 8"}) {
    shop.must("train -m model --force --epochs 1 " + graph);
    // The second sentence comes when the first one has been answered, or after ten seconds.
    const std::string second =
        "rm -f answer late; (cat one; for i in $(seq 200); do test -s answer && break; sleep 0.05; "
        "done; test -s answer || touch late; cat one) | ";
    for (const std::string options : {"", " --threads 2", " --json", " -i /dev/stdin"})
      shop.must(second + "p parse -m model" + options + " > answer; ! test -e late");
    // Each sentence gets the tree that it gets in other company.
    shop.must("p parse -m model --together 1 -i $test > wanted");
    shop.must("p parse -m model --together 3 < $test | cmp - wanted");
    shop.must("p parse -m model --threads 3 < $test | cmp - wanted");
    shop.must("cat $test | p parse -m model | cmp - wanted");
    // One sentence of the test data, its tree, then a line that is none.
    const Result broken = shop.sh("p parse -m model < broken");
    shop.program().check_refused(broken, "standard input:5: expected the 10 tab-separated columns");
    CHECK(broken.out ==
          "1\tking\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
          "1\tking\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n");
    CHECK(contains(shop.done("cat odd one | p parse -m model").err,
                   "warning: standard input:1: the model does not know the tag 'Q'"));
    for (const std::string in : {"odd", "many"}) {
      const Result refused = shop.sh("p parse -m model < " + in);
      shop.program().check_refused(
          refused, "the model knows none of the tags (column 4, UPOS), such as 'Q'");
      CHECK(refused.out.empty());
    }
  }
}

TEST_CASE("Parser: one epoch of English-EWT reaches what greedy parsers do (slow)") {
  const std::string data = data_folder("ud-ewt");
  if (data.empty()) return;
  const Workshop shop("parser");
  const std::string ewt = data + "/ud-ewt/";
  CHECK(contains(shop.must("p train --epochs 1 -m model --train " + ewt + "train.conllu"),
                 "train: 12,544 sentences, 288 not projective, 204,577 words\n"));
  const std::string scored = shop.must("p eval -m model --compare -d " + ewt + "test.conllu");
  INFO(scored);
  const std::vector<double> scores = numbers_of(line_with(scored, "  parser"));
  REQUIRE(scores.size() == 4);
  CHECK(scores[0] > 80);
  CHECK(scores[1] > 75);
  CHECK(contains(scored, "\nsentences with another tree when parsed alone: 0\n"));
}
