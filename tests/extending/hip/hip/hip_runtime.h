#pragma once

// Stands in for HIP's header: what the port in docs/extending/backend.md needs of it, on the fibers
// of the emulated device.

#define cudaGridDependencySynchronize dynet_no_part_of_hip
#include "tests/cuda/emulation/cuda_runtime.h"
#undef cudaGridDependencySynchronize

template <class T>
T __shfl(T v, int from, [[maybe_unused]] int width) {
  return __shfl_sync(0xffffffffu, v, from);
}
template <class T>
T __shfl_xor(T v, int with, [[maybe_unused]] int width) {
  return __shfl_xor_sync(0xffffffffu, v, with);
}
template <class T>
T __shfl_up(T v, unsigned by, [[maybe_unused]] int width) {
  return __shfl_up_sync(0xffffffffu, v, by);
}
