#include "tests/exec/heap.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/base/pod_vector.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

#if defined(__GLIBC__) && !DYNET_SANITIZED
#define COUNTING 1
#endif

namespace {

std::atomic<std::size_t> allocations_made{0};
std::atomic<bool> at_risk{false};
std::atomic<long> left{-1};  // allocations until the failing one; negative: none fails

#ifdef COUNTING
bool refused() {
  allocations_made.fetch_add(1, std::memory_order_relaxed);
  return at_risk.load(std::memory_order_relaxed) && left.load() >= 0 && left.fetch_sub(1) == 0;
}
#endif

}  // namespace

#ifdef COUNTING
// Definitions of the program replace those of the C library, which remain under these names.
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

TEST_CASE("all allocations are counted and can fail") {
  if (!heap::counted()) {
    skip("the sanitizer has the heap to itself");
    return;
  }
  const auto take = [](int way) {
    switch (way) {
      case 0:
        delete new volatile int(1);
        return;
      case 1:
        std::make_shared<int>(3);
        return;
      case 2: {
        const std::vector<float> v(100);
        return;
      }
      case 3: {
        dynet::PodVector<int> p;
        p.push_back(1);
        return;
      }
      default: {
        dynet::Arena arena;
        arena.allocate(1);
      }
    }
  };
  for (int way = 0; way < 5; ++way) {
    CAPTURE(way);
    const std::size_t before = heap::allocations();
    take(way);
    CHECK(heap::allocations() > before);
    bool failed = false;
    heap::refuse(0);
    try {
      const heap::Risk risk;
      take(way);
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const dynet::OutOfMemoryError&) {
      failed = true;
    }
    CHECK(heap::refuse_nothing());
    CHECK(failed);
    take(way);
  }
}
