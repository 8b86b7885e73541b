#include "dynet-like/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace dynet {

void prefer_huge_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (kHugePage - 1);
  if (before >= bytes) return;
  const std::size_t whole = (bytes - before) & ~(kHugePage - 1);
  if (whole > 0) madvise(static_cast<std::byte*>(memory) + before, whole, MADV_HUGEPAGE);
#endif
}

}  // namespace dynet
