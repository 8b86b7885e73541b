#include "dynet-like/ops/softmax.h"

#include <limits>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/indices.h"
#include "dynet-like/graph/check.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/shape/reduction_rules.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/softmax.h"
#include "kernels/cpu/sparsemax.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

std::size_t softmax_aux(const GraphStore& graph, const Node& n) {
  const Along x(n.dim, graph.attr<SoftmaxAttr>(n).dimension);
  return x.inner == 1 ? 0 : x.inner;
}

// Log sum of exponentials and maximum of each batch element, then the classes of this run.
std::size_t class_loss_aux(const GraphStore& graph, const Node& n) {
  return 2 * std::size_t{n.dim.bd} + index_scratch(graph.attr<ClassAttr>(n).indices);
}

// Scratch: one sorted column.
std::size_t sparsemax_aux(const GraphStore&, const Node& n) { return n.dim.rows(); }

const OpForm kSoftmax = {.name = "softmax",
                         .shape =
                             [](const Operands& x) {
                               return shape::softmax(
                                   x[0], static_cast<unsigned>(x.as<SoftmaxAttr>().dimension));
                             },
                         .batch = BatchRule::each(sizeof(SoftmaxAttr)),
                         .reads = Reads::output,
                         .aux = softmax_aux,
                         .forward = DYNET_FORWARD(cpu::softmax_forward),
                         .backward = DYNET_BACKWARD(cpu::softmax_backward),
                         .cuda = CudaRule::by(&cuda::kSoftmax)};

const OpForm kLogSoftmax = {.name = "log_softmax",
                            .shape = [](const Operands& x) { return shape::softmax(x[0], 0); },
                            .batch = BatchRule::each(),
                            .reads = Reads::output,
                            .aux = no_aux,
                            .forward = DYNET_FORWARD(cpu::log_softmax_forward),
                            .backward = DYNET_BACKWARD(cpu::log_softmax_backward),
                            .cuda = CudaRule::by(&cuda::kLogSoftmax)};

const OpForm kLogSumExpDim = {.name = "logsumexp_dim",
                              .shape =
                                  [](const Operands& x) {
                                    const auto d =
                                        static_cast<unsigned>(x.as<SoftmaxAttr>().dimension);
                                    return shape::without(x[0], shape::bit_of(x[0], d));
                                  },
                              .batch = BatchRule::each(sizeof(SoftmaxAttr)),
                              .reads = Reads::inputs,
                              .aux = for_each_element<2>,
                              .forward = DYNET_FORWARD(cpu::logsumexp_along_forward),
                              .backward = DYNET_BACKWARD(cpu::logsumexp_along_backward),
                              .cuda = CudaRule::by(&cuda::kLogSumExpAlong)};

const OpForm kSparsemax = {.name = "sparsemax",
                           .shape = [](const Operands& x) { return x[0]; },
                           .batch = BatchRule::each(),
                           .reads = Reads::output,
                           .aux = sparsemax_aux,
                           .forward = DYNET_FORWARD(cpu::sparsemax_forward),
                           .backward = DYNET_BACKWARD(cpu::sparsemax_backward),
                           .cuda = CudaRule::by(&cuda::kSparsemax)};

const OpForm kConstrainedSoftmax = {.name = "constrained_softmax",
                                    .shape =
                                        [](const Operands& x) {
                                          shape::need_same_sizes(x[0], x[1]);
                                          Dim r = x[0];
                                          r.bd = shape::common_batch(x[0], x[1]);
                                          return r;
                                        },
                                    .batch = BatchRule::each(),
                                    .reads = Reads::output,
                                    .aux = for_each_element<1>,
                                    .forward = DYNET_FORWARD(cpu::constrained_softmax_forward),
                                    .backward = DYNET_BACKWARD(cpu::constrained_softmax_backward),
                                    .cuda = CudaRule::by(&cuda::kConstrainedSoftmax)};

// Operand k has a row for each class.
template <std::size_t k>
bool has_class_loss(const Dim& loss, const Operands& x) {
  const auto& a = x.as<ClassAttr>();
  return a.indices.source == Indices::in_node && a.indices.count == loss.bd && a.extreme >= 0 &&
         a.extreme < x[k].rows();
}

const OpForm kPickNegLogSoftmax = {
    .name = "pickneglogsoftmax",
    .shape =
        [](const Operands& x) {
          const auto& a = x.as<ClassAttr>();
          return shape::class_loss(x[0], a.indices.count, largest_index(a.indices, a.extreme));
        },
    .batch = BatchRule::each(),
    .reads = Reads::inputs,
    .aux = class_loss_aux,
    .forward = DYNET_FORWARD(cpu::class_loss_forward),
    .backward = DYNET_BACKWARD(cpu::class_loss_backward),
    .cuda = CudaRule::by(&cuda::kClassLoss),
    .has_shape = has_class_loss<0>};

