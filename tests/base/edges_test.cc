// Accounting of arenas; devices by number and name.

#include <cstring>
#include <string>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/device.h"
#include "dynet-like/base/errors.h"
#include "tests/support/catch.h"

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

TEST_CASE("blocks of an arena do not overlap when its chunks are reused") {
  Arena arena;
  std::vector<std::pair<char*, std::size_t>> pieces;
  for (int round = 0; round < 4; ++round) {
    pieces.clear();
    for (std::size_t k = 0; k < 200; ++k) {
      const std::size_t n = 1 + (k * 7919 + static_cast<std::size_t>(round) * 104729) % 20000;
      pieces.emplace_back(static_cast<char*>(arena.allocate(n)), n);
      std::memset(pieces.back().first, static_cast<int>(k), n);
    }
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const auto [p, n] = pieces[k];
      REQUIRE(reinterpret_cast<std::uintptr_t>(p) % Arena::kAlignment == 0);
      REQUIRE(p[0] == static_cast<char>(k));
      REQUIRE(p[n - 1] == static_cast<char>(k));
    }
    const std::size_t capacity = arena.capacity();
    REQUIRE(arena.used() <= capacity);
    arena.reset();
  }
}

TEST_CASE("an arena rewinds to a mark in an earlier chunk") {
  Arena arena;
  arena.allocate(100);
  const Arena::Mark mark = arena.mark();
  void* const next = arena.allocate(100);
  for (int k = 0; k < 50; ++k) arena.allocate(10'000);
  arena.rewind(mark);
  CHECK(arena.used() == 128);
  CHECK(arena.allocate(100) == next);
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
