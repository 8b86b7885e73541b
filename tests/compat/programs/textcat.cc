// Sentences in two classes by convolution: does a 3 follow a 7 somewhere?

#include <algorithm>
#include <iostream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/grad-check.h"
#include "dynet/param-init.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

const unsigned DIM = 8, FILTERS = 12, VOCAB = 10, WIDTH = 2;

struct Classifier {
  LookupParameter p_t;
  Parameter p_f, p_W, p_b;
  explicit Classifier(ParameterCollection& m) {
    p_t = m.add_lookup_parameters(VOCAB, {DIM}, ParameterInitUniform(0.5));
    p_f = m.add_parameters({DIM, WIDTH, FILTERS}, 0.3f);
    p_W = m.add_parameters({2, FILTERS});
    p_b = m.add_parameters({2}, ParameterInitConst(0));
  }
  Expression scores(ComputationGraph& cg, const vector<int>& xs) {
    vector<Expression> cols;
    for (int x : xs) cols.push_back(lookup(cg, p_t, x));
    Expression c = filter1d_narrow(concatenate_cols(cols), parameter(cg, p_f));
    Expression pooled = reshape(kmax_pooling(rectify(c), 1), {FILTERS});
    return affine_transform({parameter(cg, p_b), parameter(cg, p_W), pooled});
  }
};

vector<int> make_sentence(unsigned& label) {
  vector<int> xs(4 + rand0n(6));
  for (int& x : xs) x = rand0n(VOCAB);
  if (rand01() < 0.4) {
    const int at = rand0n(xs.size() - 1);
    xs[at] = 7;
    xs[at + 1] = 3;
  }
  label = 0;
  for (size_t i = 0; i + 1 < xs.size(); ++i)
    if (xs[i] == 7 && xs[i + 1] == 3) label = 1;
  return xs;
}

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  ParameterCollection m;
  Classifier model(m);
  AdamTrainer trainer(m, 0.01);
  trainer.exponential_moving_average(0.99);
  double loss = 0;
  for (int i = 0; i < 2000; ++i) {
    ComputationGraph cg;
    unsigned label = 0;
    vector<int> xs = make_sentence(label);
    Expression e = -pick(log_softmax(model.scores(cg, xs)), label);
    loss = 0.99 * loss + 0.01 * as_scalar(cg.forward(e));
    cg.backward(e);
    trainer.update();
  }
  trainer.swap_params_to_moving_average(true, true);
  int right = 0;
  for (int i = 0; i < 200; ++i) {
    ComputationGraph cg;
    unsigned label = 0;
    vector<int> xs = make_sentence(label);
    vector<float> s = as_vector(model.scores(cg, xs).value());
    right += (s[1] > s[0]) == (label == 1);
  }
  ComputationGraph cg;
  Expression e = pickneglogsoftmax(model.scores(cg, {1, 7, 3, 2}), 1u);
  cout << "gradients " << (check_grad(m, e, 1) ? "right" : "wrong") << endl;
  cout << "right = " << right << endl;
  cout << "E = " << loss << endl;
}
