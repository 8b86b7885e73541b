#pragma once

#include <span>
#include <vector>

#include "dynet-like/graph/op.h"

namespace dynet {

/// The operation forms of each family, and of all families.
std::span<const OpForm* const> input_ops();
std::span<const OpForm* const> elementwise_ops();
std::span<const OpForm* const> broadcast_ops();
std::span<const OpForm* const> matrix_ops();
std::span<const OpForm* const> reduction_ops();
std::span<const OpForm* const> softmax_ops();
std::span<const OpForm* const> loss_ops();
std::span<const OpForm* const> crf_ops();
std::span<const OpForm* const> span_tree_ops();
std::span<const OpForm* const> dependency_tree_ops();
std::span<const OpForm* const> ctc_ops();
std::span<const OpForm* const> semi_crf_ops();
std::span<const OpForm* const> attention_ops();
std::span<const OpForm* const> selection_ops();
std::span<const OpForm* const> noise_ops();
std::span<const OpForm* const> recurrent_ops();
std::span<const OpForm* const> flow_ops();
std::span<const OpForm* const> convolution_ops();
std::span<const OpForm* const> linear_algebra_ops();
std::span<const OpForm* const> normalization_ops();
std::vector<const OpForm*> all_ops();

}  // namespace dynet
