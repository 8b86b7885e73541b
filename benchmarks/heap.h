#pragma once

// Counts calls to the allocator by replacing it, which takes the GNU C library. To be included in
// the one source file of a program.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace bench {

/// Allocations of the whole program so far, `operator new` included.
inline std::atomic<long> allocations{0};

/// Resident memory in MiB.
inline double resident() {
  long pages = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace bench

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

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
