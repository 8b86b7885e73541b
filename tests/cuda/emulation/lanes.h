#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <vector>

namespace dynet::emulation {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Indices and sizes that a thread of a kernel can read.
struct Thread {
  Index thread, block;
  Index block_size{1, 1, 1}, grid_size{1, 1, 1};
};

/// Indices of the current lane.
Thread& here();
/// Waits for the kernel before; whether it has.
void wait_for_kernel_before();
bool has_waited();
/// Waits for all threads of the block, which must come to the same barrier.
void meet_block(std::source_location barrier = std::source_location::current());
/// Waits for the lanes of the warp in `mask`, gives `value` and takes that of lane `from`.
std::uint64_t meet_warp(unsigned mask, std::uint64_t value, unsigned from);
/// Lets others run.
void pause();
/// Memory of the block for the place in the kernel that `key` stands for; full of NaN at first.
/// Throws std::logic_error if the block has more than CUDA gives it.
void* shared(const void* key, std::size_t bytes);

/// Runs `body` once for each thread of each block. Blocks, and lanes between two meetings, run in
/// an order that differs every time, so that what needs a barrier and has none comes out wrong.
/// Throws std::logic_error if some threads wait for others that will not come, or meet at two
/// different barriers, and for races (races.h).
void run(unsigned blocks, unsigned threads, std::size_t dynamic_bytes,
         const std::function<void()>& body);

/// The numbers from 0 to n - 1 in an order of chance.
std::vector<int> shuffled(int n);

}  // namespace dynet::emulation
