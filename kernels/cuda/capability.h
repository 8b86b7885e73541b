#pragma once

namespace dynet::cuda {

/// Kernels are compiled for devices of this compute capability and later ones, in tens and ones.
int oldest_capability();

/// Whether the kernels that a device of this capability runs wait for the one before by themselves,
/// so that they may be started early: see begin_kernel.
bool kernels_wait(int capability);

}  // namespace dynet::cuda
