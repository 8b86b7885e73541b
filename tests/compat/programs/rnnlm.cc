// A language model: a recurrent network reads the words of a sentence and says the next one.
// Usage: rnnlm [dynet flags] corpus lstm|rnn|gru

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "dynet/dict.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/gru.h"
#include "dynet/lstm.h"
#include "dynet/nodes.h"
#include "dynet/rnn.h"
#include "dynet/timing.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

unsigned LAYERS = 2;
unsigned INPUT_DIM = 8;
unsigned HIDDEN_DIM = 24;
unsigned VOCAB_SIZE = 0;

dynet::Dict d;
int kSOS;
int kEOS;

template <class Builder>
struct RNNLanguageModel {
  LookupParameter p_c;
  Parameter p_R;
  Parameter p_bias;
  Builder builder;
  explicit RNNLanguageModel(ParameterCollection& model)
      : builder(LAYERS, INPUT_DIM, HIDDEN_DIM, model) {
    p_c = model.add_lookup_parameters(VOCAB_SIZE, {INPUT_DIM});
    p_R = model.add_parameters({VOCAB_SIZE, HIDDEN_DIM});
    p_bias = model.add_parameters({VOCAB_SIZE});
  }

  // The loss of a sentence, summed over its words.
  Expression BuildLMGraph(const vector<int>& sent, ComputationGraph& cg) {
    const unsigned slen = sent.size();
    builder.new_graph(cg);
    builder.start_new_sequence();
    Expression i_R = parameter(cg, p_R);
    Expression i_bias = parameter(cg, p_bias);
    vector<Expression> errs;
    Expression i_x_t = lookup(cg, p_c, kSOS);
    for (unsigned t = 0; t < slen; ++t) {
      Expression i_y_t = builder.add_input(i_x_t);
      Expression i_r_t = i_bias + i_R * i_y_t;
      errs.push_back(pickneglogsoftmax(i_r_t, sent[t]));
      i_x_t = lookup(cg, p_c, sent[t]);
    }
    return sum(errs);
  }

  void RandomSample(unsigned max_len) {
    ComputationGraph cg;
    builder.new_graph(cg);
    builder.start_new_sequence();
    Expression i_R = parameter(cg, p_R);
    Expression i_bias = parameter(cg, p_bias);
    int cur = kSOS;
    cout << "sample:";
    for (unsigned len = 0; len < max_len; ++len) {
      Expression i_y_t = builder.add_input(lookup(cg, p_c, unsigned(cur)));
      Expression ydist = softmax(i_bias + i_R * i_y_t);
      vector<float> dist = as_vector(cg.incremental_forward(ydist));
      double p = rand01();
      unsigned w = 0;
      for (; w + 1 < dist.size(); ++w) {
        p -= dist[w];
        if (p < 0.0) break;
      }
      if (int(w) == kEOS) break;
      cout << ' ' << d.convert(int(w));
      cur = w;
    }
    cout << endl;
  }
};

template <class Builder>
int train(const vector<vector<int>>& training) {
  ParameterCollection model;
  std::unique_ptr<Trainer> trainer(new AdamTrainer(model, 0.02));
  trainer->clip_threshold = 5.0;
  RNNLanguageModel<Builder> lm(model);
  vector<unsigned> order(training.size());
  for (unsigned i = 0; i < order.size(); ++i) order[i] = i;
  double per_word = 0;
  for (int epoch = 0; epoch < 12; ++epoch) {
    Timer iteration("completed in");
    double loss = 0;
    unsigned chars = 0;
    shuffle(order.begin(), order.end(), *rndeng);
    for (unsigned i : order) {
      ComputationGraph cg;
      chars += training[i].size();
      Expression loss_expr = lm.BuildLMGraph(training[i], cg);
      loss += as_scalar(cg.forward(loss_expr));
      cg.backward(loss_expr);
      trainer->update();
    }
    per_word = loss / chars;
    trainer->status();
    cerr << " E = " << per_word << " ppl=" << exp(per_word) << ' ';
    trainer->update_epoch();
  }
  lm.RandomSample(10);
  cout << "E = " << per_word << endl;
  return 0;
}

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  if (argc != 3) {
    cerr << "Usage: " << argv[0] << " corpus.txt lstm|rnn|gru\n";
    return 1;
  }
  kSOS = d.convert("<s>");
  kEOS = d.convert("</s>");
  vector<vector<int>> training;
  {
    ifstream in(argv[1]);
    string line;
    while (getline(in, line)) {
      training.push_back(read_sentence(line, d));
      training.back().push_back(kEOS);
    }
  }
  d.freeze();
  VOCAB_SIZE = d.size();
  cout << training.size() << " lines, " << VOCAB_SIZE << " types" << endl;
  const string kind = argv[2];
  if (kind == "lstm") return train<LSTMBuilder>(training);
  if (kind == "rnn") return train<SimpleRNNBuilder>(training);
  return train<GRUBuilder>(training);
}
