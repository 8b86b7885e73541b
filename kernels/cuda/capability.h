#pragma once

namespace dynet::cuda {

/// The oldest compute capability that kernels are compiled for, in tens and ones.
int oldest_capability();

/// Whether the kernels that a device of this capability runs wait for their predecessor, so that
/// they may be launched early: see begin_kernel.
bool kernels_wait(int capability);

}  // namespace dynet::cuda
