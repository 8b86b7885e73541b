#include "dynet-like/ops/reductions.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/reductions.h"

namespace dynet {
namespace {

Dim elements(const Operands& x) { return shape::elements(x[0]); }
Dim some_elements(const Operands& x) {
  if (x[0].batch_size() == 0)
    throw RuleBroken{RuleBroken::Kind::shape,
                     "the mean of no elements is not defined, got " + to_string(x[0])};
  return shape::elements(x[0]);
}
Dim batches(const Operands& x) { return shape::batches(x[0]); }

template <class Kernel>
constexpr OpForm reduction(const char* name, Dim (*rule)(const Operands&), Reads reads) {
  return {.name = name,
          .kind = Kind::compute,
          .shape = rule,
          .batch = BatchRule::each(),
          .reads = reads,
          .aux = no_aux,
          .passes_gradient = true,
          .forward = DYNET_FORWARD(Kernel::template forward),
          .backward = DYNET_BACKWARD(Kernel::template backward)};
}

const OpForm kSumElems =
    reduction<cpu::ReduceElems<cpu::ElemsSum>>("sum_elems", elements, Reads::nothing);
const OpForm kMeanElems =
    reduction<cpu::ReduceElems<cpu::ElemsMean>>("mean_elems", some_elements, Reads::nothing);
const OpForm kSquaredNorm =
    reduction<cpu::ReduceElems<cpu::ElemsSquaredNorm>>("squared_norm", elements, Reads::inputs);
const OpForm kL2Norm =
    reduction<cpu::ReduceElems<cpu::ElemsNorm>>("l2_norm", elements, Reads::both);
const OpForm kSumBatches =
    reduction<cpu::ReduceBatches<false>>("sum_batches", batches, Reads::nothing);
const OpForm kMeanBatches =
    reduction<cpu::ReduceBatches<true>>("mean_batches", batches, Reads::nothing);

Expression apply(const OpForm& form, const Expression& x, SourceLocation at) {
  return add_node(form, x, {}, at);
}

}  // namespace

OpFamily reduction_ops() {
  static constexpr const OpForm* kAll[] = {&kSumElems, &kMeanElems,  &kSquaredNorm,
                                           &kL2Norm,   &kSumBatches, &kMeanBatches};
  return kAll;
}

Expression sum_elems(const Expression& x, SourceLocation at) { return apply(kSumElems, x, at); }
Expression mean_elems(const Expression& x, SourceLocation at) { return apply(kMeanElems, x, at); }
Expression squared_norm(const Expression& x, SourceLocation at) {
  return apply(kSquaredNorm, x, at);
}
Expression l2_norm(const Expression& x, SourceLocation at) { return apply(kL2Norm, x, at); }
Expression sum_batches(const Expression& x, SourceLocation at) { return apply(kSumBatches, x, at); }
Expression mean_batches(const Expression& x, SourceLocation at) {
  return apply(kMeanBatches, x, at);
}

}  // namespace dynet
