#pragma once

#include "dynet-like/base/device.h"
#include "dynet-like/base/packed_matrices.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Run kernels of the CPU with factors of products rounded as `precision` says, what GPUs do inside
/// theirs. Sums and all else are floats. Of an operation with factors (BatchRule::is_factor) only.
/// `packed` is for one pass, in which parameters stay as they are.
void forward_rounded(const OpForm& form, const Batch<float>& b, Precision precision,
                     PackedMatrices& packed);
void backward_rounded(const OpForm& form, const GradientBatch<float>& b, Precision precision,
                      PackedMatrices& packed);

}  // namespace dynet
