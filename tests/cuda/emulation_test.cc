// Mistakes that the emulation of a device reports.

#ifndef DYNET_TEST_GPU

#include "kernels/cuda/copy.h"
#include "kernels/cuda/queue.h"
#include "tests/cuda/device.h"
#include "tests/cuda/emulation/checks.h"
#include "tests/cuda/emulation/lanes.h"

using namespace dynet;

namespace {

template <class... A>
void nothing(A...) {
  emulation::wait_for_kernel_before();
}

/// A temporary that is full of ones.
float* ones(cuda::Queue& q, std::size_t n) {
  float* const p = q.temporary(n);
  cuda::fill_numbers(q, p, n, 1, false);
  return p;
}

/// Runs f, with a kernel or product of the test, on a queue of its own.
template <class F>
void on_device(F f) {
  cuda::Queue q(cuda::make_driver(0));
  q.begin_operation();
  f(q);
  q.flush();
  q.wait();
}

}  // namespace

TEST_CASE("the emulation takes no address of the host for one of the device", "[cuda]") {
  static float fixed[5];
  float automatic[5];
  const Floats dynamic(4), large(std::size_t{1} << 20);
  emulation::look_at_host_memory();
  for (const float* p :
       std::vector<const float*>{fixed + 1, automatic + 1, &dynamic[1], &large[(1 << 19) + 1]}) {
    CHECK_THROWS_AS(
        on_device([&](cuda::Queue& q) { q.launch({1}, nothing<const float*, int>, p, 1); }),
        std::logic_error);
    struct Few {
      float x;
      const float* p;
    };
    CHECK_THROWS_AS(on_device([&](cuda::Queue& q) {
                      q.launch({1}, nothing<Few>, {1, p});
                    }),
                    std::logic_error);
    const float* const three[] = {nullptr, nullptr, p};
    CHECK_THROWS_AS(on_device([&](cuda::Queue& q) { q.send(three, 3); }), std::logic_error);
  }
  CHECK_NOTHROW(on_device([&](cuda::Queue& q) {
    q.launch({1}, nothing<const float*, int>, q.send(fixed, 4), 1);
    const float* const there[] = {q.temporary(4), nullptr};
    q.launch({1}, nothing<const float* const*>, q.send(there, 2));
  }));
}

TEST_CASE("the emulation wants kernels to wait for the one before", "[cuda]") {
  const auto hasty = +[](int) {};
  CHECK_THROWS_AS(on_device([&](cuda::Queue& q) { q.launch({1}, hasty, 1); }), std::logic_error);
  CHECK_NOTHROW(on_device([&](cuda::Queue& q) { q.launch({1}, nothing<int>, 1); }));
}

TEST_CASE("the emulation has the limits of CUDA", "[cuda]") {
  const auto launch = [](const cuda::Grid& grid) {
    on_device([&](cuda::Queue& q) { q.launch(grid, nothing<int>, 1); });
  };
  CHECK_NOTHROW(launch({3, 1024, 49152}));
  for (const cuda::Grid& grid : {cuda::Grid{1u << 31}, {1, 0}, {1, 48}, {1, 1056}, {1, 32, 49153}})
    CHECK_THROWS_AS(launch(grid), std::logic_error);
  static const char place[2] = {};
  const auto share = [](std::size_t fixed, std::size_t dynamic) {
    emulation::run(2, 64, dynamic, [&] {
      emulation::shared(&place[0], fixed);
      emulation::meet_block();
      emulation::shared(&place[1], 152);
    });
  };
  CHECK_NOTHROW(share(48000, 1000));
  CHECK_THROWS_AS(share(48000, 1008), std::logic_error);
  CHECK_THROWS_AS(share(49008, 0), std::logic_error);
  struct Large {
    char bytes[4000];
  };
  using Kernel = void (*)(Large, Large);
  cuda::Queue q(cuda::make_driver(0));
  Large large{};
  void* values[] = {&large, &large};
  const std::size_t sizes[] = {4000, 97};  // a queue does not even compile it
  const auto call = [](const void*, void**) {};
  CHECK_THROWS_AS(q.driver().launch(reinterpret_cast<const void*>(Kernel(nothing<Large, Large>)),
                                    call, {1}, {values, sizes, 2}),
                  std::logic_error);
}

