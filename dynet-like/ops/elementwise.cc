#include "dynet-like/ops/elementwise.h"

#include "dynet-like/graph/check.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim same(const Operands& x) { return x[0]; }

template <class F>
constexpr OpForm elementwise(const char* name, Reads reads, std::size_t attribute_bytes,
                             const cuda::Kernels* on_cuda) {
  if (reads == Reads::output) reads = Reads::output_in_place;
  return {.name = name,
          .shape = same,
          .batch = BatchRule::each(attribute_bytes),
          .reads = reads,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::Elementwise<F>::forward),
          .backward = DYNET_BACKWARD(cpu::Elementwise<F>::backward),
          .cuda = CudaRule::by(on_cuda)};
}

// Form, function, name, operands of backward, whether the nodes of a batch need an equal number a.
// clang-format off
#define DYNET_FORMS(X) \
  X(Negate, Negate, "operator-", nothing, false) \
  X(AddConstant, AddConstant, "operator+", nothing, false) \
  X(SubtractConstant, AddConstant, "operator-", nothing, false) \
  X(ConstantMinus, ConstantMinus, "operator-", nothing, false) \
  X(Scale, Scale, "operator*", nothing, false) \
  X(DivideByConstant, Scale, "operator/", nothing, false) \
  X(Tanh, Tanh, "tanh", output, false) \
  X(Logistic, Logistic, "logistic", output, false) \
  X(Rectify, Rectify, "rectify", inputs, false) \
  X(Exp, Exp, "exp", output, false) \
  X(Log, Log, "log", inputs, false) \
  X(Sqrt, Sqrt, "sqrt", output, false) \
  X(Square, Square, "square", inputs, false) \
  X(Cube, Cube, "cube", inputs, false) \
  X(Abs, Abs, "abs", inputs, false) \
  X(LogSigmoid, LogSigmoid, "log_sigmoid", inputs, false) \
  X(Softsign, Softsign, "softsign", inputs, false) \
  X(Elu, Elu, "elu", inputs, true) \
  X(Silu, Silu, "silu", inputs, true) \
  X(Erf, Erf, "erf", inputs, false) \
  X(LogGamma, LogGamma, "lgamma", inputs, false) \
  X(Sin, Sin, "sin", inputs, false) \
  X(Cos, Cos, "cos", inputs, false) \
  X(Tan, Tan, "tan", output, false) \
  X(Asin, Asin, "asin", inputs, false) \
  X(Acos, Acos, "acos", inputs, false) \
  X(Atan, Atan, "atan", inputs, false) \
  X(Sinh, Sinh, "sinh", inputs, false) \
  X(Cosh, Cosh, "cosh", inputs, false) \
  X(Asinh, Asinh, "asinh", inputs, false) \
  X(Acosh, Acosh, "acosh", inputs, false) \
  X(Atanh, Atanh, "atanh", inputs, false) \
  X(Round, Round, "round", nothing, true) \
  X(Ceil, Ceil, "ceil", nothing, true) \
  X(Floor, Floor, "floor", nothing, true)
// clang-format on

#define DYNET_FORM(FORM, F, NAME, READS, NUMBER) \
  const OpForm k##FORM =                         \
      elementwise<cpu::F>(NAME, Reads::READS, NUMBER ? sizeof(ElementwiseAttr) : 0, &cuda::k##F);
DYNET_FORMS(DYNET_FORM)
#undef DYNET_FORM

Expression apply(const OpForm& form, const Expression& x, SourceLocation at) {
  return add_node(form, x, {}, at);
}
Expression apply(const OpForm& form, const LocatedExpression& x, double a) {
  return add_node(form, x.x, ElementwiseAttr{a}, x.at);
}

double gradient_of(GradientMode mode) { return mode == straight_through_gradient ? 1 : 0; }

}  // namespace

OpFamily elementwise_ops() {
#define DYNET_ADDRESS(FORM, ...) &k##FORM,
  static constexpr const OpForm* kAll[] = {DYNET_FORMS(DYNET_ADDRESS)};
#undef DYNET_ADDRESS
  return kAll;
}
#undef DYNET_FORMS

