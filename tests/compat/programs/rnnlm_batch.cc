// A language model over minibatches of sentences of one length, with dropout and a held-out loss.

#include <iostream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/init.h"
#include "dynet/lstm.h"
#include "dynet/param-init.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

const unsigned VOCAB = 12, LENGTH = 8, BATCH = 16, HIDDEN = 32;

struct LM {
  CoupledLSTMBuilder rnn;
  LookupParameter p_c;
  Parameter p_R, p_b;
  LM(ParameterCollection& m) : rnn(1, HIDDEN, HIDDEN, m) {
    p_c = m.add_lookup_parameters(VOCAB, {HIDDEN}, ParameterInitUniform(-0.1, 0.1));
    p_R = m.add_parameters({VOCAB, HIDDEN}, ParameterInitNormal(0, 0.01));
    p_b = m.add_parameters({VOCAB}, ParameterInitConst(0.f));
  }
  Expression loss(ComputationGraph& cg, const vector<vector<unsigned>>& columns,
                  bool apply_dropout) {
    if (apply_dropout)
      rnn.set_dropout(0.1);
    else
      rnn.disable_dropout();
    rnn.new_graph(cg, apply_dropout);
    rnn.start_new_sequence();
    Expression R = parameter(cg, p_R), b = parameter(cg, p_b);
    vector<Expression> errs;
    for (size_t t = 0; t + 1 < columns.size(); ++t) {
      Expression x =
          apply_dropout ? lookup(cg, p_c, columns[t]) : const_lookup(cg, p_c, columns[t]);
      Expression y = affine_transform({b, R, rnn.add_input(x)});
      if (apply_dropout) y = dropout(y, 0.05);
      errs.push_back(pickneglogsoftmax(y, columns[t + 1]));
    }
    return sum_batches(sum(errs)) / float(BATCH * (columns.size() - 1));
  }
};

// Each word follows from the one before: w -> w + step, where the first word tells the step.
vector<vector<unsigned>> make_batch() {
  vector<vector<unsigned>> columns(LENGTH, vector<unsigned>(BATCH));
  for (unsigned b = 0; b < BATCH; ++b) {
    unsigned w = rand0n(VOCAB);
    for (unsigned t = 0; t < LENGTH; ++t) {
      columns[t][b] = w;
      w = (w + 5) % VOCAB;
    }
  }
  return columns;
}

int main(int argc, char** argv) {
  auto params = dynet::extract_dynet_params(argc, argv);
  dynet::initialize(params);
  ParameterCollection m;
  LM lm(m);
  AdagradTrainer trainer(m, 0.1);
  trainer.sparse_updates_enabled = false;
  for (unsigned i = 0; i < 120; ++i) {
    ComputationGraph cg;
    Expression e = lm.loss(cg, make_batch(), true);
    cg.forward(e);
    cg.backward(e);
    trainer.update();
  }
  ComputationGraph cg;
  Expression dev = lm.loss(cg, make_batch(), false);
  cout << "E = " << as_scalar(dev.value()) << endl;
  dynet::cleanup();
}
