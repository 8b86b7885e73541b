#include "dynet-like/ops/losses.h"

#include <cmath>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/graph/check.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/shape/reduction_rules.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/losses.h"
#include "kernels/cpu/sparsemax.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

std::size_t poisson_aux(const GraphStore& graph, const Node& n) {
  return index_scratch(graph.attr<PoissonAttr>(n).indices);
}

// The gradient, and one sorted column.
std::size_t sparsemax_loss_aux(const GraphStore& graph, const Node& n) {
  const Dim& x = graph.nodes[graph.args[n.first_arg]].dim;
  return x.size() + x.rows();
}

// The classes of the current run.
std::size_t classes_aux(const GraphStore& graph, const Node& n) {
  return index_scratch(graph.attr<HingeAttr>(n).indices);
}
std::size_t class_lists_aux(const GraphStore& graph, const Node& n) {
  return graph.attr<HingeDimAttr>(n).indices.total;
}

void need_finite(double margin) {
  if (!std::isfinite(margin))
    shape::broken("the margin must be finite, got " + std::to_string(margin),
                  shape::Kind::argument);
}

// Elementwise loss of differences; the distance is its sum.
template <class F>
constexpr OpForm difference_loss(const char* name, const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = [](const Operands& x) { return x[0]; },
          .batch = BatchRule::each(sizeof(ElementwiseAttr)),
          .reads = Reads::inputs,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::Elementwise<F>::forward),
          .backward = DYNET_BACKWARD(cpu::Elementwise<F>::backward),
          .cuda = CudaRule::by(on_cuda)};
}
const OpForm kHuber = difference_loss<cpu::Huber>("huber_distance", &cuda::kHuber);

const OpForm kHinge = {.name = "hinge",
                       .shape =
                           [](const Operands& x) {
                             const auto& a = x.as<HingeAttr>();
                             need_finite(a.margin);
                             return shape::class_loss(x[0], a.indices.count,
                                                      largest_index(a.indices, a.extreme));
                           },
                       .batch = BatchRule::each(offsetof(HingeAttr, indices)),
                       .reads = Reads::inputs,
                       .aux = classes_aux,
                       .forward = DYNET_FORWARD(cpu::Hinge<HingeAttr>::forward),
                       .backward = DYNET_BACKWARD(cpu::Hinge<HingeAttr>::backward),
                       .cuda = CudaRule::by(&cuda::kHinge)};

const OpForm kHingeDim = {
    .name = "hinge_dim",
    .shape =
        [](const Operands& x) {
          const auto& a = x.as<HingeDimAttr>();
          need_finite(a.margin);
          check_lists(a.indices);
          if (a.indices.shortest != a.indices.longest)
            shape::broken("all lists of classes must have the same length" +
                              shape::two(a.indices.shortest, a.indices.longest),
                          shape::Kind::argument);
          return shape::classes_along(x[0], static_cast<unsigned>(a.dimension), a.indices.lists,
                                      a.indices.longest, a.indices.largest);
        },
    .batch = BatchRule::each(offsetof(HingeDimAttr, indices)),
    .reads = Reads::inputs,
    .aux = class_lists_aux,
    .forward = DYNET_FORWARD(cpu::Hinge<HingeDimAttr>::forward),
    .backward = DYNET_BACKWARD(cpu::Hinge<HingeDimAttr>::backward),
    .cuda = CudaRule::by(&cuda::kHingeDim)};

const OpForm kPoisson = {
    .name = "poisson_loss",
    .shape =
        [](const Operands& x) {
          const auto& a = x.as<PoissonAttr>();
          if (a.extreme < 0)
            shape::broken("the count must not be negative, got " + std::to_string(a.extreme),
                          shape::Kind::argument);
          largest_index(a.indices, a.extreme);
          if (x[0].batch_size() != 1)
            shape::broken("the operand must be one number, got " + to_string(x[0]));
          if (a.indices.count != 1 && a.indices.count != x[0].bd)
            shape::broken("needs one count, or one for each of the " + std::to_string(x[0].bd) +
                              " batch elements, got " + std::to_string(a.indices.count),
                          shape::Kind::argument);
          return Dim({1}, x[0].bd);
        },
    .batch = BatchRule::each(),
    .reads = Reads::inputs,
    .aux = poisson_aux,
    .forward = DYNET_FORWARD(cpu::poisson_forward),
    .backward = DYNET_BACKWARD(cpu::poisson_backward),
    .cuda = CudaRule::by(&cuda::kPoisson)};

