#pragma once

namespace dynet::cuda {

/// Kernels are compiled for devices of this compute capability and later ones, in tens and ones.
int oldest_capability();

}  // namespace dynet::cuda
