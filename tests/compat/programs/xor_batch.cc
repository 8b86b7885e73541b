// Exclusive or with all four samples in one minibatch.

#include <iostream>

#include "dynet/expr.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;
using namespace dynet::expr;

int main(int argc, char** argv) {
  DynetParams params = extract_dynet_params(argc, argv);
  if (params.random_seed == 0) params.random_seed = 7;
  dynet::initialize(params);

  const unsigned ITERATIONS = 200;
  Model m;
  MomentumSGDTrainer trainer(m, 0.02);
  trainer.clip_threshold *= 2;

  const unsigned HIDDEN_SIZE = 10;
  Parameter p_W = m.add_parameters({HIDDEN_SIZE, 2}, 0, "W");
  Parameter p_b = m.add_parameters({HIDDEN_SIZE}, "b");
  Parameter p_V = m.add_parameters({1, HIDDEN_SIZE}, ParameterInitGlorot());
  Parameter p_a = m.add_parameters({1}, ParameterInitConst(0.1));

  ComputationGraph cg;
  expr::Expression W = parameter(cg, p_W);
  expr::Expression b = parameter(cg, p_b);
  expr::Expression V = parameter(cg, p_V);
  expr::Expression a = parameter(cg, p_a);

  Dim x_dim({2}, 4), y_dim({1}, 4);
  cerr << "x_dim=" << x_dim << ", y_dim=" << y_dim << ", " << x_dim.bd << " samples of "
       << x_dim.d[0] << endl;
  vector<dynet::real> x_values = {1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0};
  expr::Expression x = dynet::input(cg, x_dim, &x_values);
  vector<dynet::real> y_values = {-1.0, 1.0, 1.0, -1.0};
  expr::Expression y = input(cg, y_dim, &y_values);

  expr::Expression h = dynet::expr::tanh(affine_transform({b, W, x}));
  expr::Expression y_pred = affine_transform({a, V, h});
  expr::Expression loss = squared_distance(y_pred, y);
  expr::Expression sum_loss = sum_batches(loss);

  float my_loss = 0;
  for (unsigned iter = 0; iter < ITERATIONS; ++iter) {
    my_loss = as_scalar(cg.forward(sum_loss)) / 4;
    cg.backward(sum_loss);
    trainer.update();
    if (iter % 50 == 49) trainer.learning_rate *= 0.9;
  }
  for (float v : as_vector(cg.get_value(y_pred.i))) cout << "predicted " << v << endl;
  cout << "E = " << my_loss << endl;
}
