#include "dynet-like/ops/broadcast.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/broadcast.h"

namespace dynet {
namespace {

Dim broadcast_two(const Operands& x) { return shape::broadcast(x[0], x[1]); }
Dim broadcast_many(const Operands& x) { return shape::broadcast_all(x.dims); }

template <class F>
constexpr OpForm binary(const char* name, Reads reads) {
  return {.name = name,
          .kind = Kind::compute,
          .shape = broadcast_two,
          .batch = BatchRule::each(),
          .reads = reads,
          .aux = no_aux,
          .passes_gradient = true,
          .forward = DYNET_FORWARD(cpu::Binary<F>::template forward),
          .backward = DYNET_BACKWARD(cpu::Binary<F>::template backward)};
}

constexpr OpForm summation(const char* name, Dim (*rule)(const Operands&)) {
  return {.name = name,
          .kind = Kind::compute,
          .shape = rule,
          .batch = BatchRule::each(sizeof(cpu::SumAttr)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .passes_gradient = true,
          .forward = DYNET_FORWARD(cpu::sum_forward),
          .backward = DYNET_BACKWARD(cpu::sum_backward)};
}

const OpForm kAdd = summation("operator+", broadcast_two);
const OpForm kSum = summation("sum", broadcast_many);
const OpForm kAverage = summation("average", broadcast_many);
const OpForm kSubtract = binary<cpu::Subtract>("operator-", Reads::nothing);
const OpForm kDivide = binary<cpu::Divide>("operator/", Reads::inputs);
const OpForm kCdiv = binary<cpu::Divide>("cdiv", Reads::inputs);
const OpForm kCmult = binary<cpu::Multiply>("cmult", Reads::inputs);
const OpForm kMax = binary<cpu::Max>("max", Reads::inputs);
const OpForm kMin = binary<cpu::Min>("min", Reads::inputs);

Expression apply(const OpForm& form, const Expression& x, const Expression& y, SourceLocation at) {
  return add_node(form, x, y, {}, at);
}
Expression apply_average(std::span<const Expression> xs, SourceLocation at) {
  return add_node(kAverage, xs, cpu::SumAttr{1.0 / static_cast<double>(xs.size())}, at);
}

}  // namespace

OpFamily broadcast_ops() {
  static constexpr const OpForm* kAll[] = {&kAdd,  &kSum,   &kAverage, &kSubtract, &kDivide,
                                           &kCdiv, &kCmult, &kMax,     &kMin};
  return kAll;
}

Expression operator+(LocatedExpression x, const Expression& y) {
  return add_node(kAdd, x.x, y, cpu::SumAttr{1.0}, x.at);
}
Expression operator-(LocatedExpression x, const Expression& y) {
  return apply(kSubtract, x.x, y, x.at);
}
Expression operator/(LocatedExpression x, const Expression& y) {
  return apply(kDivide, x.x, y, x.at);
}
Expression cmult(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kCmult, x, y, at);
}
Expression cdiv(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kCdiv, x, y, at);
}
Expression max(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kMax, x, y, at);
}
Expression min(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kMin, x, y, at);
}

Expression sum(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kSum, {xs.begin(), xs.size()}, cpu::SumAttr{1.0}, at);
}
Expression sum(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kSum, xs, cpu::SumAttr{1.0}, at);
}
Expression average(std::initializer_list<Expression> xs, SourceLocation at) {
  return apply_average({xs.begin(), xs.size()}, at);
}
Expression average(const std::vector<Expression>& xs, SourceLocation at) {
  return apply_average(xs, at);
}

}  // namespace dynet
