#include "kernels/cuda/copy.h"
#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {
namespace {

struct Copied {
  TensorArray<const float> from;
  __device__ float operator()(std::uint32_t node, std::size_t e, std::size_t = 0) const {
    return from[node][e];
  }
};

DYNET_GLOBAL void fill_kernel(float* to, std::size_t n, float value, bool add) {
  begin_kernel();
  for (std::size_t k = thread_number(); k < n; k += thread_count())
    to[k] = add ? to[k] + value : value;
}

}  // namespace

void add_parts(Queue& q, const GradientTargets& p, std::size_t size) {
  sum_targets(q, p.then, p.most_sums, size, 1, true, Copied{p.sums});
}

void copy_tensors(Queue& q, std::size_t n, std::size_t size, const float* const* from,
                  float* const* to, const Write* writes) {
  const GradientTargets p = q.targets(to, writes, n, size);
  if (p.first.count > 0) each_gradient(q, p, size, Copied{q.many(from, n, size)});
}

void fill_numbers(Queue& q, float* to, std::size_t n, float value, bool add) {
  q.launch_for(n, fill_kernel, to, n, value, add);
}

}  // namespace dynet::cuda
