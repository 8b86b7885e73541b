#include "kernels/cuda/device.cuh"
#include "kernels/cuda/indices.h"

namespace dynet::cuda {
namespace {

DYNET_GLOBAL void store_indices_kernel(const IndexList* given, std::size_t n) {
  begin_kernel();
  for (std::size_t i = blockIdx.x; i < n; i += gridDim.x)
    for (unsigned k = threadIdx.x; given[i].keep && k < given[i].count; k += blockDim.x)
      given[i].keep[k] = given[i].at[k];
}

}  // namespace

void store_indices(Queue& q, const IndexList* given, std::size_t n) {
  q.launch(Grid{static_cast<unsigned>(n)}, store_indices_kernel, given, n);
}

}  // namespace dynet::cuda
