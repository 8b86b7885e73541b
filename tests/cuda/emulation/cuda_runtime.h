#pragma once

// Stands in for CUDA's header: kernels compiled with it run on the CPU, one fiber for each
// thread of a block.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/cuda/emulation/lanes.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__

#define threadIdx (::dynet::emulation::here().thread)
#define blockIdx (::dynet::emulation::here().block)
#define blockDim (::dynet::emulation::here().block_size)
#define gridDim (::dynet::emulation::here().grid_size)

#define DYNET_SHARED(T, name, n)      \
  static const char name##_place = 0; \
  T* const name = static_cast<T*>(::dynet::emulation::shared(&name##_place, sizeof(T) * (n)))

inline void cudaGridDependencySynchronize() { ::dynet::emulation::wait_for_kernel_before(); }
inline void __syncthreads(std::source_location barrier = std::source_location::current()) {
  ::dynet::emulation::meet_block(barrier);
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { ::dynet::emulation::meet_warp(mask, 0, 0); }

template <class T>
T dynet_shuffle(unsigned mask, T v, unsigned from) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  bits = ::dynet::emulation::meet_warp(mask, bits, from);
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
inline unsigned dynet_lane() { return threadIdx.x % 32; }
template <class T>
T __shfl_sync(unsigned mask, T v, int from) {
  return dynet_shuffle(mask, v, static_cast<unsigned>(from) % 32);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int with) {
  return dynet_shuffle(mask, v, dynet_lane() ^ static_cast<unsigned>(with));
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned by) {
  return dynet_shuffle(mask, v, dynet_lane() + by < 32 ? dynet_lane() + by : dynet_lane());
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned by) {
  return dynet_shuffle(mask, v, dynet_lane() >= by ? dynet_lane() - by : dynet_lane());
}

template <class T>
T atomicAdd(T* p, T v) {
  ::dynet::emulation::pause();
  const T old = *p;
  *p = old + v;
  return old;
}
template <class T>
T atomicMax(T* p, T v) {
  ::dynet::emulation::pause();
  const T old = *p;
  *p = std::max(old, v);
  return old;
}

template <class T>
T __ldg(const T* p) {
  return *p;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline int __float_as_int(float x) {
  int i;
  std::memcpy(&i, &x, sizeof i);
  return i;
}
inline float __int_as_float(int i) {
  float x;
  std::memcpy(&x, &i, sizeof x);
  return x;
}
inline unsigned __float_as_uint(float x) { return static_cast<unsigned>(__float_as_int(x)); }
inline float __uint_as_float(unsigned i) { return __int_as_float(static_cast<int>(i)); }
