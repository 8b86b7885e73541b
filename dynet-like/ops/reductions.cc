#include "dynet-like/ops/reductions.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "kernels/cpu/moments.h"
#include "kernels/cpu/reductions.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim elements(const Operands& x) { return shape::elements(x[0]); }
Dim some_elements(const Operands& x) {
  shape::need_elements(x[0], shape::kAllDimensions, "mean");
  return shape::elements(x[0]);
}
Dim batches(const Operands& x) { return shape::batches(x[0]); }

constexpr OpForm reduction(const char* name, Dim (*rule)(const Operands&), Reads reads,
                           Forward forward, Backward backward, const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = rule,
          .batch = BatchRule::each(),
          .reads = reads,
          .aux = no_aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

template <class F>
constexpr OpForm of_elements(const char* name, Dim (*rule)(const Operands&), Reads reads,
                             const cuda::Kernels* on_cuda) {
  return reduction(name, rule, reads, DYNET_FORWARD(cpu::ReduceElems<F>::forward),
                   DYNET_BACKWARD(cpu::ReduceElems<F>::backward), on_cuda);
}
template <bool kMean>
constexpr OpForm of_batches(const char* name, const cuda::Kernels* on_cuda) {
  return reduction(name, batches, Reads::nothing, DYNET_FORWARD(cpu::ReduceBatches<kMean>::forward),
                   DYNET_BACKWARD(cpu::ReduceBatches<kMean>::backward), on_cuda);
}

const OpForm kSumElems =
    of_elements<cpu::ElemsSum>("sum_elems", elements, Reads::nothing, &cuda::kSumElems);
const OpForm kMeanElems =
    of_elements<cpu::ElemsMean>("mean_elems", some_elements, Reads::nothing, &cuda::kMeanElems);
const OpForm kSquaredNorm = of_elements<cpu::ElemsSquaredNorm>("squared_norm", elements,
                                                               Reads::inputs, &cuda::kSquaredNorm);
const OpForm kL2Norm =
    of_elements<cpu::ElemsNorm>("l2_norm", elements, Reads::both, &cuda::kL2Norm);
const OpForm kSumBatches = of_batches<false>("sum_batches", &cuda::kSumBatches);
const OpForm kMeanBatches = of_batches<true>("mean_batches", &cuda::kMeanBatches);

Dim reduced(const Operands& x) {
  const auto& a = x.as<ReduceAttr>();
  if (a.outside) shape::need_dimension(x[0], a.outside);
  if (a.twice)
    shape::broken("dimension " + std::to_string(a.twice - 1) + " is named twice",
                  shape::Kind::argument);
  if (a.power == 0) shape::broken("the power must be at least 1, got 0", shape::Kind::argument);
  // kAllDimensions stands for the dimensions that x has.
  const Dim r = (a.dims & shape::kAllDimensions) == shape::kAllDimensions
                    ? shape::elements(x[0])
                    : shape::without(x[0], a.dims);
  if (a.divisor == 0) shape::need_elements(x[0], a.dims, "mean");
  return r;
}
// Shape of a reduced matrix; a vector is a matrix with one column.
Dim reduced_matrix(const Operands& x) {
  const auto& a = x.as<ReduceAttr>();
  if (a.divisor == 0) shape::need_elements(x[0], a.dims, "mean");
  return a.dims == 2 && x[0].nd < 2 ? x[0] : shape::without(x[0], a.dims);
}

constexpr OpForm moment(const char* name, Dim (*rule)(const Operands&), Reads reads) {
  return {.name = name,
          .shape = rule,
          .batch = BatchRule::each(sizeof(ReduceAttr)),
          .reads = reads,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::moment_forward),
          .backward = DYNET_BACKWARD(cpu::moment_backward),
          .cuda = CudaRule::by(&cuda::kMoment)};
}
constexpr OpForm deviation(const char* name) {
  return {.name = name,
          .shape = reduced,
          .batch = BatchRule::each(sizeof(ReduceAttr)),
          .reads = Reads::both,
          .aux = for_each_element<1>,
          .forward = DYNET_FORWARD(cpu::deviation_forward),
          .backward = DYNET_BACKWARD(cpu::deviation_backward),
          .cuda = CudaRule::by(&cuda::kDeviation)};
}
const OpForm kSumDim = moment("sum_dim", reduced, Reads::nothing);
const OpForm kSumRows = moment("sum_rows", reduced_matrix, Reads::nothing);
const OpForm kSumCols = moment("sum_cols", reduced_matrix, Reads::nothing);
const OpForm kMeanDim = moment("mean_dim", reduced, Reads::nothing);
const OpForm kAverageCols = moment("average_cols", reduced_matrix, Reads::nothing);
const OpForm kMomentDim = moment("moment_dim", reduced, Reads::inputs);
const OpForm kMomentElems = moment("moment_elems", reduced, Reads::inputs);
const OpForm kMomentBatches = moment("moment_batches", reduced, Reads::inputs);
const OpForm kStdDim = deviation("std_dim");
const OpForm kStdElems = deviation("std_elems");
const OpForm kStdBatches = deviation("std_batches");

unsigned dimension(const Operands& x) { return static_cast<unsigned>(x.as<AlongAttr>().dimension); }

