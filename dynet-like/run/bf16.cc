#include "dynet-like/run/bf16.h"

#include "kernels/cpu/matrix.h"

namespace dynet {
namespace {

const cpu::RoundedKernels<float>* kernels_of(const OpForm& form) {
  using Find = const cpu::RoundedKernels<float>* (*)(ForwardKernel<float>);
  static constexpr PerIsa<Find> kFind = DYNET_PER_ISA(Find, cpu::bf16_kernels<float>);
  return kFind(form.forward.value.f.here());
}

}  // namespace

bool forward_in_bf16(const OpForm& form, const Batch<float>& b) {
  const auto* const kernels = kernels_of(form);
  if (kernels) kernels->forward(b);
  return kernels != nullptr;
}

bool backward_in_bf16(const OpForm& form, const GradientBatch<float>& b) {
  const auto* const kernels = kernels_of(form);
  if (kernels) kernels->backward(b);
  return kernels != nullptr;
}

}  // namespace dynet
