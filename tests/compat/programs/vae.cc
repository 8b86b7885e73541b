// A variational autoencoder of points on a circle: two numbers in, one hidden number.

#include <cmath>
#include <iostream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

struct VAE {
  Parameter p_W, p_b, p_mu, p_mu_b, p_sigma, p_sigma_b, p_U, p_c, p_V, p_d;
  static constexpr unsigned HIDDEN = 16, LATENT = 2, SIZE = 4;
  explicit VAE(ParameterCollection& m) {
    p_W = m.add_parameters({HIDDEN, SIZE});
    p_b = m.add_parameters({HIDDEN});
    p_mu = m.add_parameters({LATENT, HIDDEN});
    p_mu_b = m.add_parameters({LATENT});
    p_sigma = m.add_parameters({LATENT, HIDDEN});
    p_sigma_b = m.add_parameters({LATENT}, ParameterInitConst(-1));
    p_U = m.add_parameters({HIDDEN, LATENT});
    p_c = m.add_parameters({HIDDEN});
    p_V = m.add_parameters({SIZE, HIDDEN});
    p_d = m.add_parameters({SIZE});
  }
  // reconstruction + KL(q(z | x) || N(0, 1)), one number for each sample of the batch
  Expression loss(ComputationGraph& cg, const Expression& x, Expression* reconstruction) {
    Expression h = tanh(affine_transform({parameter(cg, p_b), parameter(cg, p_W), x}));
    Expression mu = affine_transform({parameter(cg, p_mu_b), parameter(cg, p_mu), h});
    Expression logsigma =
        0.5 * affine_transform({parameter(cg, p_sigma_b), parameter(cg, p_sigma), h});
    Expression kl = -0.5 * sum_elems(1 + 2 * logsigma - square(mu) - exp(2 * logsigma));
    Expression eps = random_normal(cg, Dim({LATENT}, x.dim().bd));
    Expression z = mu + cmult(eps, exp(logsigma));
    Expression g = tanh(parameter(cg, p_U) * z + parameter(cg, p_c));
    Expression y = parameter(cg, p_V) * g + parameter(cg, p_d);
    *reconstruction = squared_distance(y, x) / (2 * 0.01f);
    return *reconstruction + kl;
  }
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  ParameterCollection m;
  VAE vae(m);
  AdamTrainer trainer(m, 0.01);
  const unsigned BATCH = 32;
  double first = 0, last = 0, reconstructed = 0;
  for (int i = 0; i < 600; ++i) {
    ComputationGraph cg;
    vector<float> points;
    for (unsigned b = 0; b < BATCH; ++b) {
      const float a = 6.2831853f * rand01();
      for (float x : {cos(a), sin(a), cos(2 * a), sin(2 * a)}) points.push_back(x);
    }
    Expression x = input(cg, Dim({VAE::SIZE}, BATCH), points), reconstruction;
    Expression e = sum_batches(vae.loss(cg, x, &reconstruction)) * (1.0 / BATCH);
    const double loss = as_scalar(cg.forward(e));
    if (i < 20) first += loss / 20;
    if (i >= 580) {
      last += loss / 20;
      reconstructed += as_scalar(mean_batches(reconstruction).value()) * 2 * 0.01 / 20;
    }
    cg.backward(e);
    trainer.update();
  }
  cout << "first = " << first << endl;
  cout << "reconstruction = " << reconstructed << endl;
  cout << "E = " << last << endl;
}
