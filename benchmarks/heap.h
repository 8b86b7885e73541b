#pragma once

#include <atomic>

namespace bench {

/// Calls to the allocator so far by the whole program, `operator new` included. Counted by
/// replacing it, which takes the GNU C library.
extern std::atomic<long> allocations;

}  // namespace bench
