#pragma once

// Chains and trees, which kernels sum over: a block for each batch element of each node.

#include <vector>

#include "kernels/cuda/loops.cuh"
#include "kernels/cuda/scores.cuh"

namespace dynet::cuda {

/// Memory of a batch element; `d_out` is null in the forward pass.
struct ElementMemory {
  float *aux, *out;
  const float* d_out;
};

/// The batch elements of all nodes, node after node, on the host and on the device.
template <class S>
struct Structures {
  S* staged;
  const S* all;
  std::size_t count = 0, batch;

  /// make(node, element, memory) gives each.
  template <class Make>
  Structures(Queue& q, const Batch<float>& b, const float* const* d_outs, Make make)
      : staged(q.stage<S>(b.count * b.dim(0).bd)), batch(b.dim(0).bd) {
    for (std::size_t i = 0; i < b.count; ++i) {
      const std::size_t result = b.node(i).dim.batch_size();
      const std::size_t scratch = b.node(i).form->aux(b.graph, b.node(i)) / batch;
      for (std::size_t e = 0; e < batch; ++e)
        staged[count++] = make(i, e,
                               ElementMemory{b.aux(i) + e * scratch, b.out(i) + e * result,
                                             d_outs ? d_outs[i] + e * result : nullptr});
    }
    all = q.on_device(staged);
  }
  Grid blocks(unsigned threads) const { return Grid{static_cast<unsigned>(count), threads}; }
};

/// The largest of n scores of a block's structure, for every thread; all must call.
inline __device__ float largest_of(const float* scores, std::size_t n) {
  float m = -INFINITY;
  for (std::size_t k = threadIdx.x; k < n; k += blockDim.x) m = Largest()(m, scores[k]);
  return shift(over_block(m, Largest()));
}

// The largest transition of each group of a structure: it is subtracted first, so that large ones
// leave the digits of sums.
template <class S>
DYNET_GLOBAL void largest_transitions_kernel(const S* all) {
  begin_kernel();
  const S s = all[blockIdx.x];
  for (unsigned k = 0; k < s.matrices(); ++k) {
    const std::size_t size = s.matrix_size();
    const float m = largest_of(s.transitions + k * size, size);
    if (threadIdx.x == 0) s.largest[k] = m;
  }
}
/// Computes `largest` of all structures, for the operation.
template <class S>
void find_largest_transitions(Queue& q, const Structures<S>& s) {
  std::size_t total = 0;
  for (std::size_t k = 0; k < s.count; ++k) total += s.staged[k].matrices();
  float* to = q.temporary(total);
  for (std::size_t k = 0; k < s.count; ++k) {
    s.staged[k].largest = to;
    to += s.staged[k].matrices();
  }
  q.launch(s.blocks(kThreads), largest_transitions_kernel<S>, s.all);
}

/// Log-partitions of all elements, computed by kernel(structures, log_z).
template <class S>
double* log_partitions(Queue& q, const Structures<S>& s, const Grid& grid,
                       void (*kernel)(const S*, double*)) {
  auto* const log_z = reinterpret_cast<double*>(q.temporary(2 * s.count));
  q.launch(grid, kernel, s.all, log_z);
  return log_z;
}

template <class S>
DYNET_GLOBAL void store_log_z_kernel(const S* all, const double* log_z, std::size_t count) {
  begin_kernel();
  if (const std::size_t k = thread_number(); k < count) *all[k].out = static_cast<float>(log_z[k]);
}
template <class S>
void store_log_z(Queue& q, const Structures<S>& s, const double* log_z) {
  q.launch_for(s.count, store_log_z_kernel<S>, s.all, log_z, s.count);
}

/// Gradients of operand 0: term(structure's number, element of it), those of each size at once.
template <class F>
void gradients_by_size(Queue& q, const GradientBatch<float>& b, F term) {
  std::vector<bool> done(b.count, false);
  std::vector<float*> to;
  std::vector<Write> writes;
  const std::size_t batch = b.dim(0).bd;
  for (std::size_t first = 0; first < b.count; ++first) {
    if (done[first]) continue;
    const std::size_t size = b.dim(0, first).batch_size();
    auto* const nodes = q.stage<std::uint32_t>(b.count);
    to.clear();
    writes.clear();
    for (std::size_t i = first; i < b.count; ++i) {
      if (b.dim(0, i).batch_size() != size) continue;
      nodes[to.size()] = static_cast<std::uint32_t>(i);
      to.push_back(b.d_in(0, i));
      writes.push_back(b.write(0, i));
      done[i] = true;
    }
    const std::uint32_t* const number = q.on_device(nodes);
    each_gradient(q, q.targets(to.data(), writes.data(), to.size(), size * batch), size * batch,
                  [=] __device__(std::uint32_t node, std::size_t e) {
                    const Quotient at = divide(e, size);
                    return term(number[node] * batch + at.by, at.rest);
                  });
  }
}

/// Gradients of operands 1 to 3, which batch elements share: term(structure's number, operand,
/// element).
template <class F>
void shared_gradients(Queue& q, const GradientBatch<float>& b, F term) {
  for (unsigned k = 1; k < 4; ++k)
    each_gradient(
        q, b, k,
        [=, batch = std::size_t{b.dim(0).bd}] __device__(std::uint32_t node, std::size_t e) {
          float sum = 0;
          for (std::size_t element = 0; element < batch; ++element)
            sum += term(node * batch + element, k, e);
          return sum;
        });
}

/// Term of the entropy for a choice of probability p that is made with probability `weight`.
inline __device__ double surprise(float weight, float p) {
  return p == 0
             ? 0.0
             : -static_cast<double>(weight) * static_cast<double>(p) * log(static_cast<double>(p));
}
/// An entropy from a sum with rounding errors; NaN stays.
inline __device__ float entropy_of(double sum) { return sum < 0 ? 0 : static_cast<float>(sum); }

}  // namespace dynet::cuda
