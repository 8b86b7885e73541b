#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

constexpr Unary kElementwise[] = {
    {"tanh", dynet::tanh,
     "(e^x - e^-x) / (e^x + e^-x), elementwise: the shape of x.\n\n"
     ">>> dy.tanh(dy.inputVector([0, 1000])).value()\n"
     "[0.0, 1.0]"},
    {"logistic", dynet::logistic,
     "1 / (1 + e^-x), elementwise: the shape of x.\n\n"
     ">>> dy.logistic(dy.inputVector([0, 1000])).value()\n"
     "[0.5, 1.0]"},
    {"rectify", dynet::rectify,
     "max(x, 0), elementwise: the shape of x. The gradient at 0 is 0.\n\n"
     ">>> dy.rectify(dy.inputVector([-2, 0, 3])).value()\n"
     "[0.0, 0.0, 3.0]"},
    {"exp", dynet::exp, "e^x, elementwise: the shape of x."},
    {"log", dynet::log, "The natural logarithm, elementwise: the shape of x."},
    {"sqrt", dynet::sqrt, "The square root, elementwise: the shape of x."},
    {"square", dynet::square,
     "x^2, elementwise: the shape of x.\n\n"
     ">>> dy.square(dy.inputVector([-2, 3])).value()\n"
     "[4.0, 9.0]"},
    {"cube", dynet::cube, "x^3, elementwise: the shape of x."},
    {"abs", dynet::abs, "|x|, elementwise: the shape of x. The gradient at 0 is 0."},
    {"log_sigmoid", dynet::log_sigmoid,
     "log(1 / (1 + e^-x)) without overflow, elementwise: the shape of x."},
    {"softsign", dynet::softsign, "x / (1 + |x|), elementwise: the shape of x."},
    {"erf", dynet::erf,
     "2 / sqrt(pi) times the integral of e^-t^2 from 0 to x, elementwise: the shape of x."},
    {"lgamma", dynet::lgamma, "log |Gamma(x)|, elementwise: the shape of x."},
    {"sin", dynet::sin, "The sine, elementwise: the shape of x."},
    {"cos", dynet::cos, "The cosine, elementwise: the shape of x."},
    {"tan", dynet::tan, "The tangent, elementwise: the shape of x."},
    {"asin", dynet::asin,
     "The inverse of sin, in [-pi/2, pi/2], of x in [-1, 1], elementwise: the shape of x."},
    {"acos", dynet::acos,
     "The inverse of cos, in [0, pi], of x in [-1, 1], elementwise: the shape of x."},
    {"atan", dynet::atan, "The inverse of tan, in (-pi/2, pi/2), elementwise: the shape of x."},
    {"sinh", dynet::sinh, "(e^x - e^-x) / 2, elementwise: the shape of x."},
    {"cosh", dynet::cosh, "(e^x + e^-x) / 2, elementwise: the shape of x."},
    {"asinh", dynet::asinh, "The inverse of sinh, elementwise: the shape of x."},
    {"acosh", dynet::acosh, "The inverse of cosh, of x >= 1, elementwise: the shape of x."},
    {"atanh", dynet::atanh, "The inverse of tanh, of x in (-1, 1), elementwise: the shape of x."},
    {"selu", dynet::selu,
     "1.0507 elu(x, 1.67326), elementwise: the shape of x. Klambauer et al. 2017."},
};

struct Step {
  const char* name;
  Expression (*function)(const Expression&, GradientMode, SourceLocation);
  const char* doc;
};
constexpr Step kSteps[] = {
    {"round", dynet::round,
     "The nearest integer, halves away from zero, elementwise: the shape of x.\n\n"
     "`gradient_mode`: \"zero_gradient\", or \"straight_through_gradient\", with which x gets the\n"
     "gradient of the result (Bengio et al. 2013). ValueError for another one."},
    {"ceil", dynet::ceil,
     "The least integer not below x, elementwise: the shape of x. `gradient_mode` as in `round`."},
    {"floor", dynet::floor,
     "The largest integer not above x, elementwise: the shape of x. `gradient_mode` as in "
     "`round`."},
};

}  // namespace

void bind_elementwise(nb::module_& m) {
  for (const Unary& u : kElementwise) def(m, u);
  for (const Step& s : kSteps)
    m.def(
        s.name,
        [s](const Expression& x, const std::string& mode) {
          return s.function(x, gradient_mode(s.name, mode), here());
        },
        "x"_a, "gradient_mode"_a, s.doc);
  m.def(
      "elu", [](const Expression& x, float alpha) { return elu(x, alpha, here()); }, "x"_a,
      "alpha"_a = 1.0f,
      "x above zero, alpha (e^x - 1) below, elementwise: the shape of x. Clevert et al. 2016.");
  m.def(
      "silu", [](const Expression& x, float beta) { return silu(x, beta, here()); }, "x"_a,
      "beta"_a = 1.0f, "x / (1 + e^(-beta x)), elementwise: the shape of x. Elfwing et al. 2017.");
}

}  // namespace dynet::python
