// Accounting of arenas; devices by number and name.

#include "dynet-like/base/arena.h"
#include "dynet-like/base/device.h"
#include "tests/support/prelude.h"

namespace edges_test {

using namespace dynet;

TEST_CASE("an arena counts allocated bytes, including the unused ends of chunks") {
  Arena arena;
  CHECK(arena.used() == 0);
  arena.allocate(1000);
  CHECK(arena.used() == 1024);  // a multiple of 64
  arena.allocate(1);
  CHECK(arena.used() == 1088);
  const std::size_t first = arena.capacity();
  arena.allocate(first);  // does not fit: the rest of the first chunk is unused
  CHECK(arena.used() == first + first);
  CHECK(arena.capacity() > first);
  const std::size_t all = arena.capacity();
  arena.reset();
  CHECK(arena.used() == 0);
  CHECK(arena.capacity() == all);
  arena.release();
  CHECK(arena.capacity() == 0);
  CHECK(arena.used() == 0);
}

TEST_CASE("devices are listed by number and by name") {
  const DeviceManager& devices = *get_device_manager();
  const std::size_t n = devices.num_devices();
  REQUIRE(n >= 1);
  CHECK(devices.get(0) == &kCpu);
  CHECK(devices.get(n - 1) == devices.get_devices().back());
  CHECK_THROWS_AS(devices.get(n), IndexError);
  CHECK(devices.get_global_device("CPU") == &kCpu);
  CHECK(devices.get_devices().size() == n);
  std::string names;
  for (Device* d : devices.get_devices())
    names += (names.empty() ? "" : ", ") + std::string(d->name);
  CHECK_THROWS_WITH(devices.get_global_device("none"),
                    Catch::Contains("there is: " + names + "\n"));
}

}  // namespace edges_test
