#pragma once

#include <cstdint>

namespace dynet {

/// A number of the calling thread that no other thread of the process ever has, unlike
/// std::thread::id.
std::uint64_t this_thread_number();

}  // namespace dynet
