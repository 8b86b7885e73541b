#include "benchmarks/heap.h"

#include <cerrno>
#include <cstddef>

namespace bench {

std::atomic<long> allocations{0};

}  // namespace bench

extern "C" {
// NOLINTBEGIN: names of the GNU C library
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
// NOLINTEND

void* malloc(std::size_t n) noexcept {
  ++bench::allocations;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) noexcept {
  ++bench::allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) noexcept {
  ++bench::allocations;
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept {
  ++bench::allocations;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t n) noexcept {
  ++bench::allocations;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}
}
