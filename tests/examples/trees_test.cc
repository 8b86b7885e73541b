// The reader of trees, the writer, and trees for sentences that have none; scores of trees:
// accuracies of roots, nodes and phrases, the confusion matrix, and the most frequent label.

#include "examples/nlp/treelstm/trees.h"

#include "examples/nlp/treelstm/evaluate.h"
#include "tests/examples/helpers.h"

namespace trees_test {

using namespace treelstm;

Treebank read(const std::string& text) {
  std::istringstream in(text);
  return read_trees(in, "data.txt");
}

std::string error_of(const std::string& text) {
  return error_from([&] { read(text); });
}

/// The tree as it was read.
std::string text_of(const Tree& tree) {
  std::vector<unsigned> labels;
  for (const Node& node : tree.nodes) labels.push_back(node.label);
  return tree_text(tree, labels);
}

Tree tree(const std::string& text) { return parse_tree(text, "data.txt", 1); }

Prediction prediction(const std::vector<unsigned>& labels, const Floats& root) {
  Prediction result;
  result.labels = labels;
  result.root = root;
  return result;
}

TEST_CASE("Trees: labels, words, and children before parents") {
  const std::string first = "(3 (2 The) (4 (0 very) (1 best)))";
  const Treebank trees = read(first + "\n\n(1 Bad)\n");
  REQUIRE(trees.size() == 2);
  CHECK(text_of(trees[0]) == first);
  CHECK(text_of(trees[1]) == "(1 Bad)");
  CHECK(trees[0].words() == Strings{"The", "very", "best"});
  const Node &root = trees[0].root(), &inner = trees[0].nodes[3];
  CHECK((root.left == 0 && root.right == 3 && !root.is_leaf()));
  CHECK((inner.left == 1 && inner.right == 2));
  CHECK(trees[0].nodes[0].is_leaf());
  CHECK(count_nodes(trees) == 6);
  CHECK(count_words(trees) == 4);
}

TEST_CASE("Trees: white space between pieces, nothing else, ends a word") {
  const std::string tree = "(3 (2 The) (4 (0 very) (1 best)))";
  CHECK(text_of(read("(3(2 The)(4(0 very)(1 best)))")[0]) == tree);
  CHECK(text_of(read("  ( 3 (2\tThe )  (4 (0  very)(1 best) ) ) \t")[0]) == tree);
  CHECK(text_of(read("\xEF\xBB\xBF" + tree + "\r\n\r\n" + tree + "\r\n")[1]) == tree);
  CHECK(text_of(read(tree + "\n" + tree)[1]) == tree);
  CHECK(read("(2 3\u00a01\\/2)")[0].words() == Strings{"3\u00a01\\/2"});
  CHECK(read("(2 2)")[0].words() == Strings{"2"});
}

TEST_CASE("Trees: wrong lines") {
  const auto check = [](const std::string& line, const std::string& message) {
    CHECK(error_of("(2 fine)\n" + line + "\n") == "data.txt:2: " + message);
  };
  check("fine", "expected '(', found 'fine' (column 1)");
  check(")", "expected '(', found ')' (column 1)");
  check("(", "expected a label from 0 to 4 behind '(', found the end of the line (column 2)");
  check("(5 fine)", "expected a label from 0 to 4 behind '(', found '5' (column 2)");
  check("(-1 fine)", "expected a label from 0 to 4 behind '(', found '-1' (column 2)");
  check("(fine)", "expected a label from 0 to 4 behind '(', found 'fine' (column 2)");
  check("(22 fine)", "expected a label from 0 to 4 behind '(', found '22' (column 2)");
  check("((2 a) (2 b))", "expected a label from 0 to 4 behind '(', found '(' (column 2)");
  check("(2)", "expected a word or two trees before ')', found nothing (column 3)");
  check("(2 (2 a))", "expected a word or two trees before ')', found one tree (column 9)");
  check("(2 (2 a) b)",
        "expected a second tree or ')' behind the first tree, found 'b' (column 10)");
  check("(2 (2 a) (2 b) c)", "expected ')' behind the second tree, found the word 'c' (column 16)");
  check("(2 (2 a) (2 b) (2 c))", "expected ')' behind the second tree, found a tree (column 16)");
  check("(2 a b)", "expected ')' behind the word 'a', found the word 'b' (column 6)");
  check("(2 a (2 b))", "expected ')' behind the word 'a', found a tree (column 6)");
  check("(2 a) (2 b)", "expected one tree a line, found '(' behind it (column 7)");
  check("(2 a) b", "expected one tree a line, found 'b' behind it (column 7)");
  check("(2 a))", "expected one tree a line, found ')' behind it (column 6)");
  check("(2 a", "expected 1 more ')', found the end of the line (column 5)");
  check("(2 (2 a) (2 (2 b)", "expected 2 more ')' or trees, found the end of the line (column 18)");
}

TEST_CASE("Trees: any depth") {
  constexpr std::size_t kDepth = 300000;
  std::string left, right;
  for (std::size_t i = 0; i < kDepth; ++i) {
    left += "(1 ";
    right += "(1 (2 a) ";
  }
  left += "(2 b)";
  right += "(2 b)";
  for (std::size_t i = 0; i < kDepth; ++i) {
    left += " (2 a))";
    right += ")";
  }
  for (const std::string& text : {left, right}) {
    const Tree tree = parse_tree(text, "data.txt", 1);
    CHECK(tree.nodes.size() == 2 * kDepth + 1);
    CHECK(text_of(tree) == text);
    CHECK(contains(error_of(text.substr(0, text.size() - 1)), "expected 1 more ')'"));
  }
  CHECK(contains(error_of(std::string(kDepth, '(')), "expected a label"));
  CHECK(contains(error_of(left), "a sentence of 300,001 words begins here"));  // no one learns that
}

TEST_CASE("Trees: sentences get the shape that is asked for") {
  const auto shaped = [](const std::string& words, const std::string& shape) {
    return text_of(make_tree(plain_words(words), shape_from_name(shape)));
  };
  CHECK(shaped("a b c d", "right") == "(0 (0 a) (0 (0 b) (0 (0 c) (0 d))))");
  CHECK(shaped("a b c d", "left") == "(0 (0 (0 (0 a) (0 b)) (0 c)) (0 d))");
  CHECK(shaped("a b c d", "balanced") == "(0 (0 (0 a) (0 b)) (0 (0 c) (0 d)))");
  CHECK(shaped("a b c d e", "balanced") == "(0 (0 (0 (0 a) (0 b)) (0 (0 c) (0 d))) (0 e))");
  for (const char* shape : {"right", "left", "balanced"}) {
    CHECK(shaped("a", shape) == "(0 a)");
    CHECK(shaped("a b", shape) == "(0 (0 a) (0 b))");
    Strings many;
    for (int i = 0; i < 1001; ++i) many.push_back("w" + std::to_string(i));
    const Tree tree = make_tree(many, shape_from_name(shape));
    CHECK(tree.nodes.size() == 2001);
    CHECK(tree.words() == many);
    CHECK(text_of(read(text_of(tree))[0]) == text_of(tree));
  }
  CHECK(error_from([] { shape_from_name("round"); }) ==
        "unknown shape 'round': expected balanced, right or left");
}

TEST_CASE("Trees: words of a plain line") {
  CHECK(plain_words(" so  (very)\tgood\r") == Strings{"so", "-LRB-very-RRB-", "good"});
  CHECK(plain_words("1/2 1\\/2 /") == Strings{"1\\/2", "1\\/2", "\\/"});
  CHECK(plain_words("3\u00a01").size() == 1);
  CHECK(plain_words(" ").empty());
}

TEST_CASE("Trees: the Stanford Sentiment Treebank is read whole") {
  const std::string data = data_folder("sst");
  if (data.empty()) return;
  struct Part {
    const char* file;
    std::size_t trees, words, nodes;
  };
  for (const Part& part : {Part{"train", 8544, 163563, 318582}, Part{"dev", 1101, 21274, 41447},
                           Part{"test", 2210, 42405, 82600}}) {
    INFO(part.file);
    const std::string path = data + "/sst/" + part.file + ".txt";
    const Treebank trees = read_trees(path);
    CHECK(trees.size() == part.trees);
    CHECK(count_words(trees) == part.words);
    CHECK(count_nodes(trees) == part.nodes);
    std::string all;
    for (const Tree& tree : trees) all += text_of(tree) + '\n';
    CHECK((all == read_file(path)));
    if (std::string(part.file) == "train") continue;
    std::array<std::size_t, 5> labels{};
    for (const Tree& tree : trees) ++labels[tree.root().label];
    CHECK(part.trees - labels[2] == (part.trees == 1101 ? 872 : 1821));
    if (part.trees == 2210) {
      CHECK(labels == std::array<std::size_t, 5>{279, 633, 389, 510, 399});
    }
  }
}

TEST_CASE("Tree scores: nodes, phrases, and roots with and without the neutral ones") {
  const Labels& labels = Labels::of_sentiment();
  Scores scores;
  // The first leaf of the three nodes is wrong. The label is wrong, but the side is right.
  scores.add(tree("(4 (2 a) (3 b))"), prediction({1, 3, 3}, {0.1f, 0.1f, 0.2f, 0.4f, 0.2f}),
             labels);
  // Neutral is the most probable label; among the others negative is ahead.
  scores.add(tree("(3 c)"), prediction({2}, {0.2f, 0.15f, 0.35f, 0.3f, 0.0f}), labels);
  scores.add(tree("(1 d)"), prediction({2}, {0.2f, 0.15f, 0.35f, 0.3f, 0.0f}), labels);
  // A neutral tree does not count as positive or negative.
  scores.add(tree("(2 e)"), prediction({2}, {0.0f, 0.0f, 0.6f, 0.4f, 0.0f}), labels);
  CHECK((scores.root.right == 1 && scores.root.total == 4));
  CHECK((scores.binary.right == 2 && scores.binary.total == 3));
  CHECK((scores.all.right == 2 && scores.all.total == 6));
  CHECK((scores.phrases.right == 0 && scores.phrases.total == 1));
}

TEST_CASE("Tree scores: the most frequent label, of roots and of nodes") {
  const Treebank train = {tree("(3 (2 a) (2 b))"), tree("(3 (2 a) (1 b))"), tree("(0 c)")};
  const Majority majority(train, 5);
  const Prediction guess = majority.predict(tree("(4 (2 x) (3 y))"));
  CHECK(guess.labels == std::vector<unsigned>{2, 2, 3});
  CHECK(guess.root[3] == Approx(2.0 / 3));
  CHECK(guess.positive(2));
  const Treebank negative = {tree("(2 a)"), tree("(2 b)"), tree("(1 c)")};
  CHECK_FALSE(Majority(negative, 5).predict(train[2]).positive(2));

  Report report("test", Labels::of_sentiment());
  report.add(train[0], prediction({2, 3, 3}, {0, 0, 0, 1, 0}), majority);
  report.add(train[2], prediction({0}, {1, 0, 0, 0, 0}), majority);
  std::ostringstream out;
  report.print(out);
  CHECK(out.str() ==
        "test: 2 trees, 4 nodes, 2 trees not neutral\n"
        "                            root  positive/negative  all nodes    phrases\n"
        "  tree-LSTM             100.00 %           100.00 %    75.00 %   100.00 %\n"
        "  most frequent label    50.00 %            50.00 %    75.00 %   100.00 %\n");
  std::ostringstream matrix;
  report.confusion().print_confusion(matrix);
  CHECK(matrix.str() ==
        "roots: right label by row, predicted label by column\n"
        "                   0  3     right\n"
        "  0 very negative  1  0  100.00 %\n"
        "  3 positive       0  1  100.00 %\n");
}

TEST_CASE(
    "Tree scores: without a neutral label in their midst no labels are positive or negative") {
  const Labels labels({"sport", "politics"}, Writing::kNumbers);
  const Treebank trees = {parse_tree("(1 (0 a) (1 b))", "data.txt", 1, labels)};
  const Majority majority(trees, labels.size());
  Report report("test", labels);
  report.add(trees[0], prediction({0, 1, 0}, {0.75f, 0.25f}), majority);
  CHECK(report.model.binary.total == 0);
  std::ostringstream out;
  report.print(out);
  CHECK(out.str() ==
        "test: 1 trees, 3 nodes\n"
        "                            root  all nodes    phrases\n"
        "  tree-LSTM               0.00 %    66.67 %     0.00 %\n"
        "  most frequent label   100.00 %    66.67 %   100.00 %\n");
}

TEST_CASE("Tree scores: the most frequent label of the Stanford Sentiment Treebank") {
  const std::string data = data_folder("sst");
  if (data.empty()) return;
  const std::string folder = data + "/sst/";
  const Majority majority(read_trees(folder + "train.txt"), 5);
  Scores scores, neutral;
  for (const Tree& t : read_trees(folder + "test.txt")) {
    Prediction guess = majority.predict(t);
    scores.add(t, guess, Labels::of_sentiment());
    guess.labels.back() = 2;
    neutral.add(t, guess, Labels::of_sentiment());
  }
  CHECK(100 * scores.root.value() == Approx(23.1).margin(0.05));
  CHECK(scores.root.right == 510);
  // Training has more positive trees than negative ones, testing has not.
  CHECK(scores.binary.right == 909);
  CHECK(scores.binary.total == 1821);
  CHECK(100 * neutral.all.value() == Approx(68.5).margin(0.05));
  CHECK(100 * neutral.phrases.value() == Approx(50.3).margin(0.05));
}

}  // namespace trees_test
