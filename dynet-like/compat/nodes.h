#pragma once

// DyNet's node classes as names of operations, for `cg.add_function<Tanh>({x.i})`. They cannot be
// derived from, see own_nodes.h.

#include <utility>
#include <vector>

#include "dynet-like/compat/core.h"

namespace dynet {

namespace detail {

/// lambda elu(x, alpha)
inline Expression exponential_unit(const Expression& x, float lambda = 1, float alpha = 1) {
  return lambda == 1 ? elu(x, alpha) : elu(x, alpha) * lambda;
}

}  // namespace detail

// `CALL` uses the graph g, the operands x and the further constructor arguments `side`.
#define DYNET_COMPAT_NODE(NAME, CALL)                                          \
  struct NAME {                                                                \
    using StandsForOperation = void;                                           \
    template <class... Side>                                                   \
    static Expression apply([[maybe_unused]] ComputationGraph& g,              \
                            [[maybe_unused]] const std::vector<Expression>& x, \
                            [[maybe_unused]] Side&&... side) {                 \
      return CALL;                                                             \
    }                                                                          \
  };
#define DYNET_COMPAT_UNARY(NAME, FUNCTION) \
  DYNET_COMPAT_NODE(NAME, FUNCTION(x.at(0), std::forward<Side>(side)...))
#define DYNET_COMPAT_BINARY(NAME, FUNCTION) \
  DYNET_COMPAT_NODE(NAME, FUNCTION(x.at(0), x.at(1), std::forward<Side>(side)...))
#define DYNET_COMPAT_MANY(NAME, FUNCTION) \
  DYNET_COMPAT_NODE(NAME, FUNCTION(x, std::forward<Side>(side)...))
#define DYNET_COMPAT_INPUT(NAME, FUNCTION) \
  DYNET_COMPAT_NODE(NAME, FUNCTION(g, std::forward<Side>(side)...))

DYNET_COMPAT_UNARY(Abs, abs)
DYNET_COMPAT_UNARY(Acos, acos)
DYNET_COMPAT_UNARY(Acosh, acosh)
DYNET_COMPAT_UNARY(Asin, asin)
DYNET_COMPAT_UNARY(Asinh, asinh)
DYNET_COMPAT_UNARY(Atan, atan)
DYNET_COMPAT_UNARY(Atanh, atanh)
DYNET_COMPAT_UNARY(Cos, cos)
DYNET_COMPAT_UNARY(Cosh, cosh)
DYNET_COMPAT_UNARY(Cube, cube)
DYNET_COMPAT_UNARY(Erf, erf)
DYNET_COMPAT_UNARY(Exp, exp)
DYNET_COMPAT_UNARY(Log, log)
DYNET_COMPAT_UNARY(LogGamma, lgamma)
DYNET_COMPAT_UNARY(Sin, sin)
DYNET_COMPAT_UNARY(Sinh, sinh)
DYNET_COMPAT_UNARY(Sqrt, sqrt)
DYNET_COMPAT_UNARY(Square, square)
DYNET_COMPAT_UNARY(Tan, tan)
DYNET_COMPAT_UNARY(Tanh, tanh)
DYNET_COMPAT_UNARY(LogisticSigmoid, logistic)
DYNET_COMPAT_UNARY(LogSigmoid, log_sigmoid)
DYNET_COMPAT_UNARY(Rectify, rectify)
DYNET_COMPAT_UNARY(SoftSign, softsign)
DYNET_COMPAT_UNARY(SigmoidLinearUnit, silu)
DYNET_COMPAT_UNARY(ScaleGradient, scale_gradient)
DYNET_COMPAT_UNARY(NoBackprop, nobackprop)
DYNET_COMPAT_UNARY(SumElements, sum_elems)
DYNET_COMPAT_UNARY(SumDimension, sum_dim)
DYNET_COMPAT_UNARY(MomentElements, moment_elems)
DYNET_COMPAT_UNARY(MomentDimension, moment_dim)
DYNET_COMPAT_UNARY(MomentBatches, moment_batches)
DYNET_COMPAT_UNARY(StdElements, std_elems)
DYNET_COMPAT_UNARY(StdDimension, std_dim)
DYNET_COMPAT_UNARY(StdBatches, std_batches)
DYNET_COMPAT_UNARY(CumulativeSum, cumsum)
DYNET_COMPAT_UNARY(LogSumExpDimension, logsumexp_dim)
DYNET_COMPAT_UNARY(MaxDimension, max_dim)
DYNET_COMPAT_UNARY(MinDimension, min_dim)
DYNET_COMPAT_UNARY(Softmax, softmax)
DYNET_COMPAT_UNARY(LogSoftmax, log_softmax)
DYNET_COMPAT_UNARY(RestrictedLogSoftmax, log_softmax)
DYNET_COMPAT_UNARY(Sparsemax, sparsemax)
DYNET_COMPAT_UNARY(SparsemaxLoss, sparsemax_loss)
DYNET_COMPAT_UNARY(PickNegLogSoftmax, pickneglogsoftmax)
DYNET_COMPAT_UNARY(Hinge, hinge)
DYNET_COMPAT_UNARY(HingeDim, hinge_dim)
DYNET_COMPAT_UNARY(SquaredNorm, squared_norm)
DYNET_COMPAT_UNARY(L2Norm, l2_norm)
DYNET_COMPAT_UNARY(PoissonRegressionLoss, poisson_loss)
DYNET_COMPAT_UNARY(Reshape, reshape)
DYNET_COMPAT_UNARY(Transpose, transpose)
DYNET_COMPAT_UNARY(SelectRows, select_rows)
DYNET_COMPAT_UNARY(SelectCols, select_cols)
DYNET_COMPAT_UNARY(PickElement, pick)
DYNET_COMPAT_UNARY(PickRange, pick_range)
DYNET_COMPAT_UNARY(PickBatchElements, pick_batch_elems)
DYNET_COMPAT_UNARY(StridedSelect, strided_select)
DYNET_COMPAT_UNARY(GaussianNoise, noise)
DYNET_COMPAT_UNARY(Dropout, dropout)
DYNET_COMPAT_UNARY(DropoutDim, dropout_dim)
DYNET_COMPAT_UNARY(DropoutBatch, dropout_batch)
DYNET_COMPAT_UNARY(BlockDropout, block_dropout)
DYNET_COMPAT_UNARY(FoldRows, fold_rows)
DYNET_COMPAT_UNARY(KMaxPooling, kmax_pooling)
DYNET_COMPAT_UNARY(KMHNGram, kmh_ngram)
DYNET_COMPAT_UNARY(MaxPooling2D, maxpooling2d)
DYNET_COMPAT_UNARY(MatrixInverse, inverse)
DYNET_COMPAT_UNARY(LogDet, logdet)
DYNET_COMPAT_UNARY(Round, round)
DYNET_COMPAT_UNARY(Ceil, ceil)
DYNET_COMPAT_UNARY(Floor, floor)
DYNET_COMPAT_UNARY(ToDevice, to_device)
DYNET_COMPAT_UNARY(Argmax, argmax)
DYNET_COMPAT_BINARY(CwiseMultiply, cmult)
DYNET_COMPAT_BINARY(CwiseQuotient, cdiv)
DYNET_COMPAT_BINARY(Pow, pow)
DYNET_COMPAT_BINARY(Max, max)
DYNET_COMPAT_BINARY(Min, min)
DYNET_COMPAT_BINARY(ConstrainedSoftmax, constrained_softmax)
DYNET_COMPAT_BINARY(SquaredEuclideanDistance, squared_distance)
DYNET_COMPAT_BINARY(L1Distance, l1_distance)
DYNET_COMPAT_BINARY(HuberDistance, huber_distance)
DYNET_COMPAT_BINARY(BinaryLogLoss, binary_log_loss)
DYNET_COMPAT_BINARY(PairwiseRankLoss, pairwise_rank_loss)
DYNET_COMPAT_BINARY(Filter1DNarrow, filter1d_narrow)
DYNET_COMPAT_BINARY(DotProduct, dot_product)
DYNET_COMPAT_BINARY(TraceOfProduct, trace_of_product)
DYNET_COMPAT_BINARY(AddVectorToAllColumns, colwise_add)
DYNET_COMPAT_BINARY(WeightNormalization, weight_norm)
DYNET_COMPAT_BINARY(CircularConvolution, circ_conv)
DYNET_COMPAT_BINARY(CircularCorrelation, circ_corr)
DYNET_COMPAT_BINARY(VanillaLSTMC, vanilla_lstm_c)
DYNET_COMPAT_BINARY(VanillaLSTMH, vanilla_lstm_h)
DYNET_COMPAT_MANY(Sum, sum)
DYNET_COMPAT_MANY(Average, average)
DYNET_COMPAT_MANY(LogSumExp, logsumexp)
DYNET_COMPAT_MANY(Concatenate, concatenate)
DYNET_COMPAT_MANY(ConcatenateToBatch, concatenate_to_batch)
DYNET_COMPAT_MANY(AffineTransform, affine_transform)
DYNET_COMPAT_INPUT(Constant, constant)
DYNET_COMPAT_INPUT(RandomNormal, random_normal)
DYNET_COMPAT_INPUT(RandomBernoulli, random_bernoulli)
DYNET_COMPAT_INPUT(RandomUniform, random_uniform)
DYNET_COMPAT_INPUT(RandomGumbel, random_gumbel)
DYNET_COMPAT_NODE(Identity, x.at(0))
DYNET_COMPAT_NODE(Negate, -x.at(0))
DYNET_COMPAT_NODE(ConstantPlusX, (x.at(0) + ... + side))
DYNET_COMPAT_NODE(ConstantMinusX, (side - ... - x.at(0)))
DYNET_COMPAT_NODE(ConstScalarMultiply, (x.at(0) * ... * side))
DYNET_COMPAT_NODE(MatrixMultiply, x.at(0) * x.at(1))
DYNET_COMPAT_NODE(CwiseSum, x.at(0) + x.at(1))
// Nodes whose arguments or operands differ in order or number from the function's.
DYNET_COMPAT_NODE(ExponentialLinearUnit, detail::exponential_unit(x.at(0), side...))
DYNET_COMPAT_NODE(Conv2D, x.size() > 2 ? conv2d(x[0], x[1], x[2], side...)
                                       : conv2d(x.at(0), x.at(1), side...))
DYNET_COMPAT_NODE(InnerProduct3D_1D,
                  x.size() > 2 ? contract3d_1d(x[0], x[1], x[2]) : contract3d_1d(x.at(0), x.at(1)))
DYNET_COMPAT_NODE(InnerProduct3D_1D_1D, x.size() > 3 ? contract3d_1d_1d(x[0], x[1], x[2], x[3])
                                                     : contract3d_1d_1d(x.at(0), x.at(1), x.at(2)))

#undef DYNET_COMPAT_NODE
#undef DYNET_COMPAT_UNARY
#undef DYNET_COMPAT_BINARY
#undef DYNET_COMPAT_MANY
#undef DYNET_COMPAT_INPUT

}  // namespace dynet
