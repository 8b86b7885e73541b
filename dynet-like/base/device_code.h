#pragma once

// For functions that run on the CPU and on a device.
#ifdef __CUDACC__
#define DYNET_DEVICE __host__ __device__
#else
#define DYNET_DEVICE
#endif
