#include "dynet-like/base/thread_number.h"

#include <atomic>

namespace dynet {

std::uint64_t this_thread_number() {
  static std::atomic<std::uint64_t> next{1};
  thread_local const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace dynet
