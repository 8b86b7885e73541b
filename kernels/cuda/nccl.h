#pragma once

#include <nccl.h>

namespace dynet::cuda {

/// The functions of NCCL that are called here.
struct Nccl {
  decltype(&::ncclCommInitAll) comm_init_all;
  decltype(&::ncclCommDestroy) comm_destroy;
  decltype(&::ncclReduce) reduce;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclGetErrorString) error_string;
};

/// The first call opens the library. Throws DeviceError.
const Nccl& nccl();

}  // namespace dynet::cuda
