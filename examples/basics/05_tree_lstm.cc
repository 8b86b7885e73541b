// A tree-LSTM: the network has the shape of the sample.
//
// Every sample is a tree, here a formula over true and false. The function that builds the graph is
// recursive like the tree: first the children, then the node over their states. Every sample has a
// different network, and yet nodes of different trees run as one batch, level by level.
//
// NaryTreeLSTMBuilder is the cell of Tai, Socher and Manning (2015) with one forget gate per child.
// The program numbers the nodes; a node names its children by number.
//
// In PyTorch a loop over nodes runs one small kernel at a time, and batching trees by hand takes
// more code than the model.
#include <iostream>
#include <memory>
#include <random>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

enum Symbol : unsigned { kFalse, kTrue, kAnd, kOr, kSymbols };

struct Tree {
  Symbol symbol;
  bool value;  // value of the formula: the label
  std::unique_ptr<Tree> left, right;
};

std::unique_ptr<Tree> draw(std::mt19937& random, int depth) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0 || random() % 4 == 0) {
    tree->symbol = random() % 2 ? kTrue : kFalse;
    tree->value = tree->symbol == kTrue;
  } else {
    tree->symbol = random() % 2 ? kAnd : kOr;
    tree->left = draw(random, depth - 1), tree->right = draw(random, depth - 1);
    const bool l = tree->left->value, r = tree->right->value;
    tree->value = tree->symbol == kAnd ? l && r : l || r;
  }
  return tree;
}

class TreeModel {
 public:
  explicit TreeModel(ParameterCollection& model)
      : symbols_(model.add_lookup_parameters(kSymbols, {8})),
        cell_(2, 1, 8, 16, model),
        output_(model, {16, 2}) {}

  void new_graph(ComputationGraph& cg) { cell_.new_graph(cg), output_.new_graph(cg); }

  void add(ComputationGraph& cg, const Tree& tree, std::vector<Expression>& losses) {
    cell_.start_new_sequence();
    int next = 0;
    visit(cg, tree, next, losses);
  }

 private:
  // Returns the number of the node; children come first.
  int visit(ComputationGraph& cg, const Tree& tree, int& next, std::vector<Expression>& losses) {
    std::vector<int> children;
    if (tree.left)
      for (const Tree* child : {tree.left.get(), tree.right.get()})
        children.push_back(visit(cg, *child, next, losses));
    const Expression h = cell_.add_input(next, children, lookup(cg, symbols_, tree.symbol));
    losses.push_back(pickneglogsoftmax(output_.apply(h), unsigned{tree.value}));
    return next++;
  }

  LookupParameter symbols_;
  NaryTreeLSTMBuilder cell_;
  Linear output_;
};

}  // namespace

int main() {
  constexpr float kBound = 0.05f;  // bound of the mean loss per node in the last update
  ParameterCollection model;
  TreeModel network(model);
  AdamTrainer trainer(model, 0.02f);
  std::mt19937 random(1);
  float per_node = 0;
  for (int step = 1; step <= 100; ++step) {
    ComputationGraph cg;
    network.new_graph(cg);
    std::vector<Expression> losses;
    for (int k = 0; k < 16; ++k) network.add(cg, *draw(random, 5), losses);
    Expression loss = average(losses);
    per_node = as_scalar(cg.forward(loss));
    cg.backward(loss);
    trainer.update();
    if (step % 25 == 0) std::cout << "update " << step << ": loss per node " << per_node << '\n';
  }
  if (per_node < kBound) return 0;
  std::cerr << "The loss is " << per_node << ", which should be below " << kBound << ".\n";
  return 1;
}
