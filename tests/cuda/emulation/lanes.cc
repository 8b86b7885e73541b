#include "tests/cuda/emulation/lanes.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/emulation/emulation.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace dynet::emulation {
namespace {

using boost::context::fiber;

enum class State { ready, at_block, at_warp, done };

struct Lane {
  Thread place;
  State state = State::ready;
  fiber self, caller;
  unsigned mask = 0, from = 0;
  std::uint64_t value = 0;
  bool waited = false;  // for the kernel before
};

struct Block {
  std::vector<Lane> lanes;
  std::map<const void*, std::vector<std::uint64_t>> shared;
  std::vector<std::uint64_t> dynamic;
  Lane* now = nullptr;
  std::exception_ptr error;  // of a lane
};

// Stacks of lanes. An exception leaves notes of the address sanitizer on them, which knows only the
// stacks of threads and would hold them against the next lane.
class Stacks {
 public:
  boost::context::stack_context allocate() {
    const boost::context::stack_context stack = pool_.allocate();
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(stack.sp) - stack.size, stack.size);
#endif
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept { pool_.deallocate(stack); }

 private:
  boost::context::pooled_fixedsize_stack pool_{std::size_t{1} << 16};
};

thread_local Block* block = nullptr;

void leave(State state) {
  Lane& lane = *block->now;
  lane.state = state;
  lane.caller = std::move(lane.caller).resume();
}

// Lanes of a warp that all wait for each other exchange what they brought.
bool release_warps(Block& b) {
  bool any = false;
  for (std::size_t w = 0; w < b.lanes.size(); w += 32) {
    const std::size_t n = std::min<std::size_t>(32, b.lanes.size() - w);
    Lane* const lanes = &b.lanes[w];
    for (std::size_t i = 0; i < n; ++i) {
      if (lanes[i].state != State::at_warp) continue;
      const unsigned mask = lanes[i].mask;
      const auto in = [&](std::size_t k) { return (mask >> k & 1) != 0; };
      bool all = true;
      for (std::size_t k = 0; k < 32; ++k)
        if (in(k)) all = all && k < n && lanes[k].state == State::at_warp && lanes[k].mask == mask;
      if (!all) continue;
      std::uint64_t values[32];
      for (std::size_t k = 0; k < n; ++k) values[k] = lanes[k].value;
      for (std::size_t k = 0; k < n; ++k)
        if (in(k)) {
          if (!in(lanes[k].from))
            throw std::logic_error("a shuffle from a lane that takes no part");
          lanes[k].value = values[lanes[k].from];
          lanes[k].state = State::ready;
        }
      any = true;
    }
  }
  return any;
}

bool release_block(Block& b) {
  const auto at = [&](State s) {
    return std::count_if(b.lanes.begin(), b.lanes.end(),
                         [s](const Lane& l) { return l.state == s; });
  };
  if (at(State::at_block) != static_cast<std::ptrdiff_t>(b.lanes.size())) return false;
  for (Lane& l : b.lanes) l.state = State::ready;
  return true;
}

void run_block(Block& b, const std::function<void()>& body, std::mt19937& random) {
  static thread_local Stacks stacks;
  for (Lane& lane : b.lanes) {
    lane.state = State::ready;
    lane.waited = false;
    lane.self = fiber(std::allocator_arg, stacks, [&b, &lane, &body](fiber&& caller) {
      lane.caller = std::move(caller);
      try {
        body();
      } catch (const std::exception&) {
        b.error = std::current_exception();
      }
      lane.state = State::done;
      return std::move(lane.caller);
    });
  }
  std::vector<std::size_t> order(b.lanes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (;;) {
    std::shuffle(order.begin(), order.end(), random);
    bool ran = false;
    for (const std::size_t i : order) {
      Lane& lane = b.lanes[i];
      if (lane.state != State::ready) continue;
      b.now = &lane;
      lane.self = std::move(lane.self).resume();
      ran = true;
      if (b.error) std::rethrow_exception(b.error);
    }
    if (ran || release_warps(b) || release_block(b)) continue;
    const auto done = std::count_if(b.lanes.begin(), b.lanes.end(),
                                    [](const Lane& l) { return l.state == State::done; });
    if (done == static_cast<std::ptrdiff_t>(b.lanes.size())) return;
    throw std::logic_error("threads of block " + std::to_string(b.lanes[0].place.block.x) +
                           " wait for others, " + std::to_string(done) + " of " +
                           std::to_string(b.lanes.size()) + " have ended");
  }
}

}  // namespace

Thread& here() { return block->now->place; }
void meet_block() { leave(State::at_block); }
void wait_for_kernel_before() { block->now->waited = true; }
bool has_waited() { return block->now->waited; }
void pause() { leave(State::ready); }

std::uint64_t meet_warp(unsigned mask, std::uint64_t value, unsigned from) {
  Lane& lane = *block->now;
  lane.mask = mask;
  lane.value = value;
  lane.from = from % 32;
  leave(State::at_warp);
  return lane.value;
}

void* shared(const void* key, std::size_t bytes) {
  std::vector<std::uint64_t>& memory = block->shared[key];
  if (memory.empty()) {
    memory.assign((bytes + 7) / 8, ~std::uint64_t{0});
    std::size_t words = block->dynamic.size();
    for (const auto& [place, there] : block->shared) words += there.size();
    if (8 * words > kSharedBytes) throw std::logic_error("a block has 48 KiB of shared memory");
  }
  return memory.data();
}

void* dynamic_shared() { return block->dynamic.data(); }

void run(unsigned blocks, unsigned threads, std::size_t dynamic_bytes,
         const std::function<void()>& body) {
  static thread_local std::mt19937 random(1);
  Block b;
  b.lanes.resize(threads);
  for (unsigned t = 0; t < threads; ++t) {
    Thread& place = b.lanes[t].place;
    place.thread.x = t;
    place.block_size.x = threads;
    place.grid_size.x = blocks;
  }
  block = &b;
  try {
    for (unsigned k = 0; k < blocks; ++k) {
      b.shared.clear();
      b.dynamic.assign((dynamic_bytes + 7) / 8, ~std::uint64_t{0});
      for (Lane& lane : b.lanes) lane.place.block.x = k;
      run_block(b, body, random);
    }
  } catch (...) {
    b.lanes.clear();
    block = nullptr;
    throw;
  }
  block = nullptr;
}

}  // namespace dynet::emulation
