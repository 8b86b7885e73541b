#include "dynet-like/ops/elementwise.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/unary.h"

namespace dynet {
namespace {

using cpu::UnaryAttr;

Dim same(const Operands& x) { return x[0]; }

template <class F>
constexpr OpForm unary(const char* name, Reads reads, std::size_t attr_bytes = 0) {
  if (reads == Reads::output) reads = Reads::output_in_place;
  return {.name = name,
          .kind = Kind::compute,
          .shape = same,
          .batch = BatchRule::each(attr_bytes),
          .reads = reads,
          .aux = no_aux,
          .passes_gradient = true,
          .forward = DYNET_FORWARD(cpu::Unary<F>::template forward),
          .backward = DYNET_BACKWARD(cpu::Unary<F>::template backward)};
}

const OpForm kNegate = unary<cpu::Negate>("operator-", Reads::nothing);
const OpForm kAddConstant = unary<cpu::AddConstant>("operator+", Reads::nothing, sizeof(UnaryAttr));
const OpForm kSubtractConstant =
    unary<cpu::AddConstant>("operator-", Reads::nothing, sizeof(UnaryAttr));
const OpForm kConstantMinus =
    unary<cpu::ConstantMinus>("operator-", Reads::nothing, sizeof(UnaryAttr));
const OpForm kScale = unary<cpu::Scale>("operator*", Reads::nothing, sizeof(UnaryAttr));
const OpForm kDivideByConstant = unary<cpu::Scale>("operator/", Reads::nothing, sizeof(UnaryAttr));
const OpForm kTanh = unary<cpu::Tanh>("tanh", Reads::output);
const OpForm kLogistic = unary<cpu::Logistic>("logistic", Reads::output);
const OpForm kRectify = unary<cpu::Rectify>("rectify", Reads::inputs);
const OpForm kExp = unary<cpu::Exp>("exp", Reads::output);
const OpForm kLog = unary<cpu::Log>("log", Reads::inputs);
const OpForm kSqrt = unary<cpu::Sqrt>("sqrt", Reads::output);
const OpForm kSquare = unary<cpu::Square>("square", Reads::inputs);
const OpForm kCube = unary<cpu::Cube>("cube", Reads::inputs);
const OpForm kAbs = unary<cpu::Abs>("abs", Reads::inputs);
const OpForm kLogSigmoid = unary<cpu::LogSigmoid>("log_sigmoid", Reads::inputs);
const OpForm kSoftsign = unary<cpu::Softsign>("softsign", Reads::output);
const OpForm kElu = unary<cpu::Elu>("elu", Reads::both, sizeof(UnaryAttr));

Expression apply(const OpForm& form, const Expression& x, SourceLocation at) {
  return add_node(form, x, {}, at);
}
Expression apply(const OpForm& form, const LocatedExpression& x, double a) {
  return add_node(form, x.x, UnaryAttr{a}, x.at);
}

}  // namespace

OpFamily elementwise_ops() {
  static constexpr const OpForm* kAll[] = {&kNegate,        &kAddConstant, &kSubtractConstant,
                                           &kConstantMinus, &kScale,       &kDivideByConstant,
                                           &kTanh,          &kLogistic,    &kRectify,
                                           &kExp,           &kLog,         &kSqrt,
                                           &kSquare,        &kCube,        &kAbs,
                                           &kLogSigmoid,    &kSoftsign,    &kElu};
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
Expression elu(const Expression& x, float alpha, SourceLocation at) {
  return add_node(kElu, x, UnaryAttr{alpha}, at);
}

}  // namespace dynet
