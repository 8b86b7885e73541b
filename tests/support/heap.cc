#include "tests/support/heap.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "tests/support/sanitized.h"

#if defined(__GLIBC__) && !DYNET_SANITIZED
#define COUNTING 1
#endif

namespace {

std::atomic<std::size_t> allocations_made{0};
std::atomic<bool> at_risk{false};
std::atomic<long> left{-1};  // at risk, until one fails

#ifdef COUNTING
bool refused() {
  allocations_made.fetch_add(1, std::memory_order_relaxed);
  if (!at_risk.load(std::memory_order_relaxed) || left.load() < 0 || left.fetch_sub(1) != 0)
    return false;
  errno = ENOMEM;
  return true;
}
#endif

}  // namespace

#ifdef COUNTING
// The program's own definitions take the place of the C library's, which has each under a second
// name.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) { return refused() ? nullptr : __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) {
  return refused() ? nullptr : __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) { return refused() ? nullptr : __libc_realloc(p, n); }
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  return refused() ? nullptr : __libc_memalign(alignment, n);
}
}
#endif

namespace heap {

bool counted() {
#ifdef COUNTING
  return true;
#else
  return false;
#endif
}

std::size_t allocations() { return allocations_made.load(); }

void refuse(std::size_t n) { left = static_cast<long>(n); }

bool refuse_nothing() { return left.exchange(-1) < 0; }

Risk::Risk() { at_risk = true; }
Risk::~Risk() { at_risk = false; }

}  // namespace heap
