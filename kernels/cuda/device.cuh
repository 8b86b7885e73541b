#pragma once

// Common basis of all kernels. `cuda_runtime.h` is CUDA's, or that of the emulation.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/views.h"

// Shared memory of a block; uninitialized.
#ifdef __CUDACC__
#define DYNET_SHARED(T, name, n) __shared__ T name[n]
#endif

// Before a loop: limits unrolling, to save registers.
#ifdef __CUDACC__
#define DYNET_UNROLL(n) _Pragma(DYNET_TEXT(unroll n))
#define DYNET_TEXT(text) #text
#else
#define DYNET_UNROLL(n)
#endif

namespace dynet::cuda {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreads = 256;  // per block
constexpr unsigned kResident = 4;   // blocks per multiprocessor that registers must suffice for
constexpr unsigned kAllLanes = 0xffffffffu;

/// Kernels of blocks of up to kThreads.
#define DYNET_GLOBAL __global__ __launch_bounds__(kThreads, kResident)

/// The first thing that a kernel does: on devices of compute capability 9.0 and later it may start
/// while the one before it runs, and waits here until all that this writes is there.
inline __device__ void begin_kernel() {
#if !defined(__CUDACC__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
  cudaGridDependencySynchronize();
#endif
}

/// Index of this thread in the grid; number of threads.
inline __device__ std::size_t thread_number() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
inline __device__ std::size_t thread_count() { return std::size_t{gridDim.x} * blockDim.x; }

struct Sum {
  static __device__ float zero() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct AddDoubles {
  static __device__ double zero() { return 0; }
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct Largest {
  static __device__ float zero() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

/// Reduces v over a warp by f, for every lane; all 32 lanes must call.
template <class T, class F>
__device__ T over_warp(T v, F f) {
  for (unsigned d = kWarp / 2; d > 0; d /= 2) v = f(v, __shfl_xor_sync(kAllLanes, v, d));
  return v;
}

/// Reduces v over a block by f, for every thread; all threads must call, and the block must have
/// whole warps. The order is deterministic.
template <class T, class F>
__device__ T over_block(T v, F f) {
  DYNET_SHARED(T, part, kWarp);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  v = over_warp(v, f);
  __syncthreads();  // until an earlier call has read `part`
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / kWarp ? part[lane] : F::zero();
  return over_warp(v, f);
}

}  // namespace dynet::cuda
