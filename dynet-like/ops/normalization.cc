#include "dynet-like/ops/normalization.h"

#include <cmath>

#include "dynet-like/graph/check.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/shape/algebra_rules.h"
#include "kernels/cpu/normalization.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

// Mean and inverse standard deviation of each batch element.
std::size_t layer_norm_aux(const GraphStore&, const Node& n) { return 2 * std::size_t{n.dim.bd}; }

const OpForm kLayerNorm{.name = "layer_norm",
                        .shape =
                            [](const Operands& x) {
                              const double epsilon = x.as<LayerNormAttr>().epsilon;
                              if (!(epsilon >= 0 && std::isfinite(epsilon)))
                                throw RuleBroken{RuleBroken::Kind::argument,
                                                 "epsilon must be finite and not negative, got " +
                                                     std::to_string(epsilon)};
                              return shape::layer_norm(x[0], x[1], x[2]);
                            },
                        .batch = BatchRule::each(sizeof(LayerNormAttr)),
                        .reads = Reads::inputs,
                        .aux = layer_norm_aux,
                        .forward = DYNET_FORWARD(cpu::layer_norm_forward),
                        .backward = DYNET_BACKWARD(cpu::layer_norm_backward),
                        .cuda = CudaRule::by(&cuda::kLayerNorm)};

}  // namespace

OpFamily normalization_ops() {
  static constexpr const OpForm* kAll[] = {&kLayerNorm};
  return kAll;
}

Expression layer_norm(const Expression& x, const Expression& g, const Expression& b, float epsilon,
                      SourceLocation at) {
  const Expression operands[] = {x, g, b};
  return add_node(kLayerNorm, operands, LayerNormAttr{epsilon}, at);
}

Expression weight_norm(const Expression& w, const Expression& g, SourceLocation at) {
  check_operands(
      "weight_norm", {w, g}, [](shape::Dims xs) { return shape::weight_norm(*xs[0], *xs[1]); }, at);
  return cmult(w, cdiv(g, l2_norm(w, at), at), at);
}

}  // namespace dynet
