#pragma once

#include "dynet-like/graph/op.h"

namespace dynet {

/// Run a sum of products with factors rounded to bf16, by the instructions of a CPU that has some;
/// false, and nothing is done, for other operations and CPUs. `packed` is for one pass, in which
/// parameters stay as they are.
bool forward_in_bf16(const OpForm& form, const Batch<float>& b);
bool backward_in_bf16(const OpForm& form, const GradientBatch<float>& b);

}  // namespace dynet
