// Debugging: finding a wrong shape, a wrong gradient, and the first NaN.
//
// Mistakes in shapes are found where a node is made. The error names the operation, its operands
// with their shapes, the rule that is broken, and the line of the program.
//
// Numbers that are not finite are found by set_check_validity(true): the first node whose value or
// gradient has a NaN or an infinity throws a NumericError that names it and its operands.
// set_immediate_compute(true) computes every node as soon as it is made, so that the error comes
// from the very line. Both are for debugging; a trainer by itself can skip such updates and count
// them, with skip_non_finite.
//
// Gradients are compared with differences of the loss by check_gradients(), in double precision,
// whatever the model is made of. It is worth a line in the test of every model.
#include <iostream>
#include <limits>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

// Mean and deviation of a sample, by maximum likelihood: deviation^2 must stay positive.
Expression loss_of(ComputationGraph& cg, const Parameter& mean, const Parameter& deviation,
                   const std::vector<float>& sample, bool careful) {
  Expression x = input(cg, Dim({1}, static_cast<unsigned>(sample.size())), sample);
  Expression s = parameter(cg, deviation);
  if (careful) s = log(1.0f + exp(s));  // positive, whatever the parameter is
  Expression z = cdiv(x - parameter(cg, mean), s);
  return mean_batches(square(z) * 0.5f + log(s));
}

}  // namespace

int main() {
  constexpr float kBound = 0.78f;  // of the loss; 0.765 is the least that there is
  const std::vector<float> sample = {1.0f, 2.5f, 3.0f, 3.5f, 5.0f};

  ParameterCollection model;
  Parameter mean = model.add_parameters({1}, ParameterInitConst(0));
  Parameter deviation = model.add_parameters({1}, ParameterInitConst(-1));  // a bad start

  try {
    ComputationGraph cg;
    parameter(cg, mean) + zeros(cg, {2}) * zeros(cg, {3});
    return 1;
  } catch (const ShapeError& e) {
    std::cout << "a wrong shape:\n" << e.what() << "\n\n";
  }

  try {
    ComputationGraph cg;
    cg.set_check_validity(true);
    cg.forward(loss_of(cg, mean, deviation, sample, false));  // log(-1)
    return 1;
  } catch (const NumericError& e) {
    std::cout << "a NaN:\n" << e.what() << "\n\n";
  }

  SimpleSGDTrainer trainer(model, 0.1f);
  trainer.skip_non_finite = true;
  float loss = std::numeric_limits<float>::infinity();
  for (int step = 0; step < 500; ++step) {
    ComputationGraph cg;
    Expression e = loss_of(cg, mean, deviation, sample, true);
    if (step == 0) {
      const GradientReport report = check_gradients(e);
      std::cout << "gradients:\n" << report << '\n';
      if (!report.ok()) return 1;
    }
    loss = as_scalar(cg.forward(e));
    cg.backward(e);
    trainer.update();
  }

  std::cout << "loss " << loss << ", updates skipped: " << trainer.skipped << '\n';
  if (loss < kBound) return 0;
  std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
}
