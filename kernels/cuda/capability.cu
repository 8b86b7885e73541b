#include <algorithm>
#include <iterator>

#include "kernels/cuda/capability.h"

namespace dynet::cuda {
namespace {

#ifdef __CUDA_ARCH_LIST__  // nvcc's list; CMake's may be "native" or "all"
constexpr int kCompiled[] = {__CUDA_ARCH_LIST__};
#else  // no CUDA compiler, no device
constexpr int kCompiled[] = {0};
#endif

}  // namespace

int oldest_capability() {
  return *std::min_element(std::begin(kCompiled), std::end(kCompiled)) / 10;
}

// A device runs the code compiled for the latest capability that is not later than its own.
bool kernels_wait(int capability) {
  return std::any_of(std::begin(kCompiled), std::end(kCompiled),
                     [=](int c) { return c >= 900 && c / 10 <= capability; });
}

}  // namespace dynet::cuda
