#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dynet::fake {

/// CUDA's runtime and cuBLAS as kernels/cuda/driver.cc calls them, of five devices: CUDA's number 1
/// may not be used, number 4 is too old, and number 2 is the only one that reaches others. Memory
/// is the heap's, and all work is done at once: this shows which calls are made, and what becomes
/// of errors.
struct Runtime {
  /// Calls that matter, such as "record 3 in 1": events and streams by number, streams from 1 on;
  /// the legacy stream of device d is called "legacy d".
  std::vector<std::string> calls;
  /// Calls that will fail, by name, with these errors one after the other.
  std::map<std::string, std::vector<int>> errors;
  cudaError_t last = cudaSuccess;
  int device = 0;
  bool ended = false;  ///< the runtime has ended before the program
  std::size_t left = std::size_t{1} << 36;
  unsigned products = 0;
  /// Live objects: memory by address, with its device (-1: the host) and size; the rest by number.
  std::map<std::byte*, std::pair<int, std::size_t>> memory;
  std::set<const void*> streams, events, handles;
  std::set<std::pair<int, int>> ways;  ///< between devices

  std::size_t held(int of) const {
    std::size_t sum = 0;
    for (const auto& [p, block] : memory)
      if (block.first == of) sum += block.second;
    return sum;
  }
};
Runtime& runtime();

}  // namespace dynet::fake
