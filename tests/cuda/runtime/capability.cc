#include "kernels/cuda/capability.h"

int dynet::cuda::oldest_capability() { return 80; }
bool dynet::cuda::kernels_wait(int capability) { return capability >= 90; }
