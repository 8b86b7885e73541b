#include "dynet-like/ops/broadcast.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/broadcast.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim broadcast_two(const Operands& x) { return shape::broadcast(x[0], x[1]); }
Dim broadcast_many(const Operands& x) { return shape::broadcast_all(x.dims); }

template <class F>
constexpr OpForm binary(const char* name, Reads reads, const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = broadcast_two,
          .batch = BatchRule::each(),
          .reads = reads,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::Binary<F>::forward),
          .backward = DYNET_BACKWARD(cpu::Binary<F>::backward),
          .cuda = CudaRule::by(on_cuda)};
}

constexpr OpForm summation(const char* name, Dim (*rule)(const Operands&)) {
  return {.name = name,
          .shape = rule,
          .batch = BatchRule::each(sizeof(SumAttr)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::sum_forward),
          .backward = DYNET_BACKWARD(cpu::sum_backward),
          .cuda = CudaRule::by(&cuda::kSum)};
}

const OpForm kAdd = summation("operator+", broadcast_two);
const OpForm kSum = summation("sum", broadcast_many);
const OpForm kAverage = summation("average", broadcast_many);
const OpForm kSubtract = binary<cpu::Subtract>("operator-", Reads::nothing, &cuda::kSubtract);
const OpForm kDivide = binary<cpu::Divide>("operator/", Reads::inputs, &cuda::kDivide);
const OpForm kCdiv = binary<cpu::Divide>("cdiv", Reads::inputs, &cuda::kDivide);
const OpForm kCmult = binary<cpu::Multiply>("cmult", Reads::inputs, &cuda::kMultiply);
const OpForm kPow = binary<cpu::Power>("pow", Reads::inputs, &cuda::kPower);

template <bool kLargest>
constexpr OpForm extreme(const char* name) {
  return {.name = name,
          .shape = broadcast_many,
          .batch = BatchRule::each(),
          .reads = Reads::nothing,
          .aux = for_each_element<1>,
          .forward = DYNET_FORWARD(cpu::Extreme<kLargest>::forward),
          .backward = DYNET_BACKWARD(cpu::Extreme<kLargest>::backward),
          .cuda = CudaRule::by(kLargest ? &cuda::kMax : &cuda::kMin)};
}
const OpForm kMax = extreme<true>("max");
const OpForm kMin = extreme<false>("min");

const OpForm kLogSumExp = {.name = "logsumexp",
                           .shape = broadcast_many,
                           .batch = BatchRule::each(),
                           .reads = Reads::inputs,
                           .aux = for_each_element<2>,
                           .forward = DYNET_FORWARD(cpu::logsumexp_forward),
                           .backward = DYNET_BACKWARD(cpu::logsumexp_backward),
                           .cuda = CudaRule::by(&cuda::kLogSumExp)};

Expression apply(const OpForm& form, const Expression& x, const Expression& y, SourceLocation at) {
  return add_node(form, x, y, {}, at);
}
std::span<const Expression> all(std::initializer_list<Expression> xs) {
  return {xs.begin(), xs.size()};
}
Expression apply_average(std::span<const Expression> xs, SourceLocation at) {
  return add_node(kAverage, xs, SumAttr{1.0 / static_cast<double>(xs.size())}, at);
}

}  // namespace

OpFamily broadcast_ops() {
  static constexpr const OpForm* kAll[] = {&kAdd,    &kSum,  &kAverage,  &kSubtract,
                                           &kDivide, &kCdiv, &kCmult,    &kPow,
                                           &kMax,    &kMin,  &kLogSumExp};
  return kAll;
}

Expression operator+(LocatedExpression x, const Expression& y) {
  return add_node(kAdd, x.x, y, SumAttr{1.0}, x.at);
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

Expression pow(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kPow, x, y, at);
}

Expression max(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kMax, all(xs), {}, at);
}
Expression max(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kMax, xs, {}, at);
}
Expression min(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kMin, all(xs), {}, at);
}
Expression min(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kMin, xs, {}, at);
}
Expression logsumexp(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kLogSumExp, all(xs), {}, at);
}
Expression logsumexp(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kLogSumExp, xs, {}, at);
}

Expression sum(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kSum, all(xs), SumAttr{1.0}, at);
}
Expression sum(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kSum, xs, SumAttr{1.0}, at);
}
Expression average(std::initializer_list<Expression> xs, SourceLocation at) {
  return apply_average(all(xs), at);
}
Expression average(const std::vector<Expression>& xs, SourceLocation at) {
  return apply_average(xs, at);
}

}  // namespace dynet
