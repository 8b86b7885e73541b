#include "dynet-like/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace dynet {

void prefer_huge_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kHugePage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace dynet
