// Memory of a device: who gets it when, and how often the driver is asked for some.

#include "dynet-like/base/random.h"
#include "kernels/cuda/copy.h"
#include "kernels/cuda/memory_pool.h"
#include "kernels/cuda/queue.h"
#include "tests/cuda/training.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;

/// Addresses without memory.
class Addresses final : public cuda::PlainMemory {
 public:
  void* take(std::size_t bytes) override {
    if (held + bytes > limit) throw OutOfMemoryError("none left");
    held += bytes;
    ++taken;
    auto* const p = reinterpret_cast<std::byte*>(next_);
    next_ += bytes;  // the next slab may lie right behind
    sizes[p] = bytes;
    return p;
  }
  void give_back(void* p) noexcept override {
    held -= sizes.at(static_cast<std::byte*>(p));
    sizes.erase(static_cast<std::byte*>(p));
  }
  void separate(void*) override {
    if (fails) throw DeviceError("no work can be separated");
    ++separations;
  }

  std::size_t held = 0, limit = ~std::size_t{0};
  unsigned taken = 0, separations = 0;
  bool fails = false;
  std::map<std::byte*, std::size_t> sizes;

 private:
  std::uintptr_t next_ = std::size_t{1} << 40;
};

bool in_a_slab(const Addresses& memory, const std::byte* p, std::size_t bytes) {
  return std::any_of(memory.sizes.begin(), memory.sizes.end(), [&](const auto& slab) {
    return p >= slab.first && p + bytes <= slab.first + slab.second;
  });
}

}  // namespace

TEST_CASE("a pool hands out memory that nobody else has", "[cuda][memory]") {
  Addresses memory;
  cuda::MemoryPool pool(memory, 0);
  std::map<std::byte*, std::size_t> used;
  std::size_t sum = 0, most = 0;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const std::uint64_t chance = mix_bits(k);
    if (used.size() > chance % 97) {
      const auto at = std::next(used.begin(), static_cast<std::ptrdiff_t>(chance % used.size()));
      pool.free(at->first);
      sum -= at->second;
      used.erase(at);
      continue;
    }
    const std::size_t bytes =
        chance % 7 == 0 ? 0 : (chance >> 8) % (std::size_t{1} << (chance % 26));
    auto* const p = static_cast<std::byte*>(pool.allocate(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(p) % 256 == 0);
    CHECK(in_a_slab(memory, p, bytes));
    const auto next = used.lower_bound(p);
    CHECK((next == used.end() || p + std::max<std::size_t>(bytes, 1) <= next->first));
    CHECK((next == used.begin() ||
           std::prev(next)->first + std::max<std::size_t>(std::prev(next)->second, 1) <= p));
    used[p] = bytes;
    most = std::max(most, sum += bytes);
  }
  CHECK(memory.held < 2 * most + 64 * kMega);
  for (const auto& [p, bytes] : used) pool.free(p);
  pool.trim();
  CHECK(memory.held == 0);
}

TEST_CASE("a pool puts free neighbours together again", "[cuda][memory]") {
  for (const bool backwards : {false, true}) {
    Addresses memory;
    cuda::MemoryPool pool(memory, 0);
    std::vector<void*> all;
    for (int k = 0; k < 64; ++k) all.push_back(pool.allocate(kMega));  // two slabs, side by side
    CHECK(memory.taken == 2);
    if (backwards) std::reverse(all.begin(), all.end());
    for (void* p : all) pool.free(p);
    for (int k = 0; k < 2; ++k) pool.allocate(32 * kMega);
    CHECK(memory.taken == 2);
    pool.allocate(33 * kMega);  // slabs are not one
    CHECK(memory.taken == 3);
    CHECK(memory.held == 98 * kMega);
  }
}

TEST_CASE("a pool separates the work of one owner from that of the next", "[cuda][memory]") {
  Addresses memory;
  cuda::MemoryPool pool(memory, 0);
  void* const a = pool.allocate(1000);
  void* const b = pool.allocate(1000);
  pool.allocate(1000);
  CHECK(memory.separations == 0);  // nobody has had any of it
  pool.free(a);
  pool.free(b);
  CHECK(memory.separations == 0);
  memory.fails = true;
  CHECK_THROWS_AS(pool.allocate(2000), DeviceError);
  memory.fails = false;
  CHECK(pool.allocate(1024) == a);  // a part of it
  CHECK(memory.separations == 1);
  CHECK(pool.allocate(1024) == b);  // which was freed before that
  CHECK(memory.separations == 1);
  pool.free(b);
  pool.allocate(1000);
  CHECK(memory.separations == 2);
  pool.allocate(kMega);
  CHECK(memory.separations == 2);
}

