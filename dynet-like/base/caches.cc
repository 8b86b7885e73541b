#include "dynet-like/base/caches.h"

#include <unistd.h>

namespace dynet {

std::size_t nearest_cache() {
  static const long bytes = [] {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    return sysconf(_SC_LEVEL1_DCACHE_SIZE);
#else
    return 0L;
#endif
  }();
  constexpr long kLeast = 16 << 10, kUsual = 32 << 10;
  return static_cast<std::size_t>(bytes < kLeast ? kUsual : bytes);
}

}  // namespace dynet