template <bool kLargest>
constexpr OpForm extreme(const char* name) {
  return {.name = name,
          .shape =
              [](const Operands& x) {
                const unsigned d = dimension(x);
                const Dim r = shape::without(x[0], shape::bit_of(x[0], d));
                shape::need_elements(x[0], 1u << d, kLargest ? "largest" : "smallest");
                return r;
              },
          .batch = BatchRule::each(sizeof(AlongAttr)),
          .reads = Reads::nothing,
          .aux = for_each_element<1>,
          .forward = DYNET_FORWARD(cpu::ExtremeAlong<kLargest>::forward),
          .backward = DYNET_BACKWARD(cpu::ExtremeAlong<kLargest>::backward),
          .cuda = CudaRule::by(kLargest ? &cuda::kMaxAlong : &cuda::kMinAlong)};
}
const OpForm kMaxDim = extreme<true>("max_dim");
const OpForm kMinDim = extreme<false>("min_dim");

const OpForm kCumsum = {.name = "cumsum",
                        .shape =
                            [](const Operands& x) {
                              shape::bit_of(x[0], dimension(x));
                              return x[0];
                            },
                        .batch = BatchRule::each(sizeof(AlongAttr)),
                        .reads = Reads::nothing,
                        .aux = no_aux,
                        .forward = DYNET_FORWARD(cpu::cumulative_sum_forward),
                        .backward = DYNET_BACKWARD(cpu::cumulative_sum_backward),
                        .cuda = CudaRule::by(&cuda::kCumulativeSum)};

Expression apply(const OpForm& form, const Expression& x, SourceLocation at) {
  return add_node(form, x, {}, at);
}

// Reduction over `dims`, and with `batch` over the batch. A zero divisor: the number of elements.
Expression over_dims(const OpForm& form, const Expression& x, const std::vector<unsigned>& dims,
                     bool batch, unsigned power, double divisor, SourceLocation at) {
  ReduceAttr a{batch ? shape::kBatchBit : 0, power, divisor, 0, 0};
  for (unsigned d : dims) {
    if (d >= kMaxTensorDim) {
      a.outside = d;
      break;
    }
    if (a.dims >> d & 1) a.twice = d + 1;
    a.dims |= 1u << d;
  }
  return add_node(form, x, a, at);
}
Expression over(const OpForm& form, const Expression& x, shape::DimensionBits dims, unsigned power,
                double divisor, SourceLocation at) {
  return add_node(form, x, ReduceAttr{dims, power, divisor, 0, 0}, at);
}

}  // namespace

OpFamily reduction_ops() {
  static constexpr const OpForm* kAll[] = {
      &kSumElems,  &kMeanElems,  &kMomentElems, &kStdElems,      &kSquaredNorm,
      &kL2Norm,    &kSumBatches, &kMeanBatches, &kMomentBatches, &kStdBatches,
      &kSumDim,    &kSumRows,    &kSumCols,     &kMeanDim,       &kAverageCols,
      &kMomentDim, &kStdDim,     &kMaxDim,      &kMinDim,        &kCumsum};
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

Expression moment_elems(const Expression& x, unsigned r, SourceLocation at) {
  return over(kMomentElems, x, shape::kAllDimensions, r, 0, at);
}
Expression std_elems(const Expression& x, SourceLocation at) {
  return over(kStdElems, x, shape::kAllDimensions, 1, 0, at);
}
Expression moment_batches(const Expression& x, unsigned r, SourceLocation at) {
  return over(kMomentBatches, x, shape::kBatchBit, r, 0, at);
}
Expression std_batches(const Expression& x, SourceLocation at) {
  return over(kStdBatches, x, shape::kBatchBit, 1, 0, at);
}

Expression sum_dim(const Expression& x, const std::vector<unsigned>& dims, bool b,
                   SourceLocation at) {
  return over_dims(kSumDim, x, dims, b, 1, 1, at);
}
Expression sum_rows(const Expression& x, SourceLocation at) {
  return over(kSumRows, x, 1, 1, 1, at);
}
Expression sum_cols(const Expression& x, SourceLocation at) {
  return over(kSumCols, x, 2, 1, 1, at);
}
Expression mean_dim(const Expression& x, const std::vector<unsigned>& dims, bool b, unsigned n,
                    SourceLocation at) {
  return over_dims(kMeanDim, x, dims, b, 1, n, at);
}
Expression average_cols(const Expression& x, SourceLocation at) {
  return over(kAverageCols, x, 2, 1, 0, at);
}
Expression moment_dim(const Expression& x, const std::vector<unsigned>& dims, unsigned r, bool b,
                      unsigned n, SourceLocation at) {
  return over_dims(kMomentDim, x, dims, b, r, n, at);
}
Expression std_dim(const Expression& x, const std::vector<unsigned>& dims, bool b, unsigned n,
                   SourceLocation at) {
  return over_dims(kStdDim, x, dims, b, 1, n, at);
}

Expression max_dim(const Expression& x, unsigned d, SourceLocation at) {
  return add_node(kMaxDim, x, AlongAttr{d}, at);
}
Expression min_dim(const Expression& x, unsigned d, SourceLocation at) {
  return add_node(kMinDim, x, AlongAttr{d}, at);
}
Expression cumsum(const Expression& x, unsigned d, SourceLocation at) {
  return add_node(kCumsum, x, AlongAttr{d}, at);
}

}  // namespace dynet
