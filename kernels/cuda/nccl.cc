#ifdef DYNET_NCCL
#include "kernels/cuda/nccl.h"

#include "kernels/cuda/library.h"

namespace dynet::cuda {

const Nccl& nccl() {
  static const Nccl functions = [] {
    const Library library("NCCL, which sums over GPUs", {"libnccl.so.2"});
    Nccl f{};
    library.find(f.comm_init_all, "ncclCommInitAll");
    library.find(f.comm_destroy, "ncclCommDestroy");
    library.find(f.reduce, "ncclReduce");
    library.find(f.broadcast, "ncclBroadcast");
    library.find(f.group_start, "ncclGroupStart");
    library.find(f.group_end, "ncclGroupEnd");
    library.find(f.error_string, "ncclGetErrorString");
    return f;
  }();
  return functions;
}

}  // namespace dynet::cuda
#endif
