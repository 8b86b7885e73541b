// A language model whose softmax goes by classes of words, or along a tree.
// Usage: rnnlm_cfsm [dynet flags] corpus clusters class|tree

#include <fstream>
#include <iostream>
#include <memory>

#include "dynet/cfsm-builder.h"
#include "dynet/dict.h"
#include "dynet/expr.h"
#include "dynet/globals.h"
#include "dynet/gru.h"
#include "dynet/hsm-builder.h"
#include "dynet/io.h"
#include "dynet/rnn.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

const unsigned DIM = 24;

struct LM {
  LookupParameter p_c;
  SoftmaxBuilder& cfsm;
  GRUBuilder builder;
  LM(ParameterCollection& model, unsigned words, SoftmaxBuilder& softmax)
      : cfsm(softmax), builder(1, DIM, DIM, model) {
    p_c = model.add_lookup_parameters(words, {DIM});
  }
  Expression loss(const vector<int>& sent, ComputationGraph& cg, int sos) {
    builder.new_graph(cg);
    builder.start_new_sequence();
    cfsm.new_graph(cg);
    vector<Expression> errs;
    int last = sos;
    for (int w : sent) {
      Expression h = builder.add_input(lookup(cg, p_c, last));
      errs.push_back(cfsm.neg_log_softmax(h, w));
      last = w;
    }
    return sum(errs);
  }
  unsigned sample(int sos) {
    ComputationGraph cg;
    builder.new_graph(cg);
    builder.start_new_sequence();
    cfsm.new_graph(cg);
    return cfsm.sample(builder.add_input(lookup(cg, p_c, sos)));
  }
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  if (argc != 4) return 1;
  Dict d;
  const int sos = d.convert("<s>");
  const int eos = d.convert("</s>");
  vector<vector<int>> corpus;
  ifstream in(argv[1]);
  for (string line; getline(in, line);) {
    corpus.push_back(read_sentence(line, d));
    corpus.back().push_back(eos);
  }
  d.freeze();
  ParameterCollection model;
  unique_ptr<SoftmaxBuilder> softmax;
  if (string(argv[3]) == "class")
    softmax.reset(new ClassFactoredSoftmaxBuilder(DIM, argv[2], d, model));
  else
    softmax.reset(new HierarchicalSoftmaxBuilder(DIM, argv[2], d, model));
  LM lm(model, d.size(), *softmax);
  RMSPropTrainer trainer(model, 0.005);
  double per_word = 0;
  for (int epoch = 0; epoch < 15; ++epoch) {
    double loss = 0;
    unsigned words = 0;
    for (const auto& sent : corpus) {
      ComputationGraph cg;
      Expression e = lm.loss(sent, cg, sos);
      loss += as_scalar(cg.forward(e));
      words += sent.size();
      cg.backward(e);
      trainer.update();
    }
    per_word = loss / words;
  }
  for (int i = 0; i < 5; ++i) cout << "first word " << d.convert(int(lm.sample(sos))) << endl;
  {
    ComputationGraph cg;
    lm.builder.new_graph(cg);
    lm.builder.start_new_sequence();
    softmax->new_graph(cg);
    Expression h = lm.builder.add_input(lookup(cg, lm.p_c, sos));
    double sum = 0;
    for (float x : as_vector(softmax->full_log_distribution(h).value())) sum += exp(x);
    cout << "probabilities sum to " << sum << endl;
  }
  cout << "E = " << per_word << endl;
}