const OpForm kSparsemaxLoss = {
    .name = "sparsemax_loss",
    .shape =
        [](const Operands& x) {
          const auto& a = x.as<SupportAttr>();
          check_lists(a.indices);
          if (a.indices.shortest == 0)
            shape::broken("the support must not be empty", shape::Kind::argument);
          return shape::chosen_elements(x[0], a.indices.lists, a.indices.largest);
        },
    .batch = BatchRule::each(),
    .reads = Reads::nothing,
    .aux = sparsemax_loss_aux,
    .forward = DYNET_FORWARD(cpu::sparsemax_loss_forward),
    .backward = DYNET_BACKWARD(cpu::sparsemax_loss_backward),
    .cuda = CudaRule::by(&cuda::kSparsemaxLoss)};

// x - y; checks the operands in the name of the calling operation.
Expression difference(const char* name, const Expression& x, const Expression& y,
                      SourceLocation at) {
  check_operands(
      name, {x, y}, [](shape::Dims d) { return shape::pairwise_scalar(*d[0], *d[1]); }, at);
  return LocatedExpression(x, at) - y;
}

}  // namespace

OpFamily loss_ops() {
  static constexpr const OpForm* kAll[] = {&kHuber, &kHinge, &kHingeDim, &kPoisson,
                                           &kSparsemaxLoss};
  return kAll;
}

Expression l1_distance(const Expression& x, const Expression& y, SourceLocation at) {
  return sum_elems(abs(difference("l1_distance", x, y, at), at), at);
}
Expression huber_distance(const Expression& x, const Expression& y, float c, SourceLocation at) {
  check_operands(
      "huber_distance", {x, y},
      [c](shape::Dims d) {
        if (!(c > 0))
          shape::broken("the bound must be positive, got " + std::to_string(c),
                        shape::Kind::argument);
        return *d[0];
      },
      at);
  const Expression d = difference("huber_distance", x, y, at);
  return sum_elems(add_node(kHuber, d, ElementwiseAttr{c}, at), at);
}
Expression pairwise_rank_loss(const Expression& x, const Expression& y, real m, SourceLocation at) {
  check_operands(
      "pairwise_rank_loss", {x, y},
      [m](shape::Dims d) {
        need_finite(static_cast<double>(m));
        return shape::broadcast(*d[0], *d[1]);
      },
      at);
  const Expression d = LocatedExpression(y, at) - x;
  return rectify(LocatedExpression(d, at) + m, at);
}

Expression hinge(const Expression& x, const IndexArgument& index, float m, SourceLocation at) {
  return add_node(
      kHinge, x,
      {HingeAttr{m, index.indices(), index.extreme()}, index.payload(), index.payload_size()}, at);
}
Expression hinge_dim(const Expression& x, const IndexListsArgument& indices, unsigned d, float m,
                     SourceLocation at) {
  return add_node(kHingeDim, x,
                  {HingeDimAttr{m, d, indices.lists()}, indices.payload(), indices.payload_size()},
                  at);
}
Expression poisson_loss(const Expression& x, const IndexArgument& y, SourceLocation at) {
  return add_node(kPoisson, x,
                  {PoissonAttr{y.indices(), y.extreme()}, y.payload(), y.payload_size()}, at);
}
Expression sparsemax_loss(const Expression& x, const IndexListsArgument& support,
                          SourceLocation at) {
  return add_node(kSparsemaxLoss, x,
                  {SupportAttr{support.lists()}, support.payload(), support.payload_size()}, at);
}

}  // namespace dynet
