// Debugging: finding a wrong shape, a wrong gradient, and the first NaN.
//
// Shape errors are reported where a node is created. The error names the operation, its operands
// with their shapes, the broken rule, and the line of the program.
//
// NaN and infinity are found by set_check_validity(true): the first node with such a value or
// gradient throws a NumericError that names it and its operands. set_immediate_compute(true)
// computes every node when it is created, so that the error has the exact line. Both are for
// debugging; with skip_non_finite a trainer skips and counts such updates.
//
// check_gradients() compares gradients with differences of the loss, in double precision. It
// belongs in the test of every model.
#include <iostream>
#include <limits>
#include <vector>

#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

// Maximum likelihood loss for the mean and deviation of a sample; deviation^2 must be positive.
Expression loss_of(ComputationGraph& cg, const Parameter& mean, const Parameter& deviation,
                   const std::vector<float>& sample, bool careful) {
  Expression x = input(cg, Dim({1}, static_cast<unsigned>(sample.size())), sample);
  Expression s = parameter(cg, deviation);
  if (careful) s = log(1.0f + exp(s));  // positive for any parameter value
  Expression z = cdiv(x - parameter(cg, mean), s);
  return mean_batches(square(z) * 0.5f + log(s));
}

}  // namespace

int main() {
  constexpr float kBound = 0.78f;  // bound of the loss; the minimum is 0.765
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