// Number of scores of a loss, which lie at the start of its scratch.
std::size_t score_count(const GraphStore& graph, const Node& n) {
  const Node& matrix = graph.nodes[graph.args_of(n)[n.form->batch.value.first_pair]];
  return std::size_t{matrix.dim.rows()} * n.dim.bd;
}
constexpr OpForm linear_form(std::size_t biases) {
  return {.name = "linear_cross_entropy",
          .shape =
              [](const Operands& x) {
                const auto& a = x.as<ClassAttr>();
                if (x.dims.size() < 2) shape::broken("needs a matrix", shape::Kind::argument);
                const Dim scores =
                    x.dims.size() == 2 ? shape::matmul(x[0], x[1]) : shape::affine(x.dims);
                return shape::class_loss(scores, a.indices.count,
                                         largest_index(a.indices, a.extreme));
              },
          .batch = BatchRule::products(biases),
          .reads = Reads::inputs,
          .aux = [](const GraphStore& graph,
                    const Node& n) { return score_count(graph, n) + class_loss_aux(graph, n); },
          .forward = DYNET_FORWARD(cpu::linear_cross_entropy_forward),
          .backward = DYNET_BACKWARD(cpu::linear_cross_entropy_backward),
          .cuda = CudaRule::by(&cuda::kLinearCrossEntropy),
          .sums = score_count,
          .has_shape = biases == 0 ? has_class_loss<0> : has_class_loss<1>};
}
const OpForm kLinearCrossEntropy[2] = {linear_form(0), linear_form(1)};  // by number of biases

}  // namespace

OpFamily softmax_ops() {
  static constexpr const OpForm* kAll[] = {&kSoftmax,
                                           &kLogSoftmax,
                                           &kLogSumExpDim,
                                           &kSparsemax,
                                           &kConstrainedSoftmax,
                                           &kPickNegLogSoftmax,
                                           &kLinearCrossEntropy[0],
                                           &kLinearCrossEntropy[1]};
  return kAll;
}

Expression softmax(const Expression& x, unsigned d, SourceLocation at) {
  return add_node(kSoftmax, x, SoftmaxAttr{d}, at);
}
Expression log_softmax(const Expression& x, SourceLocation at) {
  return add_node(kLogSoftmax, x, {}, at);
}
Expression log_softmax(const Expression& x, const std::vector<unsigned>& restriction,
                       SourceLocation at) {
  const Dim d = check_operands(
      "log_softmax", {x},
      [&](shape::Dims dims) {
        if (restriction.empty()) shape::broken("needs at least one index", shape::Kind::argument);
        for (const unsigned index : restriction)
          if (index >= dims[0]->rows())
            shape::broken("index " + std::to_string(index) + " is outside dimension 0 of size " +
                              std::to_string(dims[0]->rows()),
                          shape::Kind::index);
        return *dims[0];
      },
      at);
  std::vector<float> mask(d.rows(), -std::numeric_limits<float>::infinity());
  for (const unsigned index : restriction) mask[index] = 0;
  return log_softmax(LocatedExpression(x, at) + input(*x.pg, {d.rows()}, mask, device_of(x), at),
                     at);
}
Expression log_softmax(const Expression& x, std::initializer_list<unsigned> restriction,
                       SourceLocation at) {
  return log_softmax(x, std::vector<unsigned>(restriction), at);
}
Expression logsumexp_dim(const Expression& x, unsigned d, SourceLocation at) {
  return add_node(kLogSumExpDim, x, SoftmaxAttr{d}, at);
}
Expression sparsemax(const Expression& x, SourceLocation at) {
  return add_node(kSparsemax, x, {}, at);
}
Expression constrained_softmax(const Expression& x, const Expression& y, SourceLocation at) {
  return add_node(kConstrainedSoftmax, x, y, {}, at);
}
Expression pickneglogsoftmax(const Expression& x, const IndexArgument& v, SourceLocation at) {
  return add_node(kPickNegLogSoftmax, x,
                  {ClassAttr{v.indices(), v.extreme()}, v.payload(), v.payload_size()}, at);
}
Expression linear_cross_entropy(std::initializer_list<Expression> scores, const IndexArgument& v,
                                SourceLocation at) {
  return add_node(kLinearCrossEntropy[scores.size() % 2], {scores.begin(), scores.size()},
                  {ClassAttr{v.indices(), v.extreme()}, v.payload(), v.payload_size()}, at);
}
Expression linear_cross_entropy(const std::vector<Expression>& scores, const IndexArgument& v,
                                SourceLocation at) {
  return add_node(kLinearCrossEntropy[scores.size() % 2], scores,
                  {ClassAttr{v.indices(), v.extreme()}, v.payload(), v.payload_size()}, at);
}

}  // namespace dynet
