// The smallest network: exclusive or, one sample at a time.

#include <iostream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  const unsigned HIDDEN_SIZE = 8;
  const unsigned ITERATIONS = argc > 1 ? atoi(argv[1]) : 60;

  ParameterCollection m;
  SimpleSGDTrainer trainer(m);
  Parameter p_W = m.add_parameters({HIDDEN_SIZE, 2});
  Parameter p_b = m.add_parameters({HIDDEN_SIZE});
  Parameter p_V = m.add_parameters({1, HIDDEN_SIZE});
  Parameter p_a = m.add_parameters({1});

  ComputationGraph cg;
  Expression W = parameter(cg, p_W);
  Expression b = parameter(cg, p_b);
  Expression V = parameter(cg, p_V);
  Expression a = parameter(cg, p_a);

  // The graph is built once; what the pointers point to is read again by every forward.
  vector<dynet::real> x_values(2);
  Expression x = input(cg, {2}, &x_values);
  dynet::real y_value;
  Expression y = input(cg, &y_value);
  Expression h = tanh(W * x + b);
  Expression y_pred = V * h + a;
  Expression loss_expr = squared_distance(y_pred, y);

  cg.print_graphviz();

  float loss = 0;
  for (unsigned iter = 0; iter < ITERATIONS; ++iter) {
    loss = 0;
    for (unsigned mi = 0; mi < 4; ++mi) {
      const bool x1 = mi % 2;
      const bool x2 = (mi / 2) % 2;
      x_values[0] = x1 ? 1 : -1;
      x_values[1] = x2 ? 1 : -1;
      y_value = (x1 != x2) ? 1 : -1;
      loss += as_scalar(cg.forward(loss_expr));
      cg.backward(loss_expr);
      trainer.update();
    }
    loss /= 4;
    trainer.status();
    cerr << "E = " << loss << endl;
  }
  cout << "E = " << loss << endl;
  return 0;
}
