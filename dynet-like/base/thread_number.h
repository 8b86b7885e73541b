#pragma once

#include <cstdint>

namespace dynet {

/// Number of the calling thread, unique for the lifetime of the process, unlike std::thread::id.
std::uint64_t this_thread_number();

}  // namespace dynet
