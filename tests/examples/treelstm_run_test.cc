// The tree-LSTM as its user meets it: the program itself, in processes of its own.

#include "tests/examples/learners.h"

TEST_CASE("Tree-LSTM: train, score in a fresh process, classify") {
  const Workshop shop("treelstm");
  CHECK(contains(shop.done("train -m model --epochs 12").err, "epoch 1: 50 % ("));
  const std::string scored = shop.must("p eval --model model --data $test --confusion --show 2");
  const std::vector<double> good = numbers_of(line_with(scored, "  tree-LSTM"));
  const std::vector<double> trivial = numbers_of(line_with(scored, "most frequent label"));
  REQUIRE(good.size() == 4);
  REQUIRE(trivial.size() == 4);
  CHECK(good[0] > 90);
  CHECK(good[2] > 95);
  CHECK(trivial[0] < 50);
  CHECK(trivial[2] < 60);

  // No tree is neutral, and none is taken for that.
  CHECK(contains(from(scored, "roots: "), "  3 positive"));
  CHECK_FALSE(contains(from(scored, "roots: "), "  2 neutral"));
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
  const Strings lines = split_fields(classified, '\n');
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].starts_with("3\tpositive\t"));
  CHECK(lines[1].starts_with("1\tnegative\t"));
  CHECK(lines[2].empty());
  CHECK(lines[3].starts_with("0\tvery negative\t"));
  const Strings fields = split_fields(lines[3], '\t');
  REQUIRE(fields.size() == 4);
  CHECK(fields[3] == "not very GOOD");
  const std::vector<double> probabilities = numbers_of(fields[2]);
  REQUIRE(probabilities.size() == 5);
  CHECK(std::accumulate(probabilities.begin(), probabilities.end(), 0.0) ==
        Approx(1).margin(0.0026));
  CHECK(probabilities[0] > 0.5);
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
    CHECK(split_fields(shop.must("p classify -m model --trees -i many --shape " + shape), '\t')
              .size() == 4);
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

TEST_CASE("Labels: as many as the training data have") {
  const Desk desk(any_program("treelstm"));
  desk.write("three", "(2 (0 a) (2 b))\n(1 (1 c) (0 a))\n(1 c)\n");
  desk.write("four", "(2 (0 a) (2 b))\n(3 c)\n");
  const std::string out = desk.must("DATA=three EPOCHS=30 train --model model --batch 1");
  CHECK(contains(out, "labels: 0, 1, 2\n"));
  CHECK_FALSE(contains(desk.must("p eval -m model -d three"), "positive"));
  const Json line = Json::parse(desk.must("echo '(2 (0 a) (2 b))' | apply --json"));
  CHECK(line.at("probabilities").size() == 3);
  desk.refuses("p eval -m model -d four", 1, "four:2: expected a label from 0 to 2 behind '(', ");
  desk.refuses("DATA=three train --model other --dev four", 1, "four:2: expected a label from 0");
  // Five numbers are the sentiments, of which SST has no names.
  desk.write("five", "(4 (0 a) (2 b))\n(3 (1 c) (0 a))\n");
  CHECK(contains(desk.must("DATA=five train --model five.model"),
                 "labels: very negative, negative, neutral, positive, very positive\n"));
}

TEST_CASE("Labels: names from the data") {
  const Desk desk(any_program("treelstm"));
  desk.write("named", "(up (flat a) (up b))\n(down (down c) (flat a))\n(down c)\n");
  const std::string options = "--batch 1 --learning-rate 0.1 --dropout 0 --unknown 0";
  CHECK(contains(desk.must("DATA=named EPOCHS=30 train --model model " + options),
                 "labels: down, flat, up\n"));
  CHECK(contains(desk.must("p eval -m model -d named --confusion"), "  down     2   0  100.00 %"));
  CHECK(contains(desk.must("echo '(up (flat a) (up b))' | apply --trees"), "2\tup\t"));
  CHECK(contains(desk.must("echo '(up (flat a) (up b))' | apply --trees"),
                 "\t(up (flat a) (up b))\n"));
  CHECK(contains(desk.must("echo '(sideways c)' | apply"), "-LRB-sideways c-RRB-"));
  desk.write("mixed", "(up a)\n(0 b)\n");
  desk.refuses("DATA=mixed train --model other", 1,
               "mixed:2: expected a name, as other labels have, behind '(', found '0' (column 2)");
  desk.write("negative", "(1 a)\n(-1 b)\n");
  desk.refuses("DATA=negative train --model other", 1, "negative:2: expected a label from 0 to ");
  desk.write("sideways", "(up a)\n(sideways b)\n");
  desk.refuses("p eval -m model -d sideways", 1,
               "sideways:2: expected the label down, flat or up behind '(', found 'sideways'");
  // Labels of a resumed run are those of the checkpoint.
  desk.must("cp model whole; DATA=named EPOCHS=29 train --model parts " + options);
  desk.must("p train --train named --model parts --resume --epochs 30 --patience 0");
  desk.must("cmp parts whole");
}

