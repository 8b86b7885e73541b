// The tree-LSTM as its user meets it: the program itself, in processes of its own.

#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/learners.h"
#include "tests/support/catch.h"

namespace treelstm_run_test {

TEST_CASE("Tree-LSTM: train, score in a fresh process, classify") {
  const Workshop shop("treelstm");
  const Result trained = shop.done("train -m model --epochs 12 --test $test");
  CHECK(contains(trained.out, "train: 300 trees, "));
  CHECK(contains(trained.out, "dev: 60 trees, "));
  CHECK(contains(trained.out, "model: 11 words of 12, hidden 16, "));
  CHECK(contains(trained.out, "epoch 1: loss "));
  CHECK(contains(trained.err, "epoch 1: 50 % ("));
  CHECK(contains(trained.err, "trees/s"));

  const std::string scored = shop.must("p eval --model model --data $test --confusion --show 2");
  const std::string wanted = line_with(from(trained.out, "\ntest:"), "  tree-LSTM");
  CHECK(line_with(scored, "  tree-LSTM") == wanted);
  const std::vector<double> good = numbers_of(wanted);
  const std::vector<double> trivial = numbers_of(line_with(scored, "most frequent label"));
  REQUIRE(good.size() == 4);
  REQUIRE(trivial.size() == 4);
  CHECK(good[0] > 90);
  CHECK(good[2] > 95);
  CHECK(trivial[0] < 50);
  CHECK(trivial[2] < 60);

  // Rows of the matrix add up to the trees of a label, its diagonal to the right ones. No tree is
  // neutral, and none is taken for that.
  double right = 0, trees = 0;
  const std::vector<std::string> names = {"0 very negative", "1 negative", "3 positive",
                                          "4 very positive"};
  for (std::size_t label = 0; label < names.size(); ++label) {
    const std::string& name = names[label];
    const std::string row = from(line_with(from(scored, "roots: "), "  " + name), name);
    const std::vector<double> counts = numbers_of(row.substr(name.size()));
    REQUIRE(counts.size() == names.size() + 1);
    for (std::size_t i = 0; i < names.size(); ++i) trees += counts[i];
    right += counts[label];
  }
  CHECK_FALSE(contains(from(scored, "roots: "), "  2 neutral"));
  CHECK(trees == 60);
  CHECK(100 * right / trees == Approx(good[0]).margin(0.01));
  CHECK(contains(scored, "\n  right:     "));
  CHECK(contains(scored, "\n  predicted: "));

  // The same words in two trees: the bracket decides what "not" stands before.
  shop.write("in",
             "(0 (0 not) (0 (0 good) (0 bad)))\r\n"
             "(0 (0 (0 not) (0 good)) (0 bad))\n"
             "\n"
             "not  very GOOD\n");
  const std::string classified = shop.must("p classify --model model --shape right < in");
  INFO(classified);
  const std::vector<std::string> lines = nlp::split_fields(classified, '\n');
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].rfind("3\tpositive\t", 0) == 0);
  CHECK(lines[1].rfind("1\tnegative\t", 0) == 0);
  CHECK(lines[2].empty());
  CHECK(lines[3].rfind("0\tvery negative\t", 0) == 0);
  const std::vector<std::string> fields = nlp::split_fields(lines[3], '\t');
  REQUIRE(fields.size() == 4);
  CHECK(fields[3] == "not very GOOD");
  const std::vector<double> probabilities = numbers_of(fields[2]);
  REQUIRE(probabilities.size() == 5);
  double sum = 0;
  for (const double p : probabilities) sum += p;
  CHECK(sum == Approx(1).margin(0.0026));
  CHECK(probabilities[0] > 0.5);
  CHECK(shop.must("p classify -m model -i in -o out --shape right; cat out") == classified);
  const std::string as_trees = shop.must("p classify -m model --trees --shape right < in");
  CHECK(contains(as_trees, "\t(3 (2 not) (1 (3 good) (1 bad)))\n"));
  CHECK(contains(as_trees, "\t(0 (2 not) (4 (2 very) (3 GOOD)))\n"));
}

TEST_CASE("Tree-LSTM: what is a tree, and what a sentence") {
  const Workshop shop("treelstm");
  shop.must("train -m model --epochs 1");
  const auto shape_of = [&](const std::string& line, const std::string& options = "") {
    std::string tree = shop.must("echo '" + line + "' | p classify -m model --trees " + options);
    tree = tree.substr(tree.rfind('\t') + 1);
    for (char& c : tree) c = c >= '0' && c <= '4' ? '.' : c;
    return tree;
  };
  CHECK(shape_of("(2 (2 a) (2 (2 b) (2 c)))") == "(. (. a) (. (. b) (. c)))\n");
  CHECK(shape_of("a b c") == "(. (. (. a) (. b)) (. c))\n");
  CHECK(shape_of("a b c", "--shape right") == "(. (. a) (. (. b) (. c)))\n");
  CHECK(shape_of("(so) b") == "(. (. -LRB-so-RRB-) (. b))\n");
  CHECK(shape_of("(2 a)", "--format text") == "(. (. -LRB-.) (. a-RRB-))\n");
  for (const auto& [line, options, message] :
       {std::array{"a b\\n(2 a b)\\n", "",
                   "standard input:2: expected ')' behind the word 'a', found the word 'b'"},
        {"a b", "--format trees", "standard input:1: expected '('"},
        {"a", "--format xml", "unknown format 'xml'"},
        {"a", "--shape round", "unknown shape 'round'"}})
    shop.program().check_refused(
        shop.sh(std::string("printf '") + line + "' | p classify -m model --trees " + options),
        message);
  shop.must("yes good | head -n 3000 | tr '\\n' ' ' > many");
  for (const std::string shape : {"left", "right", "balanced"})
    CHECK(nlp::split_fields(shop.must("p classify -m model --trees -i many --shape " + shape), '\t')
              .size() == 4);
}

TEST_CASE("Tree-LSTM: files that are no trees") {
  const Workshop shop("treelstm");
  shop.write("bad", "(2 fine)\n(7777 bad)\n");
  shop.write("one", "(2 fine)\n(2 bad)\n");
  shop.must("train -m model --epochs 1");
  const std::string wrong =
      "bad:2: expected a label from 0 to 999 behind '(', found '7777' (column 2)";
  shop.refuses("p train --train bad -m never", wrong);
  shop.refuses("p train --train $train --dev bad -m never", "bad:2: expected a label");
  shop.refuses("p train --train one -m never", "one has one label only");
  shop.refuses("p eval -m model -d bad", "bad:2: ");
  shop.refuses("p classify -m model -i bad", "bad:2: ");
}

TEST_CASE("Tree-LSTM: five epochs reach what random vectors can on real trees (slow)") {
  const std::string data = data_folder("sst");
  if (data.empty()) return;
  const Workshop shop("treelstm");
  const std::string out =
      shop.must("cd " + data + "/sst && p train --train train.txt --dev dev.txt --test test.txt " +
                "--epochs 5 --model " + shop.path("model"));
  const std::vector<double> scores = numbers_of(line_with(from(out, "\ntest:"), "  tree-LSTM"));
  REQUIRE(scores.size() == 4);
  CHECK(scores[0] > 41);
  CHECK(scores[1] > 80);
  CHECK(scores[2] > 78);
}

}  // namespace treelstm_run_test
