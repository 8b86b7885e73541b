#include "tests/cuda/emulation/checks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/memory.h"

namespace dynet::emulation {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

// The memory that this process writes to, but for that of devices.
class HostMemory {
 public:
  void forget() {
    const std::lock_guard lock(mutex_);
    calls_ = 0;
  }
  // The first of these addresses that is one, or `count`. Looks at what is mapped once in so many
  // calls.
  std::size_t find(const void* const* words, std::size_t count) {
    const std::lock_guard lock(mutex_);
    if (calls_++ % 1024 == 0) look();
    return static_cast<std::size_t>(
        std::find_if(words, words + count, [this](const void* p) { return holds(p); }) - words);
  }

 private:
  struct Range {
    std::uintptr_t begin, end;
  };
  // A truth value and what an address has left behind it, up to the next member, is none.
  bool holds(const void* p) const {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    if (at % 256 <= 1) return false;
    const auto next =
        std::upper_bound(ranges_.begin(), ranges_.end(), at,
                         [](std::uintptr_t a, const Range& r) { return a < r.begin; });
    return next != ranges_.begin() && at < std::prev(next)->end;
  }
  void look() {
    constexpr std::uintptr_t kSanitizers = std::uintptr_t{1} << 45;  // where these keep their notes
    ranges_.clear();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find("memfd:device") != std::string::npos) continue;
      std::size_t used = 0;  // "begin-end rwxp ..."
      const std::uintptr_t begin = std::stoull(line, &used, 16);
      line.erase(0, used + 1);
      const std::uintptr_t end = std::stoull(line, &used, 16);
      if (line[used + 2] != 'w' || begin < kSanitizers) continue;
      if (!ranges_.empty() && ranges_.back().end == begin)
        ranges_.back().end = end;
      else
        ranges_.push_back({begin, end});
    }
  }

  std::mutex mutex_;
  std::vector<Range> ranges_;
  std::size_t calls_ = 0;
};

HostMemory& host_memory() {
  static HostMemory host;
  return host;
}

}  // namespace

void check_no_host_pointers(const char* what, const void* from, std::size_t bytes) {
  if (idle() || bytes < sizeof(void*)) return;  // idle is when the host is timed
  std::vector<const void*> words(bytes / sizeof(void*));
  std::memcpy(words.data(), from, words.size() * sizeof(void*));
  const std::size_t found = host_memory().find(words.data(), words.size());
  require(found == words.size(), std::string("a pointer to memory of the host is among ") + what +
                                     ", at word " + std::to_string(found) + " of " +
                                     std::to_string(words.size()));
}

void look_at_host_memory() { host_memory().forget(); }

void check_launch(const cuda::Grid& grid, const cuda::Arguments& arguments) {
  require(grid.threads > 0 && grid.threads <= 1024 && grid.threads % 32 == 0,
          "a block has 32 to 1024 threads, in whole warps");
  require(grid.blocks > 0 && grid.blocks < 1u << 31, "a grid has 1 to 2^31 - 1 blocks");
  require(grid.shared <= kSharedBytes, "a block has 48 KiB of shared memory");
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < arguments.count; ++i) {
    bytes += arguments.sizes[i];
    check_no_host_pointers("the arguments of a kernel", arguments.values[i], arguments.sizes[i]);
  }
  require(bytes <= 4096, "a kernel has 4096 bytes of arguments");
}

void check_factorization(const cuda::Factorization& f, int number) {
  const Memory& there = memory(number);
  require(f.n > 0 && f.count > 0, "factors of matrices without elements");
  require(there.holds(f.matrices) && there.holds(f.pivots) && there.holds(f.info) &&
              (!f.inverses || there.holds(f.inverses)),
          "a list of matrices is not on the device");
}

void check_product(const cuda::Product& p, int number) {
  require(p.m > 0 && p.n > 0 && p.k >= 0 && p.batch > 0, "a product of matrices without elements");
  require(p.lda >= std::max(1, p.transpose_a ? p.k : p.m) &&
              p.ldb >= std::max(1, p.transpose_b ? p.n : p.k) && p.ldc >= p.m,
          "a leading dimension is less than the rows of its matrix");
  require(p.beta == 0 || p.beta == 1, "a product is stored or added");
  const Memory& there = memory(number);
  if (p.each_c) {
    require(p.k > 0 && there.holds(p.each_a) && there.holds(p.each_b) && there.holds(p.each_c),
            "a list of matrices is not on the device");
    return;
  }
  require(p.step_a >= 0 && p.step_b >= 0 && p.step_c >= 0, "a distance of matrices is negative");
  const bool apart = p.step_c >= static_cast<long long>(p.ldc) * (p.n - 1) + p.m;
  const bool in_turn = p.step_c >= p.m && p.step_c * (p.batch - 1) + p.m <= p.ldc;
  require(p.batch == 1 || apart || in_turn, "results of products lie upon each other");
  require(there.holds(p.c) && (p.k == 0 || (there.holds(p.a) && there.holds(p.b))),
          "a matrix of a product is not on the device");
}

}  // namespace dynet::emulation
