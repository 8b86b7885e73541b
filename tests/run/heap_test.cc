#include "tests/support/heap.h"

#include <new>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "tests/support/prelude.h"

TEST_CASE("all allocations are counted and can fail") {
  if (!heap::counted()) return skip("the sanitizer has the heap to itself");
  const std::function<void()> ways[] = {
      [] { delete new volatile int(1); }, [] { std::make_shared<int>(3); },
      [] { const std::vector<float> v(100); }, [] { dynet::PodVector<int>().push_back(1); },
      [] { dynet::Arena().allocate(1); }};
  for (const auto& take : ways) {
    CAPTURE(&take - ways);
    const std::size_t before = heap::allocations();
    take();
    CHECK(heap::allocations() > before);
    bool failed = false;
    heap::refuse(0);
    try {
      const heap::Risk risk;
      take();
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const dynet::OutOfMemoryError&) {
      failed = true;
    }
    CHECK(heap::refuse_nothing());
    CHECK(failed);
    take();
  }
}