Expression operator-(LocatedExpression x) { return apply(kNegate, x.x, x.at); }
Expression operator+(LocatedExpression x, real a) { return apply(kAddConstant, x, a); }
Expression operator+(real a, LocatedExpression x) { return apply(kAddConstant, x, a); }
Expression operator-(LocatedExpression x, real a) {
  return apply(kSubtractConstant, x, -static_cast<double>(a));
}
Expression operator-(real a, LocatedExpression x) { return apply(kConstantMinus, x, a); }
Expression operator*(LocatedExpression x, float a) { return apply(kScale, x, a); }
Expression operator*(float a, LocatedExpression x) { return apply(kScale, x, a); }
Expression operator/(LocatedExpression x, float a) {
  return apply(kDivideByConstant, x, 1.0 / static_cast<double>(a));
}

Expression tanh(const Expression& x, SourceLocation at) { return apply(kTanh, x, at); }
Expression logistic(const Expression& x, SourceLocation at) { return apply(kLogistic, x, at); }
Expression rectify(const Expression& x, SourceLocation at) { return apply(kRectify, x, at); }
Expression exp(const Expression& x, SourceLocation at) { return apply(kExp, x, at); }
Expression log(const Expression& x, SourceLocation at) { return apply(kLog, x, at); }
Expression sqrt(const Expression& x, SourceLocation at) { return apply(kSqrt, x, at); }
Expression square(const Expression& x, SourceLocation at) { return apply(kSquare, x, at); }
Expression cube(const Expression& x, SourceLocation at) { return apply(kCube, x, at); }
Expression abs(const Expression& x, SourceLocation at) { return apply(kAbs, x, at); }
Expression log_sigmoid(const Expression& x, SourceLocation at) { return apply(kLogSigmoid, x, at); }
Expression softsign(const Expression& x, SourceLocation at) { return apply(kSoftsign, x, at); }
Expression erf(const Expression& x, SourceLocation at) { return apply(kErf, x, at); }
Expression lgamma(const Expression& x, SourceLocation at) { return apply(kLogGamma, x, at); }
Expression sin(const Expression& x, SourceLocation at) { return apply(kSin, x, at); }
Expression cos(const Expression& x, SourceLocation at) { return apply(kCos, x, at); }
Expression tan(const Expression& x, SourceLocation at) { return apply(kTan, x, at); }
Expression asin(const Expression& x, SourceLocation at) { return apply(kAsin, x, at); }
Expression acos(const Expression& x, SourceLocation at) { return apply(kAcos, x, at); }
Expression atan(const Expression& x, SourceLocation at) { return apply(kAtan, x, at); }
Expression sinh(const Expression& x, SourceLocation at) { return apply(kSinh, x, at); }
Expression cosh(const Expression& x, SourceLocation at) { return apply(kCosh, x, at); }
Expression asinh(const Expression& x, SourceLocation at) { return apply(kAsinh, x, at); }
Expression acosh(const Expression& x, SourceLocation at) { return apply(kAcosh, x, at); }
Expression atanh(const Expression& x, SourceLocation at) { return apply(kAtanh, x, at); }
Expression elu(const Expression& x, float alpha, SourceLocation at) {
  return add_node(kElu, x, ElementwiseAttr{alpha}, at);
}
Expression silu(const Expression& x, float beta, SourceLocation at) {
  return add_node(kSilu, x, ElementwiseAttr{beta}, at);
}
Expression selu(const Expression& x, SourceLocation at) {
  constexpr double kScaleUp = 1.0507009873554805, kAlpha = 1.6732632423543772;
  check_operands(
      "selu", {x}, [](shape::Dims d) { return *d[0]; }, at);
  return add_node(kScale, add_node(kElu, x, ElementwiseAttr{kAlpha}, at), ElementwiseAttr{kScaleUp},
                  at);
}

Expression round(const Expression& x, GradientMode mode, SourceLocation at) {
  return add_node(kRound, x, ElementwiseAttr{gradient_of(mode)}, at);
}
Expression ceil(const Expression& x, GradientMode mode, SourceLocation at) {
  return add_node(kCeil, x, ElementwiseAttr{gradient_of(mode)}, at);
}
Expression floor(const Expression& x, GradientMode mode, SourceLocation at) {
  return add_node(kFloor, x, ElementwiseAttr{gradient_of(mode)}, at);
}

}  // namespace dynet
