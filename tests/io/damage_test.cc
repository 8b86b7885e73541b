// Files that were damaged: none is taken for a model, and none costs much time or memory.

#include "tests/io/damage.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>

#include "dynet-like/io/checksum.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"
#include "tests/support/sanitized.h"

namespace damage_test {

using namespace dynet;

namespace {

std::string saved(const Run& run) {
  const TemporaryFolder folder;
  run.save_to(folder / "m");
  return read_file(folder / "m");
}

long peak_kilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void check_damaged(std::size_t files_to_try) {
  const Run one(1);
  Run two(2);
  MemoryFile files;
  const std::string good = saved(one), state = two.state();
  const long before = peak_kilobytes();
  double slowest = 0;
  std::size_t count = 0, by_kind[kDamages] = {};
  for (std::uint64_t k = 0; count < files_to_try; ++k) {
    files.bytes = damaged(good, k);
    if (files.bytes == good) continue;  // zeros in the place of zeros
    const auto start = std::chrono::steady_clock::now();
    bool refused = false;
    try {
      two.load_from("m", &files);
    } catch (const FileError&) {
      refused = true;
    }
    slowest = std::max(
        slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    INFO("damage " << k);
    REQUIRE(refused);
    ++count;
    ++by_kind[k % kDamages];
    if (count % 1000 == 0) REQUIRE(two.state() == state);
  }
  const long grown = peak_kilobytes() - before;
  CHECK(slowest < 1.0);
  if (!DYNET_SANITIZED) CHECK(grown < 64 * 1024);
  for (const std::size_t n : by_kind) CHECK(n > files_to_try / 20);
  std::printf("%zu damaged files of %zu bytes, all refused; the slowest took %.4f s; %ld kB more\n",
              count, good.size(), slowest, grown);
  files.bytes = good;
  two.load_from("m", &files);
  CHECK(two.state() == one.state());
}

}  // namespace

TEST_CASE("5,000 damaged files are refused and change nothing") { check_damaged(5'000); }

TEST_CASE("100,000 damaged files are refused and change nothing (slow)") { check_damaged(100'000); }

TEST_CASE("an index damaged under a right checksum ends in an error or a load") {
  const Run one(1);
  const std::string good = saved(one);
  const auto index_size = io_detail::get_number<std::uint64_t>(&good[24]);
  std::size_t refused = 0, loaded = 0;
  Run two(2);
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const std::string index = damaged(good.substr(64, index_size), k);
    const std::string rest = good.substr(64 + index_size);
    MemoryFile files;
    files.bytes = encode_header(64 + index.size() + rest.size(), index) + index + rest;
    try {
      two.load_from("m", &files);
      ++loaded;
    } catch (const FileError&) {
      ++refused;
    }
  }
  CHECK(refused > 10000);
  std::printf("20000 damaged indexes: %zu refused, %zu loaded as another valid file\n", refused,
              loaded);
}

}  // namespace damage_test
