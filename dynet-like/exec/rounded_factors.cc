#include "dynet-like/exec/rounded_factors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "dynet-like/base/rounding.h"
#include "kernels/cpu/matrix.h"

namespace dynet {
namespace {

// The kernels that a CPU with instructions for bf16 runs instead of a form's; null if there are
// none.
const cpu::PackingKernels<float>* instead_of(const OpForm& form, Precision precision) {
  using Find = const cpu::PackingKernels<float>* (*)(ForwardKernel<float>);
  static constexpr PerIsa<Find> kFind = DYNET_PER_ISA(Find, cpu::bf16_kernels<float>);
  return precision == Precision::bf16 ? kFind(form.forward.value.f.here()) : nullptr;
}

/// Copies of tensors, rounded.
class RoundedCopies {
 public:
  explicit RoundedCopies(Precision precision) : precision_(precision) {}

  /// That of n numbers. Tensors that follow one another and are the same have one.
  float* of(const float* from, std::size_t n) {
    if (copies_.empty() || copies_.back().first != from) {
      std::vector<float> to(n);
      std::transform(from, from + n, to.begin(),
                     precision_ == Precision::bf16 ? round_to_bfloat16 : round_to_tf32);
      copies_.emplace_back(from, std::move(to));
    }
    return copies_.back().second.data();
  }

 private:
  Precision precision_;
  std::vector<std::pair<const float*, std::vector<float>>> copies_;
};

/// `ins` of a batch, with factors rounded where `wanted(k)`.
template <class Wanted>
std::vector<float*> round_operands(const BatchRule& rule, const Batch<float>& b,
                                   RoundedCopies& copies, Wanted wanted) {
  std::vector<float*> ins(b.ins, b.ins + b.arity * b.count);
  for (std::size_t k = 0; k < b.arity; ++k)
    if (rule.is_factor(k) && wanted(k))
      for (std::size_t i = 0; i < b.count; ++i)
        ins[k * b.count + i] = copies.of(b.in(k, i), b.dim(k, i).size());
  return ins;
}

}  // namespace

void forward_rounded(const OpForm& form, const Batch<float>& b, Precision precision,
                     PackedMatrices& packed) {
  if (const auto* by_cpu = instead_of(form, precision)) return by_cpu->forward(b, packed);
  const BatchRule& rule = form.batch.value;
  RoundedCopies copies(precision);
  std::vector<float*> ins = round_operands(rule, b, copies, [&](std::size_t k) {
    return !rule.has_products() || b.terms.has(rule.term_of(k));
  });
  Batch<float> rounded = b;
  rounded.ins = ins.data();
  form.forward.value.f(rounded);
}

void backward_rounded(const OpForm& form, const GradientBatch<float>& b, Precision precision,
                      PackedMatrices& packed) {
  if (const auto* by_cpu = instead_of(form, precision)) return by_cpu->backward(b, packed);
  const BatchRule& rule = form.batch.value;
  RoundedCopies copies(precision);
  // The factors of an operand's gradient are the other factor and the value's gradient.
  const std::size_t last = std::min(b.end, b.arity);
  std::vector<float*> d_outs,
      ins = round_operands(rule, b, copies, [&](std::size_t k) {
        return !rule.has_products() || (rule.term_of(b.first) <= rule.term_of(k) &&
                                        rule.term_of(k) <= rule.term_of(last - 1));
      });
  for (std::size_t i = 0; i < b.count; ++i)
    d_outs.push_back(copies.of(b.d_out(i), b.node(i).dim.size()));
  // Gradients of what is no factor are sums of the value's gradient as it is.
  for (std::size_t k = 0, end = 0; k < b.arity; k = end) {
    while (end < b.arity && rule.is_factor(end) == rule.is_factor(k)) ++end;
    std::vector<float*> d_ins(b.arity * b.count, nullptr);
    std::copy(b.d_ins + k * b.count, b.d_ins + end * b.count, &d_ins[k * b.count]);
    GradientBatch<float> part = b;
    part.d_ins = d_ins.data();
    if (rule.is_factor(k)) {
      part.ins = ins.data();
      part.d_outs = d_outs.data();
      part.transposed = nullptr;  // they are not rounded
    }
    form.backward.value.f(part);
  }
}

}  // namespace dynet