TEST_CASE("a pool knows of two neighbours who was freed last", "[cuda][memory]") {
  for (const bool left_first : {true, false}) {
    Addresses memory;
    cuda::MemoryPool pool(memory, 0);
    void *const a = pool.allocate(1000), *const b = pool.allocate(1000),
                *const c = pool.allocate(1);
    void* const small = pool.allocate(1);
    pool.allocate(1);
    pool.free(left_first ? a : b);
    pool.free(small);
    CHECK(pool.allocate(1) == small);
    CHECK(memory.separations == 1);
    pool.free(left_first ? b : a);
    CHECK(pool.allocate(2000) == a);
    CHECK(memory.separations == 2);
    pool.free(c);
  }
}

TEST_CASE("a pool that is short of memory gives back what nobody uses", "[cuda][memory]") {
  Addresses memory;
  cuda::MemoryPool pool(memory, 0);
  void* const a = pool.allocate(40 * kMega);
  void* const b = pool.allocate(10 * kMega);
  CHECK(memory.held == 72 * kMega);
  memory.limit = 80 * kMega;
  CHECK_THROWS_AS(pool.allocate(41 * kMega), OutOfMemoryError);
  pool.free(a);
  CHECK(pool.allocate(41 * kMega) != nullptr);
  CHECK(memory.held == 74 * kMega);  // 42, and 32 of which 10 are used
  CHECK(pool.allocate(22 * kMega) != nullptr);
  CHECK(pool.allocate(3 * kMega) != nullptr);  // less than a slab, for there is no more
  CHECK(memory.held == 78 * kMega);
  CHECK_THROWS_AS(pool.allocate(~std::size_t{0}), OutOfMemoryError);
  CHECK_THROWS_AS(pool.allocate(~std::size_t{0} / 2), OutOfMemoryError);
  pool.trim();
  CHECK(memory.held == 78 * kMega);
  pool.free(b);
  CHECK(pool.allocate(10 * kMega) == b);
}

TEST_CASE("a pool takes no more than its limit, and says how much of it is in use",
          "[cuda][memory]") {
  Addresses memory;
  cuda::MemoryPool pool(memory, 3);
  void* const a = pool.allocate(40 * kMega);
  CHECK(pool.set_limit(64 * kMega) == ~std::size_t{0});
  void* const b = pool.allocate(20 * kMega);  // less than a slab, for there is no more
  CHECK(memory.held == 60 * kMega);
  CHECK_THROWS_WITH(pool.allocate(5 * kMega),
                    "out of memory on device 3: 5242880 bytes asked for, 62914560 of at most "
                    "67108864 in use");
  void* const c = pool.allocate(4 * kMega);
  CHECK(memory.held == 64 * kMega);
  pool.free(a);
  CHECK(pool.allocate(10 * kMega) == a);  // of what it has
  CHECK(pool.set_limit(50 * kMega) == 64 * kMega);
  CHECK(pool.allocate(10 * kMega) != nullptr);  // what it holds already is not limited
  CHECK_THROWS_WITH(
      pool.allocate(30 * kMega),
      Catch::EndsWith("31457280 bytes asked for, 46137344 of at most 52428800 in use"));
  // Unused slabs are freed for a large allocation.
  pool.free(b);
  pool.free(c);
  pool.set_limit(64 * kMega);
  CHECK(pool.allocate(24 * kMega) != nullptr);
  CHECK(memory.held == 64 * kMega);
  pool.set_limit(~std::size_t{0});
  CHECK(pool.allocate(100 * kMega) != nullptr);
  CHECK_THROWS_WITH(pool.allocate(~std::size_t{0}),
                    Catch::StartsWith("out of memory on device 3: 18446744073709551615 bytes"));
}

