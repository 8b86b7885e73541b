#pragma once

// Elementwise computation of values by function objects.

#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// Sets element e of tensor i to f(i, e), for n tensors of `size` elements.
template <class F>
void each_element(Queue& q, TensorArray<float> to, std::size_t n, std::size_t size, F f) {
  for_each(q, n, size, [=] __device__(std::size_t i, std::size_t e) { to[i][e] = f(i, e); });
}
/// Sets element e of the value of node i to f(i, e).
template <class F>
void each_value(Queue& q, const Batch<float>& b, F f) {
  each_element(q, q.outs(b), b.count, b.dim().size(), f);
}

}  // namespace dynet::cuda
