#pragma once

#include <cstddef>

namespace dynet {

/// Bytes of a core's nearest data cache (L1), as the system tells them; 32 KiB where it does not
/// know.
std::size_t nearest_cache();

}  // namespace dynet
