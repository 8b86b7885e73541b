#pragma once

#include <cstddef>

namespace dynet {

/// Asks the system for huge pages where whole ones fit into this memory, which has not been touched
/// yet for the most part: fewer page faults and TLB misses. Does nothing where there are none.
void prefer_huge_pages(void* memory, std::size_t bytes);

/// The size of a huge page, to which large blocks are aligned.
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace dynet
