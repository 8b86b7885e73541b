#include "dynet-like/ops/convolution.h"

#include "dynet-like/graph/check.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/shape/convolution_rules.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

const OpForm kConv2d{.name = "conv2d",
                     .shape =
                         [](const Operands& x) {
                           const auto& a = x.as<ConvolutionAttr>();
                           return shape::conv2d(x.dims, a.stride, a.valid != 0);
                         },
                     .batch = BatchRule::each(sizeof(ConvolutionAttr)),
                     .reads = Reads::inputs,
                     .aux = no_aux,
                     .forward = DYNET_FORWARD(cpu::conv2d_forward),
                     .backward = DYNET_BACKWARD(cpu::conv2d_backward),
                     .cuda = CudaRule::by(&cuda::kConv2d)};

const OpForm kMaxPooling{.name = "maxpooling2d",
                         .shape =
                             [](const Operands& x) {
                               const auto& a = x.as<MaxPoolingAttr>();
                               return shape::maxpooling2d(x[0], a.size, a.stride, a.valid != 0);
                             },
                         .batch = BatchRule::each(sizeof(MaxPoolingAttr)),
                         .reads = Reads::nothing,
                         .aux = for_each_element<1>,
                         .forward = DYNET_FORWARD(cpu::maxpooling2d_forward),
                         .backward = DYNET_BACKWARD(cpu::maxpooling2d_backward),
                         .cuda = CudaRule::by(&cuda::kMaxPooling2d)};

struct KmaxWithK {
  KmaxAttr kernel;
  std::uint64_t k;
};

const OpForm kKmax{.name = "kmax_pooling",
                   .shape =
                       [](const Operands& x) {
                         const auto& a = x.as<KmaxWithK>();
                         return shape::kmax_pooling(x[0], static_cast<unsigned>(a.k),
                                                    static_cast<unsigned>(a.kernel.dimension));
                       },
                   .batch = BatchRule::each(sizeof(KmaxWithK)),
                   .reads = Reads::nothing,
                   .aux = for_each_element<1>,
                   .forward = DYNET_FORWARD(cpu::kmax_forward),
                   .backward = DYNET_BACKWARD(cpu::kmax_backward),
                   .cuda = CudaRule::by(&cuda::kKmaxPooling)};

void two_numbers(const char* op, const char* what, const std::vector<unsigned>& v,
                 const Expression& x, SourceLocation at) {
  check_operands(
      op, {x},
      [&](shape::Dims xs) {
        if (v.size() != 2)
          throw RuleBroken{RuleBroken::Kind::argument,
                           std::string("needs two ") + what + ", got " + std::to_string(v.size())};
        return *xs[0];
      },
      at);
}

Expression convolve(std::span<const Expression> operands, const std::vector<unsigned>& stride,
                    bool is_valid, SourceLocation at) {
  two_numbers("conv2d", "strides", stride, operands[0], at);
  return add_node(kConv2d, operands, ConvolutionAttr{{stride[0], stride[1]}, is_valid}, at);
}

}  // namespace

OpFamily convolution_ops() {
  static constexpr const OpForm* kAll[] = {&kConv2d, &kMaxPooling, &kKmax};
  return kAll;
}

Expression conv2d(const Expression& x, const Expression& f, const std::vector<unsigned>& stride,
                  bool is_valid, SourceLocation at) {
  const Expression operands[] = {x, f};
  return convolve(operands, stride, is_valid, at);
}
Expression conv2d(const Expression& x, const Expression& f, const Expression& b,
                  const std::vector<unsigned>& stride, bool is_valid, SourceLocation at) {
  const Expression operands[] = {x, f, b};
  return convolve(operands, stride, is_valid, at);
}

Expression maxpooling2d(const Expression& x, const std::vector<unsigned>& ksize,
                        const std::vector<unsigned>& stride, bool is_valid, SourceLocation at) {
  two_numbers("maxpooling2d", "sizes of the window", ksize, x, at);
  two_numbers("maxpooling2d", "strides", stride, x, at);
  return add_node(kMaxPooling, x,
                  MaxPoolingAttr{{ksize[0], ksize[1]}, {stride[0], stride[1]}, is_valid}, at);
}

// The matrix is an image with one channel; filters have its full height, so only columns slide.
Expression filter1d_narrow(const Expression& x, const Expression& f, SourceLocation at) {
  const Dim y = check_operands(
      "filter1d_narrow", {x, f},
      [](shape::Dims xs) { return shape::filter1d_narrow(*xs[0], *xs[1]); }, at);
  const Dim w = f.dim(at).single_batch();
  const Expression filters = reshape(f, Dim({w[0], w[1], 1, w[2]}), at);
  const Expression by_place = conv2d(x, filters, {1, 1}, true, at);
  return transpose(reshape(by_place, Dim({y[1], y[0]}), at), at);
}

Expression kmax_pooling(const Expression& x, unsigned k, unsigned d, SourceLocation at) {
  return add_node(kKmax, x, KmaxWithK{{d}, k}, at);
}

Expression fold_rows(const Expression& x, unsigned nrows, SourceLocation at) {
  Dim groups = check_operands(
      "fold_rows", {x}, [&](shape::Dims xs) { return shape::fold_rows(*xs[0], nrows); }, at);
  groups.insert_dim(0, nrows);
  return sum_dim(reshape(x, groups, at), {0}, false, at);
}

Expression kmh_ngram(const Expression& x, unsigned n, SourceLocation at) {
  const unsigned columns =
      check_operands(
          "kmh_ngram", {x}, [&](shape::Dims xs) { return shape::kmh_ngram(*xs[0], n); }, at)
          .cols();
  const Dim d = x.dim(at);
  const Expression matrix =
      d.nd > 1 ? x : reshape(x, Dim({d.rows(), 1}), at);  // a vector is a matrix with one column
  std::vector<Expression> neighbours;
  for (unsigned a = 0; a < n; ++a) neighbours.push_back(pick_range(matrix, a, a + columns, 1, at));
  return sum(neighbours, at);
}

}  // namespace dynet
