#include "dynet-like/ops/matrix.h"

#include "dynet-like/graph/graph_state.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/broadcast.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/pairwise.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

constexpr OpForm product_form(const char* name, Dim (*shape)(const Operands&),
                              const BatchRule& batch) {
  return {.name = name,
          .shape = shape,
          .batch = batch,
          .reads = Reads::inputs,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::affine_forward),
          .backward = DYNET_BACKWARD(cpu::affine_backward),
          .cuda = CudaRule::by(&cuda::kAffine)};
}
constexpr OpForm matmul(const BatchRule& batch) {
  return product_form(
      "operator*", [](const Operands& x) { return shape::matmul(x[0], x[1]); }, batch);
}
constexpr OpForm affine(const BatchRule& batch) {
  return product_form(
      "affine_transform", [](const Operands& x) { return shape::affine(x.dims); }, batch);
}
// Products with matrices x run together whatever their columns, if they are on the CPU: sizes that
// may differ would cost vectors time, and the CUDA kernels take equal ones.
const OpForm kMatmul = matmul(BatchRule::products(0)),
             kMatmulOfColumns = matmul(BatchRule::products_of_columns(0)),
             kAffine = affine(BatchRule::products(1)),
             kAffineOfColumns = affine(BatchRule::products_of_columns(1));

const OpForm kColwiseAdd{.name = "colwise_add",
                         .shape = [](const Operands& x) { return shape::colwise_add(x[0], x[1]); },
                         .batch = BatchRule::each(sizeof(SumAttr)),
                         .reads = Reads::nothing,
                         .aux = no_aux,
                         .forward = DYNET_FORWARD(cpu::sum_forward),
                         .backward = DYNET_BACKWARD(cpu::sum_backward),
                         .cuda = CudaRule::by(&cuda::kSum)};

template <class F>
constexpr OpForm pairwise(const char* name, const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = [](const Operands& x) { return shape::pairwise_scalar(x[0], x[1]); },
          .batch = BatchRule::each(),
          .reads = Reads::inputs,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::Pairwise<F>::forward),
          .backward = DYNET_BACKWARD(cpu::Pairwise<F>::backward),
          .cuda = CudaRule::by(on_cuda)};
}
const OpForm kDotProduct = pairwise<cpu::DotProduct>("dot_product", &cuda::kDotProduct);
const OpForm kTraceOfProduct = pairwise<cpu::DotProduct>("trace_of_product", &cuda::kDotProduct);
const OpForm kSquaredDistance =
    pairwise<cpu::SquaredDistance>("squared_distance", &cuda::kSquaredDistance);
const OpForm kBinaryLogLoss =
    pairwise<cpu::BinaryLogLoss>("binary_log_loss", &cuda::kBinaryLogLoss);

/// Whether products with x run together with those of other numbers of columns.
bool has_columns(const Expression& x) {
  if (!x.state || !x.state->holds(x.i, x.serial)) return false;  // add_node reports it
  const Node& n = x.state->store.nodes[x.i];
  return n.dim.cols() > 1 && !(n.flags & Node::kOnDevice);
}

Expression add_affine(std::span<const Expression> xs, SourceLocation at) {
  return add_node(xs.size() > 2 && has_columns(xs[2]) ? kAffineOfColumns : kAffine, xs, {}, at);
}

Expression apply(const OpForm& form, const Expression& x, const Expression& y, Attributes attr,
                 SourceLocation at) {
  return add_node(form, x, y, attr, at);
}

}  // namespace

OpFamily matrix_ops() {
  static constexpr const OpForm* kAll[] = {&kMatmul,          &kMatmulOfColumns, &kAffine,
                                           &kAffineOfColumns, &kColwiseAdd,      &kDotProduct,
                                           &kTraceOfProduct,  &kSquaredDistance, &kBinaryLogLoss};
  return kAll;
}

Expression operator*(LocatedExpression x, const Expression& y) {
  return apply(has_columns(y) ? kMatmulOfColumns : kMatmul, x.x, y, {}, x.at);
}
Expression affine_transform(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_affine({xs.begin(), xs.size()}, at);
}
Expression affine_transform(const std::vector<Expression>& xs, SourceLocation at) {
  return add_affine(xs, at);
}
Expression colwise_add(const Expression& x, const Expression& bias, SourceLocation at) {
  return apply(kColwiseAdd, x, bias, SumAttr{1.0}, at);
}
Expression dot_product(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kDotProduct, x, y, {}, at);
}
Expression trace_of_product(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kTraceOfProduct, x, y, {}, at);
}
Expression squared_distance(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kSquaredDistance, x, y, {}, at);
}
Expression binary_log_loss(const Expression& x, const Expression& y, SourceLocation at) {
  return apply(kBinaryLogLoss, x, y, {}, at);
}

}  // namespace dynet
