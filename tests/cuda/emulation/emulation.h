#pragma once

#include <atomic>
#include <cstddef>

namespace dynet::emulation {

/// How many devices there are.
inline constexpr int kDevices = 3;

/// Shared memory of a block in CUDA, unless a launch requests more.
inline constexpr std::size_t kSharedBytes = std::size_t{48} << 10;

/// Memory that a device reserves: for the first product of each stream, and for each kernel.
inline constexpr std::size_t kWorkspace = std::size_t{64} << 20, kKernel = std::size_t{1} << 18;

/// Bytes that a device has. A test may make it smaller.
std::size_t& limit(int device = 0);

/// How many of them are taken.
std::size_t used(int device = 0);

/// Calls to all devices so far.
struct Counts {
  std::atomic<std::size_t> launches, products;
  std::atomic<std::size_t> factorizations;     ///< of lists of matrices
  std::atomic<std::size_t> uploads, uploaded;  ///< from pinned memory; bytes
  std::atomic<std::size_t> allocations;        ///< of memory of a device, or of pinned memory
  std::atomic<std::size_t> waits;              ///< of the host for a device
  std::atomic<std::size_t> frees;        ///< for each of which the host has waited for the device
  std::atomic<std::size_t> separations;  ///< of a device's work, see cuda::PlainMemory
  std::atomic<std::size_t> between;      ///< bytes copied between devices
  std::atomic<std::size_t> copies;       ///< for which the host has waited, to or from a device
};
Counts& counts();

/// Whether memory comes from a pool, as with a real driver. False at first: each block is one of
/// its own then, and nobody can touch what was given back.
inline std::atomic<bool> pooled = false;

/// The number of a device whose work is done as soon as it may; -1, as at first, if it is none.
inline std::atomic<int> hurried = -1;

/// Begins another order of chance in which streams that do not wait for each other are done.
void set_order(unsigned seed);

/// So many calls that ask a device for memory or work succeed, the next one throws what CUDA's
/// failure would be, and all after it succeed. Negative, as at first: none fails.
inline std::atomic<long> calls_until_failure = -1;

/// While it is true nothing is run: only the host's part of the work is done.
std::atomic<bool>& idle();

}  // namespace dynet::emulation
