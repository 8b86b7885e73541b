#include "dynet-like/ops/linear_algebra.h"

#include "dynet-like/graph/check.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/shape/algebra_rules.h"
#include "kernels/cpu/linear_algebra.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

// Operations on whole matrices or vectors.
constexpr OpForm whole(const char* name, Dim (*shape)(const Operands&), Reads reads,
                       Forward forward, Backward backward, const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::each(),
          .reads = reads,
          .aux = no_aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

Dim square_shape(const Operands& x) { return shape::square(x[0]); }
Dim number_shape(const Operands& x) { return Dim({1}, shape::square(x[0]).bd); }
Dim circular_shape(const Operands& x) { return shape::circular(x[0], x[1]); }

const OpForm kInverse =
    whole("inverse", square_shape, Reads::output, DYNET_FORWARD(cpu::inverse_forward),
          DYNET_BACKWARD(cpu::inverse_backward), &cuda::kInverse);
const OpForm kLogdet =
    whole("logdet", number_shape, Reads::inputs, DYNET_FORWARD(cpu::logdet_forward),
          DYNET_BACKWARD(cpu::logdet_backward), &cuda::kLogdet);
const OpForm kCircConv =
    whole("circ_conv", circular_shape, Reads::inputs, DYNET_FORWARD(cpu::circ_conv_forward),
          DYNET_BACKWARD(cpu::circ_conv_backward), &cuda::kCircConv);
const OpForm kCircCorr =
    whole("circ_corr", circular_shape, Reads::inputs, DYNET_FORWARD(cpu::circ_corr_forward),
          DYNET_BACKWARD(cpu::circ_corr_backward), &cuda::kCircCorr);

// Reshapes x {i,j,k} to {i j,k}; its product with {k} is contract3d_1d as a vector {i j}.
Expression as_matrix(const Expression& x, SourceLocation at) {
  const Dim d = x.dim(at);
  return reshape(x, Dim({d[0] * d[1], d[2]}), at);
}
Expression as_vector_of(const Expression& b, SourceLocation at) {
  return reshape(b, Dim({static_cast<unsigned>(b.dim(at).batch_size())}), at);
}
Expression times(const Expression& x, const Expression& y, SourceLocation at) {
  return LocatedExpression(x, at) * y;
}

}  // namespace

OpFamily linear_algebra_ops() {
  static constexpr const OpForm* kAll[] = {&kInverse, &kLogdet, &kCircConv, &kCircCorr};
  return kAll;
}

Expression inverse(const Expression& x, SourceLocation at) { return add_node(kInverse, x, {}, at); }
Expression logdet(const Expression& x, SourceLocation at) { return add_node(kLogdet, x, {}, at); }

Expression contract3d_1d(const Expression& x, const Expression& y, SourceLocation at) {
  const Dim d = check_operands("contract3d_1d", {x, y}, shape::contract3d_1d, at).single_batch();
  return reshape(times(as_matrix(x, at), y, at), d, at);
}
Expression contract3d_1d(const Expression& x, const Expression& y, const Expression& b,
                         SourceLocation at) {
  const Dim d = check_operands("contract3d_1d", {x, y, b}, shape::contract3d_1d, at).single_batch();
  return reshape(affine_transform({as_vector_of(b, at), as_matrix(x, at), y}, at), d, at);
}
Expression contract3d_1d_1d(const Expression& x, const Expression& y, const Expression& z,
                            SourceLocation at) {
  check_operands("contract3d_1d_1d", {x, y, z}, shape::contract3d_1d_1d, at);
  return times(contract3d_1d(x, y, at), z, at);
}
Expression contract3d_1d_1d(const Expression& x, const Expression& y, const Expression& z,
                            const Expression& b, SourceLocation at) {
  check_operands("contract3d_1d_1d", {x, y, z, b}, shape::contract3d_1d_1d, at);
  return affine_transform({b, contract3d_1d(x, y, at), z}, at);
}

Expression circ_conv(const Expression& u, const Expression& v, SourceLocation at) {
  return add_node(kCircConv, u, v, {}, at);
}
Expression circ_corr(const Expression& u, const Expression& v, SourceLocation at) {
  return add_node(kCircCorr, u, v, {}, at);
}

}  // namespace dynet
