#include "dynet-like/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace dynet {

void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (kHugePage - 1);
  if (before >= bytes) return;
  const std::size_t whole = (bytes - before) & ~(kHugePage - 1);
  if (whole > 0) madvise(static_cast<std::byte*>(memory) + before, whole, MADV_HUGEPAGE);
#endif
}

bool clear_when_used([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__  // elsewhere the pages may keep their contents
  return madvise(memory, bytes, MADV_DONTNEED) == 0;
#else
  return false;
#endif
}

}  // namespace dynet
