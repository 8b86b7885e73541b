#pragma once

// Stands in for CUDA's header: kernels compiled with it run on the CPU, one fiber for each
// thread of a block.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/cuda/emulation/lanes.h"

#define __global__
#define __device__
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

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned i) { return std::bit_cast<float>(i); }
