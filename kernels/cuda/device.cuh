#pragma once

// Basis of all kernels. `cuda_runtime.h` is CUDA's, or that of a stand-in for a
// device.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/views.h"

// Memory that the threads of a block share; what it holds at first is undefined.
#ifdef __CUDACC__
#define DYNET_SHARED(T, name, n) __shared__ T name[n]
#endif

// In front of a loop: how often its body is written out at most. More takes registers.
#ifdef __CUDACC__
#define DYNET_UNROLL(n) _Pragma(DYNET_TEXT(unroll n))
#define DYNET_TEXT(text) #text
#else
#define DYNET_UNROLL(n)
#endif

namespace dynet::cuda {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreads = 256;  // of a block
constexpr unsigned kResident = 4;   // blocks that registers are left for on a multiprocessor
constexpr unsigned kAllLanes = 0xffffffffu;

/// The first thing that a kernel does: on devices of compute capability 9.0 and later it may start
/// while the one before it runs, and waits here until all that this writes is there.
inline __device__ void begin_kernel() {
#if !defined(__CUDACC__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
  cudaGridDependencySynchronize();
#endif
}

/// The number of this thread in the grid, and how many there are.
inline __device__ std::size_t thread_number() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
inline __device__ std::size_t thread_count() { return std::size_t{gridDim.x} * blockDim.x; }

struct Sum {
  static __device__ float zero() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  static __device__ float zero() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

/// f over the values of a warp, in every lane; all 32 must call.
template <class T, class F>
__device__ T over_warp(T v, F f) {
  for (unsigned d = kWarp / 2; d > 0; d /= 2) v = f(v, __shfl_xor_sync(kAllLanes, v, d));
  return v;
}

/// f over the values of all threads of a block, in every thread; all must call, and the block has
/// whole warps. The order is always the same.
template <class T, class F>
__device__ T over_block(T v, F f) {
  DYNET_SHARED(T, part, kWarp);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  v = over_warp(v, f);
  __syncthreads();  // an earlier call may still be reading
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / kWarp ? part[lane] : F::zero();
  return over_warp(v, f);
}

}  // namespace dynet::cuda