TEST_CASE("Labels: names from --labels") {
  const Desk desk(any_program("treelstm"));
  desk.write("data", "(1 (0 a) (1 b))\n(0 (0 c) (0 a))\n");
  desk.write("names", "dull\n\nneutral\r\n splendid \n");
  desk.must("train --model model --labels names");
  desk.must("train --model same --labels 'dull, neutral,splendid'");
  desk.must("cmp model same");
  const std::string scores = desk.must("p eval -m model -d data --per-label --confusion");
  CHECK(contains(scores, "positive/negative"));
  CHECK(contains(scores, "  0 dull "));
  const Json line = Json::parse(desk.must("echo a b | apply --json"));
  CHECK(line.at("probabilities").count("splendid") == 1);
  // The names are kept, also by a run that is resumed without them.
  desk.must("EPOCHS=2 train --model model --resume");
  CHECK(contains(desk.must("echo a b | apply --json"), "splendid"));
  desk.refuses("train --model model --resume --labels dull,fair,splendid", 1,
               "began with --labels dull,neutral,splendid: it cannot go on with "
               "dull,fair,splendid");
  // Data may write the names.
  desk.write("written", "(dull (neutral a) (dull b))\n");
  desk.must("DATA=written train --model written.model --labels names");
  CHECK(contains(desk.must("p classify --trees -m written.model -i written"), " a) ("));

  const auto refused = [&](const std::string& labels, const std::string& why) {
    desk.refuses("train --model new --labels " + labels, 1, why);
  };
  refused("dull,fair,dull", "--labels names 'dull' twice");
  refused("dull,,fair", "one of the names in 'dull,,fair' is empty");
  refused("nowhere", "cannot open nowhere");
  refused("/dev/null", "--labels names 0 labels: expected from 2 to 1000");
  desk.write("data", "(2 (0 a) (1 b))\n");
  refused("dull,fine", "data:1: expected a label from 0 to 1 behind '(', found '2' (column 2)");
}

TEST_CASE("Labels: the accuracy that --select names decides") {
  const Desk desk(any_program("treelstm"));
  // Roots of dev are right at once, as they are the most frequent label; nodes improve later.
  std::string data, dev;
  for (int i = 0; i < 10; ++i) data += "(1 (0 a) (1 b))\n(1 (1 b) (1 b))\n(1 (0 a) (0 a))\n";
  for (int i = 0; i < 5; ++i) dev += "(1 (0 a) (1 b))\n(1 (1 b) (0 a))\n";
  desk.write("data", data);
  desk.write("dev", dev);
  const std::string options =
      "--dev dev --dropout 0 --unknown 0 --batch 4 --seed 2 "
      "--learning-rate 0.01 ";
  const auto best_epochs = [&](const std::string& more) {
    std::string best;
    const std::string out = desk.must("EPOCHS=12 train " + options + more);
    for (int epoch = 1; epoch <= 12; ++epoch) {
      const std::string line = line_with(out, "epoch " + std::to_string(epoch) + ": loss");
      if (contains(line, ", best")) best += std::to_string(epoch) + " ";
    }
    return best;
  };
  const std::string roots = best_epochs("--model roots");
  CHECK(best_epochs("--model same --select root") == roots);
  CHECK(best_epochs("--model nodes --select nodes") != roots);
  const auto nodes_right = [&](const std::string& model) {
    const Json scores = Json::parse(desk.must("p eval --json -d dev -m " + model));
    return scores.at("model").at("all nodes").get<double>();
  };
  CHECK(nodes_right("nodes") > nodes_right("roots"));
  desk.refuses("train --model nodes --resume --select root --dev dev", 1,
               "began with --select nodes: it cannot go on with root");
  desk.refuses("train --model new --select leaves", 1,
               "unknown choice for --select 'leaves': expected root or nodes");
}
