#pragma once

#include "dynet-like/attributes/elementwise.h"
#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/graph/op.h"

// CUDA kernels of forms. A library without CUDA does not define them; their addresses are null
// then. tests/cuda checks that a library with CUDA defines all of them.

namespace dynet::cuda {

class Queue;

/// The kernels of an operation: host functions that add commands to a queue. Pointers to values and
/// gradients in a batch are device addresses.
struct Kernels {
  void (*forward)(Queue&, const Batch<float>&);           ///< computes values
  void (*backward)(Queue&, const GradientBatch<float>&);  ///< computes gradients of operands
};

// clang-format off
// attention
DYNET_CUDA_PART const Kernels kAttention;
// broadcast
DYNET_CUDA_PART const Kernels
    kSum, kSubtract, kDivide, kMultiply, kPower, kMax, kMin, kLogSumExp;
// convolution
DYNET_CUDA_PART const Kernels kConv2d, kMaxPooling2d, kKmaxPooling;
// crf
DYNET_CUDA_PART const Kernels kCrfLogPartition, kCrfLogProb, kCrfMarginals, kCrfEntropy;
// span trees
DYNET_CUDA_PART const Kernels kSpanLogPartition, kSpanLogProb, kSpanMarginals, kSpanEntropy;
// dependency_trees
DYNET_CUDA_PART const Kernels kDependencyLogPartition, kDependencyLogProb, kDependencyMarginals,
    kDependencyEntropy;
// ctc
DYNET_CUDA_PART const Kernels kCtcLoss, kCtcAlignment, kCtcEntropy;
// elementwise
#define DYNET_DECLARE(F) DYNET_CUDA_PART const Kernels k##F;
DYNET_ELEMENTWISE_FUNCTIONS(DYNET_DECLARE)
#undef DYNET_DECLARE
// flow
DYNET_CUDA_PART const Kernels kScaleGradient, kArgmax, kAlias;
// inputs
DYNET_CUDA_PART const Kernels kInput, kSparseInput, kOneHot, kConstant;
// linear_algebra
DYNET_CUDA_PART const Kernels kInverse, kLogdet, kCircConv, kCircCorr;
// losses
DYNET_CUDA_PART const Kernels kHinge, kHingeDim, kPoisson, kSparsemaxLoss;
// matrix
DYNET_CUDA_PART const Kernels
    kAffine, kLinearCrossEntropy, kDotProduct, kSquaredDistance, kBinaryLogLoss;
// noise
DYNET_CUDA_PART const Kernels
    kDropout, kSharedDropout, kNoise, kRandomNormal, kRandomBernoulli, kRandomUniform,
    kRandomGumbel;
// normalization
DYNET_CUDA_PART const Kernels kLayerNorm;
// recurrent
DYNET_CUDA_PART const Kernels
    kLstmActivate, kLstmCell, kLstmStep, kLstmSequence, kGated, kCoupledUpdate;
// reductions
DYNET_CUDA_PART const Kernels
    kSumElems, kMeanElems, kSquaredNorm, kL2Norm, kSumBatches, kMeanBatches, kMoment, kDeviation,
    kMaxAlong, kMinAlong, kCumulativeSum;
// selection
DYNET_CUDA_PART const Kernels
    kPick, kPickBatch, kPickRange, kSelect, kStridedSelect, kTranspose, kConcatenate,
    kConcatenateBatch;
// semi_crf
DYNET_CUDA_PART const Kernels
    kSemiCrfLogPartition, kSemiCrfLogProb, kSemiCrfMarginals, kSemiCrfEntropy;
// softmax
DYNET_CUDA_PART const Kernels
    kSoftmax, kLogSoftmax, kLogSumExpAlong, kSparsemax, kConstrainedSoftmax, kClassLoss;
// clang-format on

}  // namespace dynet::cuda
