#include "tests/support/heap.h"

#include <new>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "tests/support/prelude.h"

TEST_CASE("all allocations are counted and can fail") {
  if (!heap::counted()) return skip("the sanitizer has the heap to itself");
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
