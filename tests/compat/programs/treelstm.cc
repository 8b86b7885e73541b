// A tree-LSTM over s-expressions: the label of a tree is the exclusive or of its leaves.
// Trees are written as (label left right) and (label word).

#include "dynet/treelstm.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "dynet/dict.h"
#include "dynet/except.h"
#include "dynet/expr.h"
#include "dynet/model.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

struct Tree {
  int label = 0;
  string word;
  vector<Tree> children;
};

char next_char(istream& in) {
  char c = 0;
  if (!(in >> c)) DYNET_RUNTIME_ERR("the tree ends early");
  return c;
}

Tree read_tree(istream& in) {
  Tree t;
  DYNET_ARG_CHECK(next_char(in) == '(', "a tree begins with (");
  in >> t.label;
  while (true) {
    char c = next_char(in);
    if (c == ')') return t;
    in.unget();
    if (c == '(') {
      t.children.push_back(read_tree(in));
    } else {
      while (in.peek() != ')' && in.peek() != ' ' && in.good()) t.word += char(in.get());
    }
  }
}

// (1 (0 a) (1 b)) and so on.
string random_tree(int leaves, int& label) {
  ostringstream s;
  if (leaves == 1) {
    label = rand0n(2);
    s << '(' << label << ' ' << (label ? "b" : "a") << ')';
    return s.str();
  }
  const int left = 1 + rand0n(leaves - 1);
  int l = 0, r = 0;
  const string a = random_tree(left, l), b = random_tree(leaves - left, r);
  label = l ^ r;
  s << '(' << label << ' ' << a << ' ' << b << ')';
  return s.str();
}

const unsigned DIM = 16;

struct TreeModel {
  NaryTreeLSTMBuilder builder;
  LookupParameter p_words;
  Parameter p_W, p_b;
  Dict& words;
  TreeModel(ParameterCollection& m, Dict& d) : builder(2, 1, DIM, DIM, m), words(d) {
    p_words = m.add_lookup_parameters(d.size(), {DIM});
    p_W = m.add_parameters({2, DIM});
    p_b = m.add_parameters({2});
  }

  int add(ComputationGraph& cg, const Tree& t, int& next, vector<Expression>& losses, int& right) {
    vector<int> ids;
    for (const Tree& c : t.children) ids.push_back(add(cg, c, next, losses, right));
    Expression x;
    if (t.children.empty())
      x = lookup(cg, p_words, words.convert(t.word));
    else
      x = zeroes(cg, {DIM});
    const int id = next++;
    Expression h = builder.add_input(id, ids, x);
    Expression scores = affine_transform({parameter(cg, p_b), parameter(cg, p_W), h});
    losses.push_back(hinge(scores, unsigned(t.label)));
    vector<float> v = as_vector(scores.value());
    if (!t.children.empty()) right += (v[1] > v[0]) == (t.label == 1);
    return id;
  }

  Expression loss(ComputationGraph& cg, const Tree& t, int& nodes, int& right) {
    builder.new_graph(cg);
    builder.start_new_sequence();
    vector<Expression> losses;
    nodes = 0;
    add(cg, t, nodes, losses, right);
    return sum(losses);
  }
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  Dict d;
  d.convert("a");
  d.convert("b");
  d.freeze();
  try {
    istringstream broken("(1 (0 a) (1 b)");
    read_tree(broken);
    return 2;
  } catch (const std::runtime_error& e) {
    cout << "refused: " << e.what() << endl;
  }
  vector<Tree> trees;
  for (int i = 0; i < 300; ++i) {
    int label = 0;
    istringstream in(random_tree(2 + rand0n(5), label));
    trees.push_back(read_tree(in));
  }
  ParameterCollection m;
  TreeModel model(m, d);
  AmsgradTrainer trainer(m, 0.01);
  double accuracy = 0, average_loss = 0;
  for (int epoch = 0; epoch < 8; ++epoch) {
    int all_nodes = 0, right = 0;
    double loss = 0;
    for (const Tree& t : trees) {
      ComputationGraph cg;
      int nodes = 0;
      Expression e = model.loss(cg, t, nodes, right);
      all_nodes += nodes / 2;  // those with children
      loss += as_scalar(cg.incremental_forward(e));
      cg.backward(e);
      trainer.update();
    }
    accuracy = double(right) / all_nodes;
    average_loss = loss / trees.size();
  }
  cout << "accuracy = " << accuracy << endl;
  cout << "E = " << average_loss << endl;
}
