#pragma once

#include <atomic>

namespace bench {

/// Number of allocator calls of the program, including `operator new`. Counted by replacing the
/// allocator, which requires the GNU C library.
extern std::atomic<long> allocations;

}  // namespace bench