TEST_CASE("the emulation has the rules of cuBLAS", "[cuda]") {
  const auto multiply = [](const auto& change) {
    on_device([&](cuda::Queue& q) {
      float* const p = ones(q, 1000);
      cuda::Product product{false, false, 3, 4, 5, p, 3, p + 100, 5, p + 200, 3, 0, 2, 15, 20, 12};
      change(product);
      q.flush();
      q.driver().multiply(product);
    });
  };
  using cuda::Product;
  CHECK_NOTHROW(multiply([](Product&) {}));
  CHECK_NOTHROW(multiply([](Product& p) { p.step_a = p.step_b = 0; }));
  CHECK_NOTHROW(multiply([](Product& p) { p.transpose_a = true, p.lda = 5; }));
  CHECK_NOTHROW(multiply([](Product& p) { p.batch = 1, p.step_c = 0; }));
  CHECK_NOTHROW(multiply([](Product& p) { p.step_c = 3, p.ldc = 6; }));  // column by column
  for (const auto& change : std::vector<std::function<void(Product&)>>{
           [](Product& p) { p.lda = 2; }, [](Product& p) { p.ldb = 4; },
           [](Product& p) { p.ldc = 2; }, [](Product& p) { p.transpose_a = true, p.lda = 4; },
           [](Product& p) { p.transpose_b = true, p.ldb = 3; }, [](Product& p) { p.m = 0; },
           [](Product& p) { p.n = -1; }, [](Product& p) { p.k = -1; },
           [](Product& p) { p.batch = 0; }, [](Product& p) { p.step_c = 11; },
           [](Product& p) { p.step_c = 3, p.ldc = 5; }, [](Product& p) { p.step_a = -1; },
           [](Product& p) { p.beta = 0.5f; },
           [](Product& p) { p.a = reinterpret_cast<const float*>(&p); }})
    CHECK_THROWS_AS(multiply(change), std::logic_error);
}

TEST_CASE("results of a list of matrices do not overlap", "[cuda]") {
  const auto multiply = [](std::size_t to, bool inverses) {
    on_device([&](cuda::Queue& q) {
      float* const p = ones(q, 1000);
      const float* const factors[] = {p, p, p};
      float* const results[] = {p + 500, p + to, p + 600};
      const auto* const each = q.send(factors, 3);
      if (inverses)
        return q.factor({3, 3, q.send(results, 3), reinterpret_cast<int*>(p + 800),
                         reinterpret_cast<int*>(p + 900), nullptr});
      cuda::Product product{false, false, 3, 4, 5, nullptr, 3, nullptr, 5, nullptr, 3, 1, 3};
      product.each_a = product.each_b = each;
      product.each_c = q.send(results, 3);
      q.multiply(product);
    });
  };
  CHECK_NOTHROW(multiply(512, false));
  CHECK_NOTHROW(multiply(591, true));
  for (const std::size_t to : {500, 511, 489, 600, 611, 589})
    CHECK_THROWS_WITH(multiply(to, false), "two results of a list of 3 matrices overlap");
  CHECK_THROWS_WITH(multiply(592, true), "two results of a list of 3 matrices overlap");
}

TEST_CASE("the emulation wants no product where products of the same call read", "[cuda]") {
  const auto multiply = [](std::size_t to, int batch) {
    on_device([&](cuda::Queue& q) {
      float* const p = ones(q, 1000);
      q.multiply({false, false, 3, 4, 5, p, 3, p + 100, 5, p + to, 3, 0, batch, 15, 20, 12});
    });
  };
  CHECK_NOTHROW(multiply(200, 1));
  CHECK_NOTHROW(multiply(140, 2));
  for (const std::size_t to : {14, 89, 100, 119})
    CHECK_THROWS_AS(multiply(to, 1), std::logic_error);
  CHECK_THROWS_AS(multiply(139, 2), std::logic_error);
}

TEST_CASE("memory that is used again is full of NaN", "[cuda]") {
  cuda::Queue q(cuda::make_driver(0));
  const auto number = [&](const float* p) {
    float v = 0;
    q.read(&v, p, 1);
    return v;
  };
  q.begin_operation();
  float* const p = ones(q, 5);
  CHECK(number(p + 4) == 1);
  q.begin_operation();
  CHECK(q.temporary(5) == p);
  CHECK(std::isnan(number(p + 4)));
  // In the order of the commands.
  DeviceAllocator& memory = *q.driver().memory();
  auto* const copy = static_cast<float*>(memory.allocate(sizeof(float)));
  cuda::fill_numbers(q, p, 5, 2, false);
  q.copy(copy, p, sizeof(float));
  q.begin_operation();
  CHECK(number(copy) == 2);
  CHECK(std::isnan(number(p)));
  memory.free(copy);
}

TEST_CASE("the emulation takes memory for kernels and for cuBLAS", "[cuda]") {
  const auto multiply = [](cuda::Queue& q) {
    float* const p = ones(q, 3);
    q.multiply({false, false, 1, 1, 1, p, 1, p + 1, 1, p + 2, 1, 0});
  };
  on_device(multiply);
  const std::size_t before = emulation::used();
  {
    cuda::Queue q(cuda::make_driver(0));
    multiply(q);
    q.flush();
    CHECK(emulation::used() >= before + emulation::kWorkspace);
  }
  CHECK(emulation::used() == before);
  const test::SmallDevice small(before + emulation::kWorkspace);
  CHECK_THROWS_AS(on_device(multiply), OutOfMemoryError);
  CHECK_NOTHROW(
      on_device([](cuda::Queue& q) { cuda::fill_numbers(q, q.temporary(9), 9, 1, false); }));
  const auto start = [](cuda::Queue& q) { q.launch({1}, nothing<long>, 7); };
  {
    const test::SmallDevice smaller(emulation::used() + emulation::kKernel - 1);
    CHECK_THROWS_AS(on_device(start), OutOfMemoryError);
  }
  CHECK_NOTHROW(on_device(start));
  CHECK(emulation::used() == before + emulation::kKernel);
}

#endif
