#pragma once

// Operands by batch element of the result.

#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// A node's operand, or its gradient; an operand without a batch is repeated.
struct Elements {
  TensorArray<const float> all;
  std::size_t step;

  /// Values of node i for a batch element of the result.
  DYNET_DEVICE const float* at(std::size_t i, std::size_t element) const {
    return all[i] + element * step;
  }
};

/// View of operand k.
inline Elements elements(Queue& q, const Batch<float>& b, std::size_t k) {
  const TensorArray<float> all = q.spaced(b.ins + k * b.count, b.count);
  return {{all.first, all.step, all.each}, b.dim(k).bd == 1 ? 0 : b.dim(k).batch_size()};
}

/// Gradients of operand k, stored in `p`: the sum of term(node, batch element of the result,
/// element index in the batch element of the operand) over the batch elements that use it.
template <class T>
void batch_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k,
                    const GradientTargets& p, std::size_t batch, T term) {
  const Dim& d = b.dim(k);
  const std::size_t n = d.batch_size();
  const bool one = d.bd == 1;
  sum_gradients(q, p, d.size(), one ? batch : 1, true,
                [=] __device__(std::uint32_t node, std::size_t e, std::size_t r) {
                  const Quotient at = divide(e, n);
                  return term(node, one ? r : at.by, at.rest);
                });
}
template <class T>
void batch_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k, std::size_t batch,
                    T term) {
  batch_gradient(q, b, k, q.targets(b, k), batch, term);
}

}  // namespace dynet::cuda
