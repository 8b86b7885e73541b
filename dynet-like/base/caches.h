#pragma once

#include <cstddef>

namespace dynet {

/// Size in bytes of a core's L1 data cache as reported by the system; 32 KiB if unknown.
std::size_t nearest_cache();

}  // namespace dynet