namespace {

/// Sentences of different lengths.
struct Tagger {
  ParameterCollection pc;
  LookupParameter words = pc.add_lookup_parameters(5000, {24});
  Parameter w = pc.add_parameters({9, 32});
  VanillaLSTMBuilder lstm{1, 24, 32, pc};

  Expression loss(ComputationGraph& g, std::uint64_t seed, unsigned sentences) {
    const auto below = [&](unsigned n) { return static_cast<unsigned>(mix_bits(++seed) % n); };
    seed *= 1000;
    lstm.new_graph(g);
    const Expression W = parameter(g, w);
    std::vector<Expression> losses;
    for (unsigned s = 0; s < sentences; ++s) {
      lstm.start_new_sequence();
      for (unsigned t = 3 + below(20); t > 0; --t)
        losses.push_back(
            pickneglogsoftmax(W * lstm.add_input(lookup(g, words, below(5000))), below(9)));
    }
    return sum(losses);
  }
};

#ifndef DYNET_TEST_GPU
struct Pooled {
  explicit Pooled(bool yes = true) { emulation::pooled = yes; }
  ~Pooled() {
    release_graph_memory();
    emulation::pooled = false;
  }
};

/// Number of driver calls that are slow on the host.
std::size_t slow_calls() {
  const emulation::Counts& c = emulation::counts();
  return c.allocations + c.frees;
}
#endif

}  // namespace

#ifndef DYNET_TEST_GPU

TEST_CASE("with inputs that vary nothing is allocated or freed from the fourth update on",
          "[cuda][memory]") {
  std::size_t calls[2] = {};
  for (const bool pooled : {false, true}) {
    release_graph_memory();
    const Pooled memory(pooled);
    Tagger m;
    AdamTrainer trainer(m.pc);
    std::size_t before = 0, copies = 0;
    for (unsigned k = 1; k <= 40; ++k) {
      DeviceGraph g;
      const Expression loss = m.loss(g, k, k <= 3 ? 1 : 2 + k % 11);
      as_scalar(loss.value());
      g.backward(loss);
      trainer.update();
      if (k == 3) {
        before = slow_calls();
        copies = emulation::counts().copies;
      }
    }
    calls[pooled] = slow_calls() - before;
    CHECK(emulation::counts().copies == copies);
  }
  CHECK(calls[true] == 0);
  CHECK(calls[false] > 3);  // or the inputs do not vary
}

TEST_CASE("temporaries of a forward pass are there for the next one", "[cuda][memory]") {
  release_graph_memory();
  Tagger m;
  std::size_t before = 0;
  for (unsigned k = 1; k <= 12; ++k) {
    DeviceGraph g;
    as_scalar(m.loss(g, 5, 8).value());
    if (k == 2) before = slow_calls();
  }
  CHECK(slow_calls() == before);
}

TEST_CASE("asynchronous work is not disturbed by the next owner of its memory", "[cuda][memory]") {
  const Pooled pooled;
  constexpr std::size_t kMany = 5000;
  for (unsigned order = 0; order < 20; ++order) {
    set_order(order);
    cuda::Queue a(cuda::make_driver(0)), b(cuda::make_driver(0));
    DeviceAllocator& memory = *a.driver().memory();
    const auto numbers = [&] {
      return static_cast<float*>(memory.allocate(kMany * sizeof(float)));
    };
    float *const from = numbers(), *const to = numbers();
    const auto copy = [&](cuda::Queue& q, float value) {
      cuda::fill_numbers(q, from, kMany, value, false);
      q.copy(to, from, kMany * sizeof(float));
      q.flush();
    };
    copy(a, 1);
    memory.free(from);
    auto* const again = numbers();
    REQUIRE(again == from);
    cuda::fill_numbers(b, again, kMany, 2, false);
    b.flush();
    Floats got(kMany);
    b.read(got.data(), again, kMany);
    CHECK(std::count(got.begin(), got.end(), 2.0f) == static_cast<std::ptrdiff_t>(kMany));
    a.read(got.data(), to, kMany);
    CHECK(std::count(got.begin(), got.end(), 1.0f) == static_cast<std::ptrdiff_t>(kMany));
    for (float* p : {again, to}) memory.free(p);
  }
}

