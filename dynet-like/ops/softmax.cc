#include "dynet-like/ops/softmax.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/softmax.h"

namespace dynet {
namespace {

using cpu::ClassAttr;
using cpu::SoftmaxAttr;

const OpForm kSoftmax = {.name = "softmax",
                         .kind = Kind::compute,
                         .shape =
                             [](const Operands& x) {
                               return shape::softmax(
                                   x[0], static_cast<unsigned>(x.as<SoftmaxAttr>().dimension));
                             },
                         .batch = BatchRule::each(sizeof(SoftmaxAttr)),
                         .reads = Reads::output,
                         .aux = cpu::softmax_aux,
                         .passes_gradient = true,
                         .forward = DYNET_FORWARD(cpu::softmax_forward),
                         .backward = DYNET_BACKWARD(cpu::softmax_backward)};

const OpForm kLogSoftmax = {.name = "log_softmax",
                            .kind = Kind::compute,
                            .shape = [](const Operands& x) { return shape::softmax(x[0], 0); },
                            .batch = BatchRule::each(),
                            .reads = Reads::output,
                            .aux = no_aux,
                            .passes_gradient = true,
                            .forward = DYNET_FORWARD(cpu::log_softmax_forward),
                            .backward = DYNET_BACKWARD(cpu::log_softmax_backward)};

const OpForm kPickNegLogSoftmax = {
    .name = "pickneglogsoftmax",
    .kind = Kind::compute,
    .shape =
        [](const Operands& x) {
          const auto& a = x.as<ClassAttr>();
          return shape::class_loss(x[0], a.indices.count, largest_index(a.indices, a.extreme));
        },
    .batch = BatchRule::each(),
    .reads = Reads::inputs,
    .aux = cpu::class_loss_aux,
    .passes_gradient = true,
    .forward = DYNET_FORWARD(cpu::class_loss_forward),
    .backward = DYNET_BACKWARD(cpu::class_loss_backward)};

}  // namespace

OpFamily softmax_ops() {
  static constexpr const OpForm* kAll[] = {&kSoftmax, &kLogSoftmax, &kPickNegLogSoftmax};
  return kAll;
}

Expression softmax(const Expression& x, unsigned d, SourceLocation at) {
  return add_node(kSoftmax, x, SoftmaxAttr{d}, at);
}
Expression log_softmax(const Expression& x, SourceLocation at) {
  return add_node(kLogSoftmax, x, {}, at);
}
Expression pickneglogsoftmax(const Expression& x, const IndexArgument& v, SourceLocation at) {
  return add_node(kPickNegLogSoftmax, x,
                  {ClassAttr{v.indices(), v.extreme()}, v.payload(), v.payload_size()}, at);
}

}  // namespace dynet
