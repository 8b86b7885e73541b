#pragma once

#include <cstddef>

namespace dynet {

/// Requests huge pages for the aligned part of this mostly untouched memory: fewer page faults and
/// TLB misses. No effect on systems without huge pages.
void prefer_huge_pages(void* memory, std::size_t bytes);

/// Makes whole pages zero when they are first used, which takes no memory before. Returns whether
/// the system can.
bool clear_when_used(void* memory, std::size_t bytes);

/// Size of a huge page, and the alignment of large blocks.
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace dynet
