#include "tests/cuda/emulation/lanes.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/races.h"

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
  std::source_location barrier;  // that it waits at
  Accessor accessor{};
};

struct Block {
  std::vector<Lane> lanes;
  std::vector<std::uint64_t> shared = std::vector<std::uint64_t>(kSharedBytes / 8);
  std::size_t used = 0;                         // words of `shared`
  std::map<const void*, std::size_t> reserved;  // where in it, by place in the kernel
  unsigned barriers = 0;                        // that it has passed
  Lane* now = nullptr;
  WatchedKernel watched;
  std::exception_ptr error;  // of a lane
};

thread_local Block* block = nullptr;

std::mt19937& chance() {
  static thread_local std::mt19937 random(1);
  return random;
}

void leave(State state) {
  Lane& lane = *block->now;
  lane.state = state;
  lane.caller = std::move(lane.caller).resume();
}

std::size_t reserve(Block& b, std::size_t bytes) {
  const std::size_t at = b.used, words = (bytes + 7) / 8;
  if (at + words > b.shared.size()) throw std::logic_error("a block has 48 KiB of shared memory");
  std::fill_n(b.shared.begin() + static_cast<std::ptrdiff_t>(at), words, ~std::uint64_t{0});
  b.used += words;
  return at;
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
  if (++b.barriers > 0xffff) throw std::logic_error("more barriers than races.cc can count");
  for (Lane& l : b.lanes) {
    const std::source_location &here = l.barrier, &first = b.lanes[0].barrier;
    if (here.line() != first.line() || std::strcmp(here.file_name(), first.file_name()) != 0)
      throw std::logic_error("threads of a block meet at two barriers, in lines " +
                             std::to_string(first.line()) + " and " + std::to_string(here.line()) +
                             " of " + here.file_name());
    l.accessor.barriers = b.barriers;
    l.state = State::ready;
  }
  return true;
}

void run_block(Block& b, const std::function<void()>& body) {
  static thread_local boost::context::pooled_fixedsize_stack stacks(std::size_t{1} << 16);
  b.barriers = 0;
  for (Lane& lane : b.lanes) {
    lane.state = State::ready;
    lane.accessor = {lane.place.block.x, lane.place.thread.x, 0, false};
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
    std::shuffle(order.begin(), order.end(), chance());
    bool ran = false;
    for (const std::size_t i : order) {
      Lane& lane = b.lanes[i];
      if (lane.state != State::ready) continue;
      b.now = &lane;
      b.watched.set_accessor(&lane.accessor);
      lane.self = std::move(lane.self).resume();
      b.watched.set_accessor(nullptr);
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
void meet_block(std::source_location barrier) {
  block->now->barrier = barrier;
  leave(State::at_block);
}
void wait_for_kernel_before() { block->now->accessor.waited = true; }
bool has_waited() { return block->now->accessor.waited; }
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
  const auto [place, fresh] = block->reserved.try_emplace(key, 0);
  if (fresh) {
    place->second = reserve(*block, bytes);
    block->watched.grow_shared(8 * block->used);
  }
  return &block->shared[place->second];
}

std::vector<int> shuffled(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), chance());
  return order;
}

void run(unsigned blocks, unsigned threads, std::size_t dynamic_bytes,
         const std::function<void()>& body) {
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
    for (const int number : shuffled(static_cast<int>(blocks))) {
      const auto k = static_cast<unsigned>(number);
      b.reserved.clear();
      b.used = 0;
      reserve(b, dynamic_bytes);
      b.watched.begin_block(b.shared.data(), 8 * b.used);
      for (Lane& lane : b.lanes) lane.place.block.x = k;
      run_block(b, body);
      b.watched.check();
    }
  } catch (...) {
    b.lanes.clear();
    block = nullptr;
    throw;
  }
  block = nullptr;
}

}  // namespace dynet::emulation
