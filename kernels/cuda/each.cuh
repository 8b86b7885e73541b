#pragma once

// Values whose elements are computed one by one: a small function object says how.

#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// Element e of tensor i becomes f(i, e), for n tensors of `size` elements.
template <class F>
void each_element(Queue& q, TensorArray<float> to, std::size_t n, std::size_t size, F f) {
  for_each(q, n, size, [=] __device__(std::size_t i, std::size_t e) { to[i][e] = f(i, e); });
}
/// The same for the values of a batch.
template <class F>
void each_value(Queue& q, const Batch<float>& b, F f) {
  each_element(q, q.outs(b), b.count, b.dim().size(), f);
}

}  // namespace dynet::cuda
