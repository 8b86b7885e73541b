#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dynet::emulation {

/// Finds races: of two threads of a kernel that touch the same word of memory, one of them to
/// write, without a barrier between. Kernels are compiled with -fsanitize=thread, which puts a call
/// in front of every load and store; these calls end here instead of in libtsan. For each word of
/// four bytes it is known who has read and who has written it last: in which kernel, block and
/// lane, and behind how many barriers of that block. So a race is found in whatever order the
/// threads ran.

/// Memory of a device: it is watched from now on.
void watch_memory(const void* begin, std::size_t bytes);
/// Drops the history of this memory and frees the detector's words for it.
void forget_accesses(const void* begin, std::size_t bytes);

/// The thread of a kernel that runs now, as the detector sees it.
struct Accessor {
  unsigned block, lane;
  unsigned barriers;  ///< that its block has passed
  bool waited;        ///< for the kernel before
};

/// While one lives, a kernel runs on this thread of the host.
class WatchedKernel {
 public:
  WatchedKernel();
  ~WatchedKernel();
  WatchedKernel(const WatchedKernel&) = delete;
  WatchedKernel& operator=(const WatchedKernel&) = delete;

  /// A block begins, with this much shared memory in use at `begin`, more of which may follow.
  void begin_block(const void* shared, std::size_t bytes);
  void grow_shared(std::size_t bytes);
  /// Sets the thread of the next loads and stores; null: no thread of a kernel.
  void set_accessor(const Accessor* accessor);
  /// Throws std::logic_error if something was found.
  void check() const;
};

}  // namespace dynet::emulation
