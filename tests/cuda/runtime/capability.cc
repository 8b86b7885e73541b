#include "kernels/cuda/capability.h"

int dynet::cuda::oldest_capability() { return 80; }
