#include "dynet-like/ops/elementwise.h"

#include "dynet-like/graph/check.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

using cpu::UnaryAttr;

Dim same(const Operands& x) { return x[0]; }

template <class F>
constexpr OpForm unary(const char* name, Reads reads, const cuda::Kernels* on_cuda,
                       std::size_t attr_bytes = 0) {
  if (reads == Reads::output) reads = Reads::output_in_place;
  return {.name = name,
          .kind = Kind::compute,
          .shape = same,
          .batch = BatchRule::each(attr_bytes),
          .reads = reads,
          .aux = no_aux,
          .passes_gradient = true,
          .forward = DYNET_FORWARD(cpu::Unary<F>::template forward),
          .backward = DYNET_BACKWARD(cpu::Unary<F>::template backward),
          .cuda = CudaRule::by(on_cuda)};
}

const OpForm kNegate = unary<cpu::Negate>("operator-", Reads::nothing, &cuda::kNegate);
const OpForm kAddConstant =
    unary<cpu::AddConstant>("operator+", Reads::nothing, &cuda::kAddConstant, sizeof(UnaryAttr));
const OpForm kSubtractConstant =
    unary<cpu::AddConstant>("operator-", Reads::nothing, &cuda::kAddConstant, sizeof(UnaryAttr));
const OpForm kConstantMinus = unary<cpu::ConstantMinus>("operator-", Reads::nothing,
                                                        &cuda::kConstantMinus, sizeof(UnaryAttr));
const OpForm kScale =
    unary<cpu::Scale>("operator*", Reads::nothing, &cuda::kScale, sizeof(UnaryAttr));
const OpForm kDivideByConstant =
    unary<cpu::Scale>("operator/", Reads::nothing, &cuda::kScale, sizeof(UnaryAttr));
const OpForm kTanh = unary<cpu::Tanh>("tanh", Reads::output, &cuda::kTanh);
const OpForm kLogistic = unary<cpu::Logistic>("logistic", Reads::output, &cuda::kLogistic);
const OpForm kRectify = unary<cpu::Rectify>("rectify", Reads::inputs, &cuda::kRectify);
const OpForm kExp = unary<cpu::Exp>("exp", Reads::output, &cuda::kExp);
const OpForm kLog = unary<cpu::Log>("log", Reads::inputs, &cuda::kLog);
const OpForm kSqrt = unary<cpu::Sqrt>("sqrt", Reads::output, &cuda::kSqrt);
const OpForm kSquare = unary<cpu::Square>("square", Reads::inputs, &cuda::kSquare);
const OpForm kCube = unary<cpu::Cube>("cube", Reads::inputs, &cuda::kCube);
const OpForm kAbs = unary<cpu::Abs>("abs", Reads::inputs, &cuda::kAbs);
const OpForm kLogSigmoid = unary<cpu::LogSigmoid>("log_sigmoid", Reads::inputs, &cuda::kLogSigmoid);
const OpForm kSoftsign = unary<cpu::Softsign>("softsign", Reads::inputs, &cuda::kSoftsign);
const OpForm kElu = unary<cpu::Elu>("elu", Reads::inputs, &cuda::kElu, sizeof(UnaryAttr));
const OpForm kSilu = unary<cpu::Silu>("silu", Reads::inputs, &cuda::kSilu, sizeof(UnaryAttr));
const OpForm kErf = unary<cpu::Erf>("erf", Reads::inputs, &cuda::kErf);
const OpForm kLogGamma = unary<cpu::LogGamma>("lgamma", Reads::inputs, &cuda::kLogGamma);
const OpForm kSin = unary<cpu::Sin>("sin", Reads::inputs, &cuda::kSin);
const OpForm kCos = unary<cpu::Cos>("cos", Reads::inputs, &cuda::kCos);
const OpForm kTan = unary<cpu::Tan>("tan", Reads::output, &cuda::kTan);
const OpForm kAsin = unary<cpu::Asin>("asin", Reads::inputs, &cuda::kAsin);
const OpForm kAcos = unary<cpu::Acos>("acos", Reads::inputs, &cuda::kAcos);
const OpForm kAtan = unary<cpu::Atan>("atan", Reads::inputs, &cuda::kAtan);
const OpForm kSinh = unary<cpu::Sinh>("sinh", Reads::inputs, &cuda::kSinh);
const OpForm kCosh = unary<cpu::Cosh>("cosh", Reads::inputs, &cuda::kCosh);
const OpForm kAsinh = unary<cpu::Asinh>("asinh", Reads::inputs, &cuda::kAsinh);
const OpForm kAcosh = unary<cpu::Acosh>("acosh", Reads::inputs, &cuda::kAcosh);
const OpForm kAtanh = unary<cpu::Atanh>("atanh", Reads::inputs, &cuda::kAtanh);
const OpForm kRound = unary<cpu::Round>("round", Reads::nothing, &cuda::kRound, sizeof(UnaryAttr));
const OpForm kCeil = unary<cpu::Ceil>("ceil", Reads::nothing, &cuda::kCeil, sizeof(UnaryAttr));
const OpForm kFloor = unary<cpu::Floor>("floor", Reads::nothing, &cuda::kFloor, sizeof(UnaryAttr));

Expression apply(const OpForm& form, const Expression& x, SourceLocation at) {
  return add_node(form, x, {}, at);
}
Expression apply(const OpForm& form, const LocatedExpression& x, double a) {
  return add_node(form, x.x, UnaryAttr{a}, x.at);
}

double gradient_of(GradientMode mode) { return mode == straight_through_gradient ? 1 : 0; }

}  // namespace

OpFamily elementwise_ops() {
  static constexpr const OpForm* kAll[] = {&kNegate,        &kAddConstant, &kSubtractConstant,
                                           &kConstantMinus, &kScale,       &kDivideByConstant,
                                           &kTanh,          &kLogistic,    &kRectify,
                                           &kExp,           &kLog,         &kSqrt,
                                           &kSquare,        &kCube,        &kAbs,
                                           &kLogSigmoid,    &kSoftsign,    &kElu,
                                           &kSilu,          &kErf,         &kLogGamma,
                                           &kSin,           &kCos,         &kTan,
                                           &kAsin,          &kAcos,        &kAtan,
                                           &kSinh,          &kCosh,        &kAsinh,
                                           &kAcosh,         &kAtanh,       &kRound,
                                           &kCeil,          &kFloor};
  return kAll;
}

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
  return add_node(kElu, x, UnaryAttr{alpha}, at);
}
Expression silu(const Expression& x, float beta, SourceLocation at) {
  return add_node(kSilu, x, UnaryAttr{beta}, at);
}
Expression selu(const Expression& x, SourceLocation at) {
  constexpr double kScaleUp = 1.0507009873554805, kAlpha = 1.6732632423543772;
  check_operands(
      "selu", {x}, [](shape::Dims d) { return *d[0]; }, at);
  return add_node(kScale, add_node(kElu, x, UnaryAttr{kAlpha}, at), UnaryAttr{kScaleUp}, at);
}

Expression round(const Expression& x, GradientMode mode, SourceLocation at) {
  return add_node(kRound, x, UnaryAttr{gradient_of(mode)}, at);
}
Expression ceil(const Expression& x, GradientMode mode, SourceLocation at) {
  return add_node(kCeil, x, UnaryAttr{gradient_of(mode)}, at);
}
Expression floor(const Expression& x, GradientMode mode, SourceLocation at) {
  return add_node(kFloor, x, UnaryAttr{gradient_of(mode)}, at);
}

}  // namespace dynet
