// Accuracies of roots, nodes and phrases, the confusion matrix, and the most frequent label.

#include <sstream>
#include <string>
#include <vector>

#include "examples/nlp/treelstm/evaluate.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace treelstm_evaluate_test {

using namespace treelstm;

namespace {

Tree tree(const std::string& text) { return parse_tree(text, "data.txt", 1); }

Prediction prediction(const std::vector<unsigned>& labels, const std::vector<float>& root) {
  Prediction result;
  result.labels = labels;
  result.root = root;
  return result;
}

}  // namespace

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
  CHECK(scores.root.right == 1);
  CHECK(scores.root.total == 4);
  CHECK(scores.binary.right == 2);
  CHECK(scores.binary.total == 3);
  CHECK(scores.all.right == 2);
  CHECK(scores.all.total == 6);
  CHECK(scores.phrases.right == 0);
  CHECK(scores.phrases.total == 1);
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

}  // namespace treelstm_evaluate_test
