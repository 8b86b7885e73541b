#include "dynet-like/base/arena.h"

#include "tests/support/prelude.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace arena_test {

using namespace dynet;

namespace {

std::size_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

TEST_CASE("blocks of an arena are aligned, disjoint and do not move, also in reused chunks") {
  Arena arena;
  CHECK(arena.capacity() == 0);
  for (std::size_t round = 0; round < 4; ++round) {
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    for (std::size_t i = 0; i < 300; ++i) {
      const std::size_t n = (i * i + round * 104729) % 20011;
      auto* p = static_cast<unsigned char*>(arena.allocate(n));
      REQUIRE(p);
      REQUIRE(address(p) % Arena::kAlignment == 0);
      std::memset(p, static_cast<int>(i & 0xff), n);
      blocks.emplace_back(p, n);
    }
    bool intact = true;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (std::size_t k = 0; k < blocks[i].second; ++k)
        intact = intact && blocks[i].first[k] == (i & 0xff);
    CHECK(intact);
    CHECK(arena.used() <= arena.capacity());
    arena.reset();
  }
}

TEST_CASE("an arena allocates the same memory after reset and rewind") {
  Arena arena;
  void* const first = arena.allocate(100);
  const Arena::Mark mark = arena.mark();
  void* const second = arena.allocate(200);
  for (int i = 0; i < 100; ++i) arena.allocate(50'000);  // several more chunks
  const std::size_t capacity = arena.capacity();
  arena.rewind(mark);
  CHECK(arena.used() == 128);
  CHECK(arena.allocate(200) == second);
  arena.reset();
  CHECK(arena.allocate(100) == first);
  for (int round = 0; round < 20; ++round) {
    arena.reset();
    for (int i = 0; i < 100; ++i) arena.allocate(50'000);
  }
  CHECK(arena.capacity() == capacity);
  arena.release();
  CHECK(arena.capacity() == 0);
  CHECK(arena.allocate(10) != nullptr);
}

#ifdef __linux__
TEST_CASE("all pages of a chunk without huge pages are present") {
  constexpr std::size_t kPage = 4096;
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) return skip("pages of another size");
  for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{1} << 20}) {
    Arena arena;
    auto* const first = static_cast<unsigned char*>(arena.allocate(bytes));
    const std::size_t before = address(first) % kPage, length = before + bytes;
    std::vector<unsigned char> present((length + kPage - 1) / kPage);
    REQUIRE(mincore(first - before, length, present.data()) == 0);
    CHECK(std::all_of(present.begin(), present.end(), [](unsigned char p) { return p & 1; }));
  }
}
#endif

TEST_CASE("an arena grows in proportion to its allocations") {
  Arena arena;
  std::size_t asked = 0;
  for (int i = 0; i < 1000; ++i) {
    arena.allocate(4096);
    asked += 4096;
  }
  CHECK(arena.capacity() >= asked);
  CHECK(arena.capacity() <= 4 * asked);
  // Larger than all chunks so far, and above the size of huge pages.
  auto* big = arena.allocate_array<float>(3'000'000);
  big[0] = 1;
  big[2'999'999] = 2;
  CHECK(arena.capacity() >= asked + 12'000'000);
  // A first block of odd size.
  Arena odd;
  CHECK(odd.allocate(1'000'001) != nullptr);
  CHECK(odd.capacity() >= 1'000'001);
}

TEST_CASE("an allocation that fails throws OutOfMemoryError and leaves the arena usable") {
  Arena arena;
  CHECK_THROWS_AS(arena.allocate(std::numeric_limits<std::size_t>::max()), OutOfMemoryError);
  CHECK_THROWS_AS(arena.allocate(std::numeric_limits<std::size_t>::max() / 2 + 1),
                  OutOfMemoryError);
  CHECK_THROWS_AS(allocate_zeroed(std::numeric_limits<std::size_t>::max() - 63), OutOfMemoryError);
  CHECK(arena.allocate(64) != nullptr);
}

TEST_CASE("allocate_zeroed returns aligned zeros") {
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{999}, std::size_t{3} << 20}) {
    auto* p = static_cast<unsigned char*>(allocate_zeroed(n));
    REQUIRE(p);
    CHECK(address(p) % Arena::kAlignment == 0);
    bool zero = true;
    for (std::size_t i = 0; i < n; ++i) zero = zero && p[i] == 0;
    CHECK(zero);
    free_aligned(p);
  }
  free_aligned(nullptr);
}

}  // namespace arena_test
