#pragma once

#include "dynet-like/graph/op.h"

namespace dynet::cpu {

/// Operands: values, gain, bias.
struct LayerNormAttr {
  double epsilon;
};
template <class T>
void layer_norm_forward(const Batch<T>& b);
template <class T>
void layer_norm_backward(const GradientBatch<T>& b);
/// For each batch element its mean and the inverse of its deviation.
std::size_t layer_norm_aux(const GraphStore& graph, const Node& n);

}  // namespace dynet::cpu
