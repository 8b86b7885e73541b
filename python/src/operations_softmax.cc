#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

Expression restricted(const Expression& x,
                      const std::optional<std::vector<std::int64_t>>& restrict) {
  if (!restrict) return log_softmax(x, here());
  return log_softmax(x, indices_of("log_softmax", * restrict), here());
}

Expression negative_log(const Expression& x, const OneOrMore& v) {
  return with_indices(
      v, [&](const IndexArgument& index) { return pickneglogsoftmax(x, index, here()); });
}

}  // namespace

void bind_softmax(nb::module_& m) {
  m.def(
      "softmax", [](const Expression& x, unsigned d) { return softmax(x, d, here()); }, "x"_a,
      "d"_a = 0,
      "e^x_i / sum_j e^x_j along dimension d: the shape of x. Scores of minus infinity are "
      "masked.\n\n"
      ">>> dy.softmax(dy.inputVector([7, 7, -np.inf])).npvalue().round(4)\n"
      "array([0.5, 0.5, 0. ])");
  m.def("log_softmax", restricted, "x"_a, "restrict"_a = nb::none(),
        "log(softmax(x)) along dimension 0: the shape of x. With a list `restrict` over its\n"
        "elements only, the others being minus infinity.\n\n"
        ">>> dy.log_softmax(dy.inputVector([7, 7])).npvalue().round(4)\n"
        "array([-0.6931, -0.6931])");
  m.def(
      "sparsemax", [](const Expression& x) { return sparsemax(x, here()); }, "x"_a,
      "The probabilities closest to x, max(x_i - t, 0) with the sum one, along dimension 0: the\n"
      "shape of x. Martins and Astudillo 2016.");
  m.def(
      "constrained_softmax",
      [](const Expression& x, const Expression& y) { return constrained_softmax(x, y, here()); },
      "x"_a, "y"_a,
      "min(e^x_i / z, y_i) with the sum one, along dimension 0: the shape of both. Martins and\n"
      "Kreutzer 2017.");
  m.def("pickneglogsoftmax", negative_log, "x"_a, "v"_a,
        "-log(softmax(x)[v]) of scores x {n}: {1}. Several v: one for each batch element.\n"
        "IndexError for a class that x does not have.\n\n"
        ">>> loss = dy.pickneglogsoftmax(dy.inputVector([7, 7]), 1)\n"
        ">>> round(loss.value(), 4)\n"
        "0.6931\n"
        ">>> dy.pickneglogsoftmax(dy.zeros(5, batch_size=3), [0, 4, 2]).dim()\n"
        "((1,), 3)");
  m.def(
      "linear_cross_entropy",
      [](const std::vector<Expression>& scores, const OneOrMore& v) {
        return with_indices(v, [&](const IndexArgument& index) {
          return linear_cross_entropy(scores, index, here());
        });
      },
      "scores"_a, "v"_a,
      "`pickneglogsoftmax` of the scores W x, or b + W_1 x_1 + W_2 x_2 + ... for an odd number of\n"
      "operands, as one node.");
  m.def(
      "pickneglogsoftmax_batch",
      [](const Expression& x, const std::vector<std::int64_t>& vs) { return negative_log(x, vs); },
      "x"_a, "vs"_a,
      "-log(softmax(x)[v]) of scores x {n} and a class v for each batch element: {1} for each.");
}

}  // namespace dynet::python