TEST_CASE("graphs that come and go give the same bits with a pool", "[cuda][memory]") {
  Floats expected;
  for (unsigned order = 0; order < 6; ++order) {
    const Pooled pooled(order > 0);
    set_order(order);
    Tagger m;
    SimpleSGDTrainer trainer(m.pc);
    for (unsigned k = 0; k < 5; ++k) {
      DeviceGraph outer;
      const Expression loss = m.loss(outer, k, 2);
      outer.backward(loss);
      {
        Tagger passing;  // whose memory is the next one's
        DeviceGraph inner;
        inner.backward(passing.loss(inner, k + 100, 4));
      }
      DeviceGraph inner;
      inner.backward(m.loss(inner, k + 200, 3));
      release_graph_memory();
      trainer.update();
    }
    const Floats got = all_values(m.pc);
    if (order == 0) expected = got;
    CHECK((got == expected));
  }
}

TEST_CASE("gradients arrive where others have been before", "[cuda][memory]") {
  const Pooled pooled;
  constexpr unsigned kSize = 3000;
  constexpr std::size_t kMany = 400000;
  for (unsigned order = 0; order < 12; ++order) {
    set_order(order);
    const HurriedDevice hurried(1);
    ParameterCollection pc;
    Parameter p = pc.add_parameters({kSize}, ParameterInitConst(0.0f));
    SimpleSGDTrainer trainer(pc, 1);
    trainer.clipping_enabled = false;
    const auto backward = [&](int device, float times) {
      DeviceGraph g(gpu(device));
      g.backward(sum_elems(parameter(g, p) * times));
    };
    for (const int d : {0, 1}) backward(d, 1);
    trainer.update();
    const Memory memory = device_memory(0);
    const std::size_t bytes = kMany * sizeof(float);
    auto* const read = static_cast<float*>(memory->allocate(bytes));
    auto* const kept = static_cast<float*>(memory->allocate(bytes));
    std::vector<Parameter> more;
    for (int k = 0; k < 5; ++k)
      more.push_back(pc.add_parameters({20000}, ParameterInitConst(0.0f)));
    for (const int d : {0, 1}) {
      DeviceGraph g(gpu(d));
      std::vector<Expression> sums;
      for (const Parameter& each : more) sums.push_back(sum_elems(parameter(g, each) * 3));
      g.backward(sum(sums));
    }
    // Memory that the first device still reads is freed; gradients of the second then arrive there.
    cuda::Queue q(cuda::make_driver(0));
    cuda::fill_numbers(q, read, kMany, 7, false);
    q.copy(kept, read, bytes);
    q.flush();
    memory->free(read);
    trainer.update();
    Floats got(kMany);
    q.read(got.data(), kept, kMany);
    CHECK(std::count(got.begin(), got.end(), 7.0f) == static_cast<std::ptrdiff_t>(kMany));
    CHECK(all_values(pc)[0] == -2);
    CHECK(all_values(pc)[kSize + 5] == -6);
    memory->free(kept);
  }
}

TEST_CASE("gradients of many rows are few blocks of memory", "[cuda][memory]") {
  const std::size_t before = emulation::counts().allocations;
  RowGradients rows(20000, 100, device_memory());
  std::vector<float*> places;
  for (std::uint32_t row = 0; row < 10000; ++row) places.push_back(rows.use_row(row).g);
  CHECK(emulation::counts().allocations - before == 2);  // of 8192 rows
  for (std::uint32_t row = 0; row < 10000; ++row) {
    CHECK(rows.find(row) == places[row]);
    if (row % 8192 > 0) CHECK(places[row] == places[row - 1] + 100);
  }
  const std::size_t used = emulation::used();
  RowGradients small(20, 6, device_memory());
  small.use_row(7);
  CHECK(emulation::used() - used <= 4096);
}

TEST_CASE("memory that a graph has left is given back when it is asked for", "[cuda][memory]") {
  const Pooled pooled;
  release_graph_memory();
  const std::size_t used = emulation::used();
  {
    DeviceGraph g;
    as_scalar(sum_elems(constant(g, {3000, 3000}, 1)).value());
  }
  CHECK(emulation::used() > used + 30 * kMega);
  release_graph_memory();
  CHECK(emulation::used() <= used + 2 * emulation::kKernel);
}

#endif
