// A class of the user's own, with builders in it, written to a file and read back.
// Usage: read_write [dynet flags] file

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/io.h"
#include "dynet/lstm.h"
#include "dynet/rnn.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

class Model2 {
 public:
  Model2() {}
  Model2(unsigned dim, ParameterCollection& parent) : params(parent.add_subcollection("model2")) {
    lstm = VanillaLSTMBuilder(2, dim, dim, params);
    rnn = SimpleRNNBuilder(1, dim, dim, params);
    table = params.add_lookup_parameters(10, {dim});
    out = params.add_parameters({1, dim}, ParameterInitNormal(), "out");
  }
  Expression operator()(ComputationGraph& cg, const vector<int>& xs) {
    lstm.new_graph(cg);
    rnn.new_graph(cg);
    lstm.start_new_sequence();
    rnn.start_new_sequence();
    for (int x : xs) rnn.add_input(lstm.add_input(lookup(cg, table, x)));
    return logistic(parameter(cg, out) * rnn.back());
  }
  ParameterCollection params;

 private:
  VanillaLSTMBuilder lstm;
  SimpleRNNBuilder rnn;
  LookupParameter table;
  Parameter out;
};

float train(ParameterCollection& m, Model2& model) {
  SimpleSGDTrainer trainer(m, 0.5);
  float loss = 0;
  for (int i = 0; i < 300; ++i) {
    ComputationGraph cg;
    const int a = rand0n(10), b = rand0n(10);
    Expression y = input(cg, a > b ? 1.f : 0.f);
    Expression e = binary_log_loss(model(cg, {a, b}), y);
    loss = 0.95f * loss + 0.05f * as_scalar(cg.forward(e));
    cg.backward(e);
    trainer.update();
  }
  return loss;
}

float output(Model2& model) {
  ComputationGraph cg;
  return as_scalar(model(cg, {3, 8}).value());
}

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  if (argc != 2) return 1;
  const string file = argv[1];
  ParameterCollection m;
  Model2 first(8, m), second(6, m);
  const float loss = train(m, first);
  train(m, second);
  {
    TextFileSaver saver(file);
    saver.save(m);
  }
  {
    TextFileSaver saver(file + ".keys");
    saver.save(first.params, "/first");
    saver.save(second.params, "/second");
  }
  ParameterCollection m2;
  Model2 first2(8, m2), second2(6, m2);
  const bool different = output(first) != output(first2);
  TextFileLoader loader(file);
  loader.populate(m2);
  const bool same = output(first) == output(first2) && output(second) == output(second2);

  ParameterCollection m3;
  Model2 second3(6, m3);
  TextFileLoader by_key(file + ".keys");
  by_key.populate(second3.params, "/second");
  const bool same_by_key = output(second) == output(second3);

  save_dynet_model(file + ".old", &m);
  load_dynet_model(file + ".old", &m2);
  try {
    loader.populate(m3);
    return 2;
  } catch (const std::runtime_error& e) {
    cout << "refused: " << e.what() << endl;
  }
  cout << "different " << different << ", same " << same << ", same by key " << same_by_key << endl;
  cout << "E = " << loss << endl;
  return 0;
}
