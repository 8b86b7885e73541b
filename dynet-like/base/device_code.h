#pragma once

// Marks functions that are compiled for the CPU and for devices.
#ifdef __CUDACC__
#define DYNET_DEVICE __host__ __device__
#else
#define DYNET_DEVICE
#endif
