#pragma once

#include <cstddef>

#include "kernels/cuda/driver.h"

namespace dynet::emulation {

/// Checks for calls that CUDA or cuBLAS refuses, or that crash on a device. All throw
/// std::logic_error: the mistake is the library's, whatever the user does.

/// A grid has at most 2^31 - 1 blocks of 32 to 1024 threads in whole warps, and 48 KiB of shared
/// memory; a kernel has at most 4096 bytes of arguments.
void check_launch(const cuda::Grid& grid, const cuda::Arguments& arguments);
/// cuBLAS's rules for sizes, leading dimensions and distances. Matrices lie on device `number`.
void check_product(const cuda::Product& product, int number);
/// The same for the factors of matrices.
void check_factorization(const cuda::Factorization& factorization, int number);
/// Words that are addresses of the host, which a device cannot follow. Memory that was mapped since
/// the last look, which is once in a thousand calls, is not known.
void check_no_host_pointers(const char* what, const void* from, std::size_t bytes);
void look_at_host_memory();

}  // namespace dynet::emulation
