// What devices exchange in an update, put in by hand.

#include "kernels/cuda/exchange.h"

#include <algorithm>
#include <vector>

#include "dynet-like/param/device_gradients.h"
#include "kernels/cuda/copy.h"
#include "tests/cuda/training.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr std::size_t kMany = 500;

/// The second device has a gradient, the first one sums it and has new values for the second.
struct Two {
  const Memory memory = cuda::memory_of(0), memory_there = cuda::memory_of(1);
  cuda::Queue here{cuda::make_driver(0, cuda::StreamKind::updates)};
  cuda::Queue graph{cuda::make_driver(1)};
  cuda::Exchange exchange{here};
  std::vector<std::pair<Memory, void*>> taken;

  Two() = default;
  Two(const Two&) = delete;
  Two& operator=(const Two&) = delete;
  ~Two() {
    for (const auto& [m, p] : taken) m->free(p);
  }
  float* numbers(const Memory& m) {
    taken.emplace_back(m, m->allocate(kMany * sizeof(float)));
    return static_cast<float*>(taken.back().second);
  }
  void put_in(const float* gradient, float* sum) {
    here.begin_operation();
    exchange.begin();
    GradientReduction reduction{{memory_there.get()}, {{}}, {{kMany, 1}}};
    reduction.sums[0].to = {sum};
    reduction.sums[0].parts = {gradient};
    exchange.gather(reduction);
  }
};

}  // namespace

TEST_CASE("what has arrived from another device is read before more arrives", "[cuda][devices]") {
  if (cuda::device_count() < 2) {
    skip("there is one device");
    return;
  }
  for (unsigned order = 0; order < 20; ++order) {
    set_order(order);
    const HurriedDevice hurried(1);
    Two two;
    float* const gradient = two.numbers(two.memory_there);
    std::vector<float*> sums;
    for (unsigned k = 0; k < 4; ++k) {
      sums.push_back(two.numbers(two.memory));
      cuda::fill_numbers(two.graph, gradient, kMany, static_cast<float>(k + 1), false);
      two.graph.flush();
      two.put_in(gradient, sums.back());
      two.exchange.start();
    }
    for (unsigned k = 0; k < 4; ++k) {
      Floats got(kMany);
      two.here.read(got.data(), sums[k], kMany);
      CHECK(got == Floats(kMany, static_cast<float>(k + 1)));
    }
  }
}

#ifndef DYNET_TEST_GPU
TEST_CASE("of an update that is forgotten no device does anything", "[cuda][devices]") {
  Two two;
  float *const gradient = two.numbers(two.memory_there), *const values = two.numbers(two.memory);
  float *const sum = two.numbers(two.memory), *const copy = two.numbers(two.memory_there);
  for (cuda::Queue* q : {&two.graph, &two.here}) {
    cuda::fill_numbers(*q, q == &two.graph ? gradient : values, kMany, 1, false);
    q->flush();
  }
  const auto update = [&](bool starts) {
    const std::size_t before = emulation::counts().launches;
    two.put_in(gradient, sum);
    two.exchange.spread({{two.memory_there.get(), copy, values, kMany}});
    if (starts) {
      two.exchange.start();
    } else {
      two.here.forget();
      two.exchange.forget();
    }
    return emulation::counts().launches - before;
  };
  const std::size_t usual = update(true);
  CHECK(usual > 2);
  CHECK(update(false) == 0);
  CHECK(update(true) == usual);
}
#endif
