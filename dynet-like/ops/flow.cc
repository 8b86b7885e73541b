#include "dynet-like/ops/flow.h"

#include <cmath>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/flow.h"
#include "kernels/cpu/selection.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

constexpr OpForm scaled(const char* name) {
  return {.name = name,
          .kind = Kind::alias,
          .shape =
              [](const Operands& x) {
                if (!std::isfinite(x.as<ScaleGradientAttr>().factor))
                  throw RuleBroken{RuleBroken::Kind::argument, "the factor must be finite"};
                return x[0];
              },
          .batch = BatchRule::each(sizeof(ScaleGradientAttr)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = kNoForward,
          .backward = DYNET_BACKWARD(cpu::scale_gradient_backward),
          .cuda = CudaRule::by(&cuda::kScaleGradient)};
}
const OpForm kFlipGradient = scaled("flip_gradient");
const OpForm kScaleGradient = scaled("scale_gradient");

constexpr OpForm largest(bool straight_through) {
  return {.name = "argmax",
          .shape =
              [](const Operands& x) {
                return shape::along(x[0], static_cast<unsigned>(x.as<ArgmaxAttr>().dimension));
              },
          .batch = BatchRule::each(sizeof(ArgmaxAttr)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .passes_gradient = straight_through,
          .forward = DYNET_FORWARD(cpu::argmax_forward),
          .backward = straight_through ? DYNET_BACKWARD(cpu::alias_backward) : kNoBackward,
          .cuda = CudaRule::by(&cuda::kArgmax)};
}
const OpForm kArgmax = largest(false);
const OpForm kArgmaxStraightThrough = largest(true);

constexpr OpForm moved(Kind kind, Backward backward, CudaRule cuda) {
  return {.name = "to_device",
          .kind = kind,
          .shape =
              [](const Operands& x) {
                if (!x.as<TransferAttr>().to)
                  throw RuleBroken{RuleBroken::Kind::argument, "the device is null"};
                return x[0];
              },
          .batch = BatchRule::each(sizeof(TransferAttr)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = kNoForward,
          .backward = backward,
          .cuda = cuda};
}
// A transfer to x's own device, and to another device.
const OpForm kStay =
    moved(Kind::alias, DYNET_BACKWARD(cpu::alias_backward), CudaRule::by(&cuda::kAlias));
const OpForm kToDevice = moved(Kind::transfer, kNoBackward, CudaRule::by_executor());

}  // namespace

OpFamily flow_ops() {
  static constexpr const OpForm* kAll[] = {&kFlipGradient,          &kScaleGradient, &kArgmax,
                                           &kArgmaxStraightThrough, &kStay,          &kToDevice};
  return kAll;
}

Expression flip_gradient(const Expression& x, SourceLocation at) {
  return add_node(kFlipGradient, x, ScaleGradientAttr{-1}, at);
}
Expression scale_gradient(const Expression& x, float lambd, SourceLocation at) {
  return add_node(kScaleGradient, x, ScaleGradientAttr{lambd}, at);
}
Expression argmax(const Expression& x, GradientMode gradient_mode, unsigned d, SourceLocation at) {
  return add_node(gradient_mode == straight_through_gradient ? kArgmaxStraightThrough : kArgmax, x,
                  ArgmaxAttr{d}, at);
}
Expression to_device(const Expression& x, Device* device, SourceLocation at) {
  Device* const from = device_of(x);
  if (device && from && !device->is(*from)) return add_transfer(kToDevice, x, device, at);
  return add_node(kStay, x, TransferAttr{device, from}, at);
}

}  // namespace dynet
